"""`load`: a dataset by name, or from a folder in a known
format, recorded answers or a table.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_recsys_mt.datasets.folders import missing
from pytest_recsys_mt.datasets.options import Repeats, Report
from pytest_recsys_mt.datasets.sources import BY_HAND, SOURCES
from pytest_recsys_mt.requests import own_code, specs
from pytest_recsys_mt.safety.errors import DataError, RecommenderError
from pytest_recsys_mt.safety.files import expanded

if TYPE_CHECKING:
    import pandas as pd

    from pytest_recsys_mt.datasets.content import Content, Format
    from pytest_recsys_mt.datasets.dataset import Dataset
    from pytest_recsys_mt.datasets.splits import Choice

NAMES = ("mini", *SOURCES, *BY_HAND)
"""The names that `load` takes, in addition to paths."""
LONGEST_PATH = 4096


@cache
def formats() -> Sequence[Format]:
    """Every format: those of ``formats/*.toml``, and those that code reads."""
    from pytest_recsys_mt.datasets import lastfm, mind, netflix, reading
    from pytest_recsys_mt.datasets.content import Format
    from pytest_recsys_mt.datasets.description import descriptions

    described = []
    for form in descriptions():
        read = partial(reading.read, form)
        by_content = bool(form.interactions.first_line)
        described.append(Format(form.name, form.files, read, form.source, by_content))
    return [*described, *lastfm.FORMATS, *mind.FORMATS, *netflix.FORMATS]


def load(
    source: str | Path,
    *,
    cache_dir: Path | None = None,
    repeats: Repeats = "latest",
    told: Report = lambda _: None,
) -> Dataset:
    """Load a dataset.

    Args:
        source: One of `NAMES`, or a path to a folder, a table (with options behind a
            question mark) or a description of tables, or the place of code that gives
            tables: ``orders.py:load``. A `Path` is never a name. Behind each may stand
            ``?split=``; see `splits`.
        cache_dir: The folder of named datasets; by default that of
            `download.data_directory`.
        repeats: The treatment of rows that repeat a user and an item.
        told: Called with each note: on changes to the rows and, for a path, a summary of
            the data that were read.

    Raises:
        DataError: If there is no such dataset, it cannot be downloaded, or a file of it
            is missing, malformed or unsafe; the text names the file and the line. All
            kinds of rows that cannot be used are named at once.
    """
    from pytest_recsys_mt.datasets import bad_rows, table_options
    from pytest_recsys_mt.datasets.dataset import Dataset

    name, options = named(source)
    if name is not None:
        table_options.require_values(options, name)
        return _load_named(name, cache_dir, repeats, told, _split_of(options))
    path, options = place(source)
    read: Callable[..., tuple[Dataset, str]]
    if path is not None:
        if path.suffix.lower() == ".toml":
            table_options.require_values(options, str(path))
        else:
            table_options.require_options(options, str(path))
        read = partial(_load_path, path)
    else:
        made, name, options = _given_by_code(source, options)
        if isinstance(made, Dataset):
            return made
        read = partial(_load_tables, made, name)
    split = _split_of(options)
    skipping = options.pop(bad_rows.OPTION, "")
    try:
        dataset, summary = bad_rows.settled(
            lambda report: read(options, repeats, report, split),
            skipping,
            told,
        )
    except (UnicodeError, OverflowError) as problem:
        raise DataError(
            f"{str(path or source)!r} holds a value that is neither text nor a number: {problem}",
        ) from problem
    if summary:
        told(summary)
    return dataset


def _split_of(options: dict[str, str]) -> Choice | None:
    """The split that options name, which is taken out of them."""
    from pytest_recsys_mt.datasets import splits

    text = options.pop(splits.OPTION, None)
    split = splits.choice_of(text or splits.LATEST)
    if text is not None and "test" in options:
        raise DataError(
            f"test={options['test']} says what is held out, and {splits.OPTION}={text} says it otherwise; leave one of them out",
        )
    return split


def _given_by_code(
    source: str | Path,
    options: Mapping[str, str],
) -> tuple[Dataset | Mapping[str, pd.DataFrame], str, dict[str, str]]:
    """What a user's code gives, its name, and the options that are not arguments of it."""
    from pytest_recsys_mt.datasets import own_tables

    code = place_of_code(source)
    if code is None:
        raise DataError(unknown(source))
    made, others = own_tables.given(code, options, str(source))
    return made, ":".join(code), others


def _load_tables(
    tables: Mapping[str, pd.DataFrame],
    name: str,
    options: Mapping[str, str],
    repeats: Repeats,
    report: Report,
    split: Choice | None,
) -> tuple[Dataset, str]:
    """The dataset of the tables that a user's code gives, and its summary."""
    from pytest_recsys_mt.datasets import own_tables
    from pytest_recsys_mt.datasets.making import made
    from pytest_recsys_mt.datasets.summary import summary

    content = own_tables.content(
        tables,
        options,
        name,
        report,
        by_sessions=_is_by_sessions(split),
    )
    dataset = made(name, _cut(content, split, report), repeats, report)
    return dataset, summary(Path(name), dataset)


def _is_by_sessions(split: Choice | None) -> bool:
    return split is not None and split.kind == "column"


def _cut(content: Content, split: Choice | None, report: Report) -> Content:
    """The content of files with the rows that a split keeps from training."""
    from pytest_recsys_mt.datasets.splits import cut_of

    if split is None:
        return content
    if content.cut is not None:
        raise DataError(
            f"{content.cut.name} says what is held out, and {split.name} says it otherwise; leave one of them out",
        )
    return dataclasses.replace(content, cut=cut_of(split, content.rows, report))


def _load_named(
    name: str,
    cache_dir: Path | None,
    repeats: Repeats,
    report: Report,
    split: Choice | None,
) -> Dataset:
    from pytest_recsys_mt.datasets.making import made

    folder = obtained(name, cache_dir)
    if folder is None:
        return _mini(split, report)
    form = _format(folder)
    if form is None:
        if name in BY_HAND:
            remedy = f"put those of {BY_HAND[name]} into it"
        else:
            remedy = "delete that folder, and it is downloaded anew"
        raise DataError(
            f"folder {str(folder)!r} holds none of the files of {name!r}; {remedy}",
        )
    content = _cut(form.read(folder, report), split, report)
    return made(name, content, repeats, report)


def _load_path(
    path: Path,
    options: Mapping[str, str],
    repeats: Repeats,
    report: Report,
    split: Choice | None,
) -> tuple[Dataset, str]:
    """The dataset of a folder or a file, and its summary; empty for recorded answers.

    `options` are those behind the question mark, but for `split`.
    """
    from pytest_recsys_mt.datasets import (
        archives,
        parquet,
        recordings,
        table,
        table_files,
    )
    from pytest_recsys_mt.datasets.making import made
    from pytest_recsys_mt.datasets.summary import summary

    is_folder = path.is_dir()
    form = _format(path) if is_folder and not options else None
    if form is not None:
        content = form.read(path, report)
    else:
        is_one_table = not is_folder or parquet.is_folder(path)
        file = path if is_one_table else table_files.only_table(path, formats())
        if not options and _holds_recordings(file):
            if split is not None:
                raise DataError(
                    f"{str(file)!r} holds recorded answers, whose 'target' says what was held out; leave {split.name} out",
                )
            return recordings.load(file, file.stem), ""
        by_sessions = _is_by_sessions(split)
        content = table.load(file, options, report, by_sessions=by_sessions)
    name = path.resolve().name if is_folder else archives.stem(path)
    dataset = made(name, _cut(content, split, report), repeats, report)
    return dataset, summary(path, dataset)


def _holds_recordings(file: Path) -> bool:
    """Whether a file is one of recorded answers, and no table."""
    from pytest_recsys_mt.datasets import recordings, table_files

    if file.suffix.lower() != recordings.SUFFIX or table_files.is_table(file):
        return False
    try:
        keys = table_files.headers(file)
    except DataError:
        return True  # whose error says what a line must be
    return not keys or not recordings.KEYS.isdisjoint(keys)


def load_mini() -> Dataset:
    """The embedded dataset: 351 real films (Wikidata, CC0) and 400 simulated users, by
    ``scripts/make_mini.py``.

    Items have the attributes ``genres``, ``directors``, ``cast`` (tuples of strings,
    leads first) and ``logline``; users have ``age`` and ``occupation``.
    """
    return _mini(None, lambda _: None)


def _mini(split: Choice | None, report: Report) -> Dataset:
    from pytest_recsys_mt.datasets import embedded, making

    content = _cut(embedded.content(), split, report)
    return making.made("mini", content, "refuse", report)


def named(source: str | Path) -> tuple[str | None, dict[str, str]]:
    """The name of `NAMES` that a source gives, if it is none of a path, and the options
    behind it: a split.
    """
    if isinstance(source, str):
        name, _, query = source.partition("?")
        if name in NAMES and (not query or query.startswith("split=")):
            options = _options(source)[1]
            if options.keys() <= {"split"}:
                return name, options
    return None, {}


def place(source: str | Path) -> tuple[Path | None, dict[str, str]]:
    """The existing path that a source names, if any, and
    the options behind its question mark.
    """
    path = expanded(source)
    text = str(source)
    if len(text) > LONGEST_PATH:
        raise DataError(f"a path of {len(text):,} characters is none: {text[:80]!r}...")
    options: dict[str, str] = {}
    # A name of a file may contain a question mark.
    if not os.path.exists(path) and "?" in text:
        name, options = _options(text)
        path = expanded(name)
    if not path.exists():
        return None, options
    return path, options


def _options(source: str) -> tuple[str, dict[str, str]]:
    """The source without its options, and these; a plus sign is one, and no blank."""
    name, mark, query = source.partition("?")
    try:
        return specs.split(name + mark + query.replace("+", "%2B"))
    except RecommenderError as problem:
        raise DataError(str(problem)) from problem


def place_of_code(source: str | Path) -> tuple[str, str] | None:
    """The file or module, and the name in it, of code that gives data; None if a source
    names none.
    """
    return own_code.split(str(source).partition("?")[0])


def obtained(name: str, cache_dir: Path | None = None) -> Path | None:
    """The folder of a dataset of `NAMES`, downloaded if missing; None for the embedded
    one.

    Raises:
        DataError: If it cannot be downloaded, or must be obtained by hand.
    """
    if name == "mini":
        return None
    from pytest_recsys_mt.datasets import download

    directory = cache_dir or download.data_directory()
    if name in BY_HAND:
        folder = directory / name
        if not folder.is_dir():
            raise DataError(
                f"dataset {name!r} is not downloaded for you: get its files from {BY_HAND[name]} and "
                f"put them into {str(folder)!r}, or give the path of their folder",
            )
        return folder
    return download.obtain(name, directory)


def _format(folder: Path) -> Format | None:
    """The format whose files a folder has; None if it has no file of any.

    Raises:
        DataError: If the folder has some files of a format, and lacks others.
    """
    missing_files = {
        form: missing(folder, form.files) for form in formats() if not form.by_content
    }
    missing_share = {
        form: len(files) / len(form.files) for form, files in missing_files.items()
    }
    least = min(missing_share.values())
    if least == 1:
        return None
    nearest = [form for form, share in missing_share.items() if share == least]
    if least == 0:
        return nearest[0]
    lacks_rows = all(form.files[0] in missing_files[form] for form in nearest)
    if lacks_rows and _has_one_table(folder):
        return None  # a catalogue called movies.csv is not MovieLens alone
    names = " or ".join(form.name for form in nearest)
    files = " or ".join(", ".join(missing_files[form]) for form in nearest)
    raise DataError(f"folder {str(folder)!r} looks like {names}, but lacks {files}")


def _has_one_table(folder: Path) -> bool:
    """Whether a folder has a table of interactions, and no other."""
    from pytest_recsys_mt.datasets import table_files

    try:
        table_files.only_table(folder, ())
    except DataError:
        return False
    return True


def unknown(source: str | Path) -> str:
    """The error text if `source` is neither a name nor a path."""
    name, _, query = str(source).partition("?")
    if query and name in NAMES:
        return f"{str(source)!r}: behind a name such as {name!r} may stand one option alone, split=, as in {name}?split=time:0.8"
    if (
        isinstance(source, Path)
        or "/" in source
        or "\\" in source
        or Path(source).suffix
    ):
        return f"no file or folder {str(source)!r}; give a path or one of {', '.join(NAMES)}"
    similar_names = difflib.get_close_matches(source.lower(), NAMES, n=1)
    question = f" Did you mean {similar_names[0]!r}?" if similar_names else ""
    return (
        f"no dataset {source!r}.{question} Known are {', '.join(NAMES)}; the path of a folder or of a "
        f"CSV, TSV or Parquet table also works"
    )
