"""The commands on the answers in the cache: ``recsys-mt cache`` and ``batch``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.cache import AnswerCache, Kept
    from pytest_recsys_mt.calls.cache_files import Imported, Share


def _folder(given: argparse.Namespace) -> Path:
    from pytest_recsys_mt.safety.files import cache_folder, expanded

    folder: Path = expanded(given.cache or cache_folder())
    return folder


def _open(
    given: argparse.Namespace,
    *,
    make: bool = False,
    write: bool = False,
) -> AnswerCache:
    from pytest_recsys_mt.calls.cache import AnswerCache
    from pytest_recsys_mt.safety.errors import CacheError

    directory = _folder(given)
    if not make and not os.path.isfile(directory / "answers" / "cache.db"):
        raise CacheError(
            f"there are no answers in {str(directory)!r}; name the folder that --recsys-cache or "
            f"recsys_cache names with --cache",
        )
    return AnswerCache(directory, write=make or write)


def export_answers(given: argparse.Namespace) -> int:
    """Write answers to a file."""
    from pytest_recsys_mt.calls.cache_files import write_answers

    with closing(_open(given)) as cache:
        _check_target(given.file, cache)
        count = write_answers(cache, given.file, given.model)
    # The answers themselves may go to the standard output.
    stream = sys.stderr if str(given.file) == "-" else sys.stdout
    print(f"{count:,} answers written to {given.file}", file=stream)
    return 0


def _check_target(file: Path, cache: AnswerCache) -> None:
    """Refuse to overwrite the cache, or a file that is no export."""
    from pytest_recsys_mt.safety.errors import CacheError

    answers = (cache.directory / "answers").resolve()
    if answers in Path(os.path.realpath(file)).parents:
        raise CacheError(
            f"{str(file)!r} lies in the cache itself; name a file elsewhere",
        )
    if not os.path.isfile(file):
        return
    with suppress(OSError), file.open("rb") as old:
        beginning = old.read(10)
        if beginning not in (b"", b'{"answer":'):
            raise CacheError(f"{str(file)!r} is no export; name a new file")


def import_them(given: argparse.Namespace) -> int:
    """Take answers from files; 1 if lines were refused."""
    from pytest_recsys_mt.calls.batch_files import calls_file
    from pytest_recsys_mt.safety.errors import CacheError

    batch: Path | None = getattr(given, "batch", None)
    if batch is not None and not os.path.isfile(calls_file(batch)):
        raise CacheError(
            f"{str(calls_file(batch))!r} cannot be read: recsys_batch writes it beside its file; give that file "
            f"with --batch",
        )
    refused = 0
    with closing(_open(given, make=True)) as cache:
        for path in given.files:
            imported = _import_file(cache, path, batch, replace=given.replace)
            _print_imported(path, imported, replace=given.replace)
            refused += len(imported.refused)
    return 1 if refused else 0


def _import_file(
    cache: AnswerCache,
    path: Path,
    batch: Path | None,
    *,
    replace: bool,
) -> Imported:
    """Take the answers of an export, or of an output file of a batch."""
    from pytest_recsys_mt.calls.batch_files import calls_file, import_batch
    from pytest_recsys_mt.calls.cache_files import import_answers

    if batch is None:
        return import_answers(cache, path, replace=replace)
    return import_batch(cache, path, calls_file(batch), replace=replace)


def _print_imported(path: Path, imported: Imported, *, replace: bool) -> None:
    outcome = "replaced" if replace else "left as the cache has them"
    print(
        f"{path}: {imported.added:,} answers added, {imported.known:,} were there, "
        f"{imported.differing:,} differed and were {outcome}, {len(imported.refused):,} refused",
    )
    for line in imported.refused:
        print(f"recsys-mt: refused: {line}", file=sys.stderr)


def stats(given: argparse.Namespace) -> int:
    """Print the contents of the cache, by model."""
    from pytest_recsys_mt.calls.cache_files import shares

    with closing(_open(given)) as cache:
        by_model, refused = shares(cache)
    print(
        f"{'answers':>9} {'kB':>9} {'prompt tokens':>14} {'answer tokens':>14}  model",
    )
    for (model, host), share in by_model.items():
        print(_share_line(f"{model} at {host}" if host else model, share))
    print(_share_line("all", _total(by_model.values())))
    if refused:
        print(
            f"{refused:,} rows are damaged or were tampered with, and count as missing; "
            f"recsys-mt cache prune --refused removes them",
        )
    return 0


def _share_line(name: str, share: Share) -> str:
    from pytest_recsys_mt.safety.sanitize import one_line

    return (
        f"{share.answers:>9,} {share.size / 1000:>9,.1f} {share.prompt_tokens:>14,} "
        f"{share.completion_tokens:>14,}  {one_line(name)}"
    )


def _total(shares: Collection[Share]) -> Share:
    from pytest_recsys_mt.calls.cache_files import Share

    return Share(
        answers=sum(share.answers for share in shares),
        size=sum(share.size for share in shares),
        prompt_tokens=sum(share.prompt_tokens for share in shares),
        completion_tokens=sum(share.completion_tokens for share in shares),
    )


def spent(given: argparse.Namespace) -> int:
    """Print the amounts spent on each day, by model and command."""
    from pytest_recsys_mt.calls.day_account import days, lines
    from pytest_recsys_mt.safety.errors import CacheError

    folder = _folder(given)
    if not folder.is_dir():
        raise CacheError(
            f"there is no folder {str(folder)!r}; name the one that --recsys-cache or recsys_cache names with --cache",
        )
    accounts = dict(days(folder))
    if not accounts:
        raise CacheError(
            f"{str(folder)!r} has no account of a day; runs keep one where the ini file sets a limit a day, such as "
            f"recsys_usd_a_day = 5",
        )
    print(*lines(accounts), sep="\n")
    return 0


def prune(given: argparse.Namespace) -> int:
    """Remove answers."""
    from pytest_recsys_mt.calls.cache_files import keys_in

    is_selective = given.model is not None or given.not_in is not None
    if not is_selective and not given.refused:
        given.parser.error("say what to remove: --model, --not-in, --refused")
    exported = set() if given.not_in is None else keys_in(given.not_in)
    with closing(_open(given, write=not given.dry_run)) as cache:
        numbers: list[int] = []
        for number, kept in cache.rows():
            if kept is None:
                is_removed = given.refused
            else:
                is_removed = is_selective and _is_chosen(kept, given.model, exported)
            if is_removed:
                numbers.append(number)
        if not given.dry_run:
            cache.remove(numbers)
    done = "would be" if given.dry_run else "were"
    print(f"{len(numbers):,} answers {done} removed")
    return 0


def _is_chosen(kept: Kept, model: str | None, exported: Collection[str]) -> bool:
    """Whether an answer is of the named models and in no export."""
    from pytest_recsys_mt.calls.cache_files import matches

    return matches(kept, model) and kept.key not in exported
