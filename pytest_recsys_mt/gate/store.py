"""The kept runs of a project, in `.recsys/runs` of its root
folder, and which of them are baselines.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock

from pytest_recsys_mt.gate.baseline import read
from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.gate.heads import SCHEMA, head_of, is_sound
from pytest_recsys_mt.safety.errors import DataError, PolicyError
from pytest_recsys_mt.safety.files import RECORD, RUNS, content_of, written_whole
from pytest_recsys_mt.safety.sanitize import one_line

MOST = 1000
"""Runs that are kept; of older ones only those that are baselines."""

ACCEPTED = "accepted.json"
PATIENCE = 10.0
"""Seconds to wait for another run that is being kept."""
DAY = 86_400.0


@dataclass(frozen=True)
class Kept:
    """One kept run: its number, its record, its head (nothing if it is
    damaged), and whether it is a baseline.
    """

    number: int
    record: Path
    head: Mapping[str, Any]
    accepted: bool = False


class Was(NamedTuple):
    """The result of a test in a kept run."""

    run: int
    state: str
    digest: str = ""  # of its data


class Store:
    """The kept runs in a folder. Several processes may keep runs at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of(cls, root: Path) -> Store:
        """The store of a project."""
        return cls(root / RUNS)

    @classmethod
    def around(cls, folder: Path) -> Store:
        """The store of the project which a folder lies in."""
        places = [folder, *folder.parents]
        return cls.of(
            next((each for each in places if os.path.isdir(each / RUNS)), folder),
        )

    def runs(self) -> list[Kept]:
        """All runs, the earliest first."""
        accepted = self._marked()
        return [self._kept(number, accepted) for number in self._numbers()]

    def run(self, number: int | None = None) -> Kept:
        """One run; the latest without a number.

        Raises:
            PolicyError: If there is none, or it is damaged.
        """
        known = sorted(self._numbers())
        if not known:
            raise PolicyError(
                f"no run is kept in {str(self.folder)!r}; runs are kept when they end, unless --recsys-keep=no is given",
            )
        if number is not None and number not in known:
            raise PolicyError(
                f"there is no run {number}; those from {known[0]} to {known[-1]} are listed by: recsys-mt runs",
            )
        found = self._kept(known[-1] if number is None else number, self._marked())
        if not found.head:
            raise PolicyError(
                f"run {found.number} is damaged, or kept by another version: install that, or remove the folder "
                f"{str(found.record.parent)!r}",
            )
        return found

    def like_the_latest(self) -> list[Kept]:
        """The runs on the data of the latest one that share a test with it, the
        earliest first; raises as `run`.
        """
        head = self.run().head
        tests = set(head.get("tests") or ())
        return [
            kept
            for kept in self.runs()
            if kept.head.get("data") == head.get("data")
            and tests.intersection(kept.head.get("tests") or ())
        ]

    def named(self, text: str) -> Kept | None:
        """The run that a text means: a number, ``accepted``, or a model, a prompt or a
        day, of which the latest counts.

        Raises:
            PolicyError: If it is a number that no run has, or it is not known which
                runs are accepted.
        """
        if text.isdecimal() and len(text) < 19:
            return self.run(int(text))
        if text == "accepted":
            self.accepted()
        for kept in reversed(self.runs()):
            head = kept.head
            means = (
                *head.get("models", ()),
                head.get("prompt"),
                str(head.get("started"))[:10],
            )
            if text in means or (text == "accepted" and kept.accepted):
                return kept
        return None

    def keep(
        self,
        document: Document,
        lines: Iterable[str],
        root: Path,
        *,
        everybody: bool,
    ) -> int:
        """Keep a run whose record has these lines, with the commit of `root`, and
        remove those that are too old.

        Returns its number; an `OSError` if it cannot be written.
        """
        self._make_folder()
        head = head_of(document, root, everybody=everybody)
        made = Path(tempfile.mkdtemp(dir=self.folder, prefix=".new-"))
        try:
            with gzip.open(
                made / RECORD,
                "wt",
                encoding="utf-8",
                compresslevel=6,
            ) as stream:
                stream.writelines(lines)
            (made / "head.json").write_text(json.dumps(head), encoding="utf-8")
            with FileLock(self.folder / "lock", timeout=PATIENCE):
                number = max(self._numbers(), default=0) + 1
                made.rename(self.folder / str(number))
                self._prune()
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        return number

    def _make_folder(self) -> None:
        """Make the folder of the runs, which git ignores; an `OSError` if it leads
        elsewhere, or cannot be written.
        """
        if self.folder.is_symlink() or self.folder.parent.is_symlink():
            raise OSError(
                errno.ELOOP,
                "it is a link, and old runs are removed from where it leads",
            )
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        ignore = self.folder.parent / ".gitignore"
        if not ignore.exists():
            # Whole or not at all: an empty one would stay empty, and git would take
            # users' profiles.
            with written_whole(ignore, 0o644) as stream:
                stream.write("*\n")

    def accept(self, number: int | None = None) -> Kept:
        """Make a run, the latest without a number, the baseline of its models and
        tests.

        Raises:
            PolicyError: If it cannot be one.
        """
        kept = self.run(number)
        read(kept.record)
        self.accepted()
        if not kept.head.get("everybody"):
            raise PolicyError(
                f"run {kept.number} stopped asking users when a verdict was clear, so that others cannot be compared "
                f"with it; repeat its command with --recsys-keep=baseline, and accept that run",
            )
        with FileLock(self.folder / "lock", timeout=PATIENCE):
            others = [
                each.number
                for each in self.runs()
                if each.accepted and _of(each) != _of(kept)
            ]
            with written_whole(self.folder / ACCEPTED) as stream:
                json.dump(
                    {"schema": SCHEMA, "accepted": [*others, kept.number]},
                    stream,
                )
        return kept

    def baselines(self) -> list[tuple[str, Document]]:
        """The accepted runs, the latest first, by their names in messages.

        Raises:
            PolicyError: If there is none, or one cannot be read.
        """
        found = []
        accepted = self.accepted()
        for kept in reversed(self.runs()):
            if kept.number in accepted:
                try:
                    found.append((f"run {kept.number}", read(kept.record)))
                except PolicyError as error:
                    raise PolicyError(
                        f"run {kept.number}, which is accepted: {error}",
                    ) from error
        if not found:
            raise PolicyError(
                f"no run of {str(self.folder)!r} is accepted as a baseline; run the model that is good enough with "
                f"--recsys-keep=baseline, then type: recsys-mt runs accept",
            )
        return found

    def states(self, data: str, against: str | None) -> dict[str, Was]:
        """The latest result of each test on some data, and with some recommender to
        compare with, by its id.
        """
        found: dict[str, Was] = {}
        for kept in self.runs():
            tests, digest = (
                kept.head.get("tests", {}),
                str(kept.head.get("data_digest") or ""),
            )
            if (kept.head.get("data"), kept.head.get("against")) == (data, against):
                found |= {
                    name: Was(kept.number, str(was), digest)
                    for name, was in tests.items()
                }
        return found

    def _numbers(self) -> list[int]:
        try:
            names = os.listdir(self.folder)
            return sorted(
                int(name) for name in names if re.fullmatch("[1-9][0-9]*", name)
            )
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _kept(self, number: int, accepted: set[int]) -> Kept:
        folder = self.folder / str(number)
        head: Any = None
        with suppress(OSError, ValueError, RecursionError):
            head = json.loads(content_of(folder / "head.json"))
        known = head if is_sound(head) else {}
        return Kept(number, folder / RECORD, known, number in accepted)

    def _marked(self) -> set[int]:
        with suppress(PolicyError):
            return self.accepted()
        return set()

    def accepted(self) -> set[int]:
        """The numbers of the runs that are baselines.

        Raises:
            PolicyError: If the list is damaged.
        """
        path = self.folder / ACCEPTED
        try:
            return {int(each) for each in json.loads(content_of(path))["accepted"]}
        except FileNotFoundError:
            return set()
        except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
            raise PolicyError(
                f"{str(path)!r}, which says what is accepted, cannot be read or is damaged: remove it, and accept again",
            ) from error

    def _prune(self) -> None:
        # Where it is not known which runs are accepted, none is removed.
        with suppress(OSError, PolicyError):
            for number in {*self._numbers()[:-MOST]} - self.accepted():
                shutil.rmtree(self.folder / str(number), ignore_errors=True)
        # Of runs that were killed while they were kept.
        for left in self.folder.glob(".new-*"):
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > DAY:
                    shutil.rmtree(left, ignore_errors=True)


