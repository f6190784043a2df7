"""The commands on the answers in the cache: ``recsys-mt cache`` and ``batch``."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import closing, suppress
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.cache import AnswerCache


def _open(given: argparse.Namespace, *, make: bool = False, write: bool = False) -> AnswerCache:
    from pytest_recsys_mt.calls.cache import AnswerCache
    from pytest_recsys_mt.errors import CacheError
    from pytest_recsys_mt.safety.files import cache_folder, expanded

    directory: Path = expanded(given.cache or cache_folder())
    if not make and not os.path.isfile(directory / "answers" / "cache.db"):
        raise CacheError(
            f"there are no answers in {str(directory)!r}; name the folder that --recsys-cache or "
            f"recsys_cache names with --cache"
        )
    return AnswerCache(directory, write=make or write)


def export_answers(given: argparse.Namespace) -> int:
    """Write answers to a file."""
    from pytest_recsys_mt.calls.cache_files import write_answers
    from pytest_recsys_mt.errors import CacheError

    with closing(_open(given)) as cache:
        if (cache.directory / "answers").resolve() in Path(os.path.realpath(given.file)).parents:
            raise CacheError(f"{str(given.file)!r} lies in the cache itself; name a file elsewhere")
        if os.path.isfile(given.file):
            with suppress(OSError), given.file.open("rb") as old:
                if old.read(10) not in (b"", b'{"answer":'):
                    raise CacheError(f"{str(given.file)!r} is no export; name a new file")
        count = write_answers(cache, given.file, given.model)
    told = sys.stderr if str(given.file) == "-" else sys.stdout  # the other one has the answers
    print(f"{count:,} answers written to {given.file}", file=told)
    return 0


def import_them(given: argparse.Namespace) -> int:
    """Take answers from files; 1 if lines were refused."""
    from pytest_recsys_mt.calls.batch_files import calls_file, import_batch
    from pytest_recsys_mt.calls.cache_files import import_answers
    from pytest_recsys_mt.errors import CacheError

    batch: Path | None = getattr(given, "batch", None)
    if batch is not None and not os.path.isfile(calls_file(batch)):
        raise CacheError(
            f"{str(calls_file(batch))!r} cannot be read: recsys_batch writes it beside its file; give that file "
            f"with --batch"
        )
    refused = 0
    with closing(_open(given, make=True)) as cache:
        for path in given.files:
            done = (
                import_answers(cache, path, replace=given.replace)
                if batch is None
                else import_batch(cache, path, calls_file(batch), replace=given.replace)
            )
            verb = "replaced" if given.replace else "left as the cache has them"
            print(
                f"{path}: {done.added:,} answers added, {done.known:,} were there, "
                f"{done.differing:,} differed and were {verb}, {len(done.refused):,} refused"
            )
            for line in done.refused:
                print(f"recsys-mt: refused: {line}", file=sys.stderr)
            refused += len(done.refused)
    return 1 if refused else 0


def stats(given: argparse.Namespace) -> int:
    """Say what the cache holds, by model."""
    from pytest_recsys_mt.calls.cache_files import Share, shares
    from pytest_recsys_mt.safety.sanitize import one_line

    with closing(_open(given)) as cache:
        found, refused = shares(cache)
    total = Share(
        *(sum(getattr(share, each.name) for share in found.values()) for each in fields(Share))
    )
    print(f"{'answers':>9} {'kB':>9} {'prompt tokens':>14} {'answer tokens':>14}  model")
    for (model, host), share in [*found.items(), (("all", ""), total)]:
        name = one_line(f"{model} at {host}" if host else model)
        print(
            f"{share.answers:>9,} {share.size / 1000:>9,.1f} {share.prompt_tokens:>14,} "
            f"{share.completion_tokens:>14,}  {name}"
        )
    if refused:
        print(
            f"{refused:,} rows are damaged or were tampered with, and count as missing; "
            f"recsys-mt cache prune --refused removes them"
        )
    return 0


def spent(given: argparse.Namespace) -> int:
    """Say what was spent on each day, by model and command."""
    from pytest_recsys_mt.calls.day_account import days, lines
    from pytest_recsys_mt.errors import CacheError
    from pytest_recsys_mt.safety.files import cache_folder, expanded

    folder: Path = expanded(given.cache or cache_folder())
    found = dict(days(folder))
    if not found:
        raise CacheError(
            f"{str(folder)!r} has no account of a day; runs keep one where the ini file sets a limit a day, such as "
            f"recsys_usd_a_day = 5"
        )
    print(*lines(found), sep="\n")
    return 0


def prune(given: argparse.Namespace) -> int:
    """Remove answers."""
    from pytest_recsys_mt.calls.cache_files import keys_in, matches

    chosen = given.model is not None or given.not_in is not None
    if not chosen and not given.refused:
        given.parser.error("say what to remove: --model, --not-in, --refused")
    keep = set() if given.not_in is None else keys_in(given.not_in)
    with closing(_open(given, write=not given.dry_run)) as cache:
        numbers = [
            number
            for number, kept in cache.rows()
            if (
                given.refused
                if kept is None
                else chosen and matches(kept, given.model) and kept.key not in keep
            )
        ]
        if not given.dry_run:
            cache.remove(numbers)
    print(f"{len(numbers):,} answers {'would be' if given.dry_run else 'were'} removed")
    return 0