def record_named(text: str) -> Path:
    """The record that a text names: a file, or a run kept around
    the current folder, as `Store.named` takes it.
    """
    path = Path(text)
    if os.path.isfile(path) and (path.suffix == ".json" or text.isdecimal()):
        return path
    kept = Store.around(Path.cwd()).named(text)
    if kept is None and not path.suffix and not os.path.exists(path):
        raise PolicyError(
            f"there is no file {text!r}, and no kept run of such a model, prompt or day",
        )
    return path if kept is None else kept.record


def read_all(
    records: Iterable[Path],
    reader: Callable[[Path], Any],
    *,
    skip: bool,
) -> Iterator[tuple[str, Any]]:
    """Records by their names in messages; with `skip`, one that cannot be read is named
    on standard error and left out.
    """
    for path in records:
        try:
            yield called(path), reader(path)
        except (DataError, PolicyError) as error:
            if not skip:
                raise
            print(f"recsys-mt: {called(path)} is left out: {error}", file=sys.stderr)


def called(record: Path) -> str:
    """The name of a record in messages: the number of a kept run, else its file."""
    return (
        f"run {record.parent.name}" if record.suffix == ".gz" else one_line(str(record))
    )


def _of(kept: Kept) -> tuple[object, object]:
    return kept.head.get("models"), kept.head.get("suite")
