"""The command `recsys-mt`: first files of a project, answers, batches, reports, comments, nights, questions, faults.

A command imports heavy modules only when it runs.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pytest_recsys_mt.adequacy.command import add as add_mutate
from pytest_recsys_mt.lrworld.command import add as add_questions

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.cache import AnswerCache

Command = Callable[[argparse.Namespace], int]

UNREAD = 141
"""The status of a program that SIGPIPE ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: The arguments after the program's name; by default those of this process.

    Returns:
        0 for success, 1 if lines of a file were refused or a promise broke, 2 if the command could
        not run, 141 if nobody reads its output to the end, as a shell has it.
    """
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at its end, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line; what a command passes on to pytest is its ``pytest``."""
    parser = _parser()
    given, further = parser.parse_known_args(arguments)
    if hasattr(given, "pytest"):
        given.pytest = further
    elif further:
        parser.error(f"unrecognized arguments: {' '.join(further)}")
    return given


def _run(arguments: Sequence[str] | None) -> int:
    given = read_arguments(arguments)
    from pytest_recsys_mt.errors import RecsysError
    from pytest_recsys_mt.sanitize import sanitize

    command: Command = given.command
    try:
        return command(given)
    except RecsysError as error:
        print(f"recsys-mt: {sanitize(str(error))}", file=sys.stderr)
        return 2


class _Parser(argparse.ArgumentParser):
    """A parser that names the nearest of what it knows."""

    def error(self, message: str) -> NoReturn:
        """End the program with what is wrong, and what was meant."""
        import difflib
        import re

        typed = re.search(r"invalid choice: '([^']*)'|unrecognized arguments: (-[^\s=]*)", message)
        if typed is not None:
            near = difflib.get_close_matches(typed[1] or typed[2], _known(self), 1)
            message += f"; did you mean {near[0]!r}?" if near else f"; see {self.prog} --help"
        super().error(message)


def _known(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The options and choices of a parser, and of the parsers below it: these leave unknown options to it."""
    for action in parser._actions:
        yield from action.option_strings
        yield from map(str, action.choices or ())
        if isinstance(action.choices, Mapping):
            for below in action.choices.values():
                yield from _known(below)


class _Version(argparse.Action):
    """Prints the version; reading it takes time that other commands need not spend."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version, and stop")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"recsys-mt {version('pytest-recsys-mt')}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="recsys-mt",
        description="Recorded answers of recommenders under test, and reports on them.",
    )
    parser.add_argument("--version", action=_Version)
    groups = parser.add_subparsers(metavar="GROUP", required=True)
    common = _Parser(add_help=False)
    common.add_argument(
        "--cache", type=Path, metavar="DIR", help="folder of the answers, as --recsys-cache"
    )
    by_model = _Parser(add_help=False)
    by_model.add_argument(
        "--model", metavar="PATTERN", help="only answers of models of this name: gpt-4o*"
    )
    replacing = _Parser(add_help=False)
    replacing.add_argument(
        "--replace", action="store_true", help="replace another answer in the cache"
    )

    cache = groups.add_parser("cache", help="move, count and remove answers")
    actions = cache.add_subparsers(metavar="COMMAND", required=True)

    export = actions.add_parser(
        "export", parents=[common, by_model], help="write answers to a file of JSON lines"
    )
    export.add_argument("file", type=Path, metavar="FILE")
    export.set_defaults(command=_export)

    take = actions.add_parser(
        "import", parents=[common, replacing], help="take answers from files that export wrote"
    )
    take.add_argument("files", type=Path, nargs="+", metavar="FILE")
    take.set_defaults(command=_import, batch=None)

    stats = actions.add_parser("stats", parents=[common], help="what the cache holds, by model")
    stats.set_defaults(command=_stats)

    prune = actions.add_parser(
        "prune",
        parents=[common, by_model],
        help="remove answers: those that match both --model and --not-in, and refused rows",
    )
    prune.add_argument(
        "--not-in", type=Path, metavar="FILE", help="only answers that are not in this export"
    )
    prune.add_argument(
        "--refused", action="store_true", help="rows that are damaged or were tampered with"
    )
    prune.add_argument("--dry-run", action="store_true", help="count, and remove nothing")
    prune.set_defaults(command=_prune, parser=prune)

    batch = groups.add_parser("batch", help="answers of OpenAI's Batch API")
    takes = batch.add_subparsers(metavar="COMMAND", required=True)
    answers = takes.add_parser(
        "import",
        parents=[common, replacing],
        help="take answers from output files of a batch that --recsys-batch wrote",
    )
    answers.add_argument("files", type=Path, nargs="+", metavar="OUTPUT")
    answers.add_argument(
        "--batch", type=Path, required=True, metavar="FILE", help="as given to --recsys-batch"
    )
    answers.set_defaults(command=_import)

    prices = groups.add_parser("prices", help="write prices of models for --recsys-prices")
    prices.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="LiteLLM's model_prices_and_context_window.json, or a TOML file of prices",
    )
    prices.add_argument(
        "models", nargs="*", metavar="MODEL", help="only these: gpt-4o* (default: all in FILE)"
    )
    prices.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("prices.toml"),
        metavar="FILE",
        help="where the prices go; those of other models stay there (default: prices.toml)",
    )
    prices.set_defaults(command=_prices)

    report = groups.add_parser(
        "report", help="make the HTML report of a record, or of the trend of several"
    )
    report.add_argument(
        "records", type=Path, nargs="+", metavar="RECORD", help="as --recsys-json wrote it"
    )
    report.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="where the report goes (default: beside the record, as .html; trend.html for several)",
    )
    report.set_defaults(command=_report)

    prompts = groups.add_parser(
        "prompts", help="write what language models are told, as a file for --recsys-prompts"
    )
    prompts.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="a new file (default: standard output)"
    )
    prompts.set_defaults(command=_prompts)

    leaderboard = groups.add_parser(
        "leaderboard",
        help="write one table of what several models reached, and who is really ahead of whom",
    )
    leaderboard.add_argument(
        "records", type=Path, nargs="+", metavar="RECORD", help="as --recsys-json wrote it"
    )
    leaderboard.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="a file that ends in .md, .csv, .tex or .html (default: Markdown on standard output)",
    )
    leaderboard.add_argument("--suite", default="", metavar="NAME", help="only this suite: lrworld")
    leaderboard.add_argument(
        "--models",
        choices=("rows", "columns"),
        help="where models stand (default: rows, if there are more models than measures of a test)",
    )
    leaderboard.set_defaults(command=_leaderboard)

    tables = groups.add_parser(
        "tables",
        help="write the tables of a suite's paper, with the values of records beside the printed ones",
    )
    tables.add_argument("suite", metavar="SUITE", help="such as popularity")
    tables.add_argument(
        "records", type=Path, nargs="+", metavar="RECORD", help="as --recsys-json wrote it"
    )
    tables.add_argument("--table", default="", metavar="NAME", help="only this table")
    tables.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="a file that ends in .md, .csv or .tex (default: Markdown on standard output)",
    )
    tables.set_defaults(command=_tables)

    answers = groups.add_parser(
        "answers",
        help="list the wrong answers of a model to multiple-choice questions, or compare two models",
    )
    answers.add_argument(
        "records",
        type=Path,
        nargs="+",
        metavar="RECORD",
        help="as --recsys-json wrote it; one or two",
    )
    answers.add_argument(
        "--kind", default="", metavar="KIND", help="only questions of this kind: cast"
    )
    answers.add_argument(
        "--limit",
        type=_count,
        default=20,
        metavar="N",
        help="how many answers are listed, 0 for all (default: 20)",
    )
    answers.set_defaults(command=_answers)

    arena = groups.add_parser(
        "arena", help="write the page of a pairwise comparison: its judge, its pairs, its league"
    )
    arena.add_argument("record", type=Path, metavar="RECORD", help="as --recsys-json wrote it")
    arena.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="a file that ends in .html or .md (default: Markdown on standard output)",
    )
    arena.set_defaults(command=_arena)

    init = groups.add_parser("init", help="write the first files of a project: tests, gate, CI")
    init.add_argument(
        "model",
        nargs="?",
        metavar="MODEL",
        help="recommender to test, as --recsys-model, seen from FOLDER (default: itemknn)",
    )
    init.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where the files go (default: the current folder)",
    )
    init.add_argument(
        "--data", default="mini", metavar="NAME|PATH", help="as --recsys-data (default: mini)"
    )
    init.add_argument(
        "--ci",
        choices=("github", "gitlab", "jenkins", "none"),
        default="github",
        help="the system that the CI file is for (default: github)",
    )
    init.set_defaults(command=_init)

    monitor = groups.add_parser(
        "monitor", help="check the records of many nights for broken promises"
    )
    monitor.add_argument(
        "records", type=Path, nargs="+", metavar="RECORD", help="as --recsys-json wrote them"
    )
    monitor.add_argument(
        "--alpha",
        type=_alpha,
        default=0.05,
        metavar="A",
        help="chance of any false alarm, over all nights and verdicts (default: 0.05)",
    )
    monitor.add_argument(
        "--change",
        action="store_true",
        help="the same users are asked every night: check whether their values became worse",
    )
    monitor.set_defaults(command=_monitor)

    comment = groups.add_parser(
        "comment",
        help="say in one comment on a pull request what a run in GitHub Actions came to",
        description="Write a comment on the pull request of this job of GitHub Actions, or change that of an earlier "
        "run. GITHUB_TOKEN needs the permission pull-requests: write. Where no comment can be written, a line says "
        "why, and the status is 0: whether the gate passed is said by pytest's.",
    )
    comment.add_argument("record", type=Path, metavar="RECORD", help="as --recsys-json wrote it")
    comment.add_argument(
        "--name",
        type=_comment_name,
        default="run",
        metavar="NAME",
        help="which comment it is: runs of different names have a comment each (default: run)",
    )
    comment.set_defaults(command=_comment)

    add_questions(groups)
    add_mutate(groups)
    return parser


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def _comment_name(text: str) -> str:
    # It stands inside a comment of HTML, which it must not end.
    if not text.replace("_", "").isalnum():
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a word of letters, digits and _, such as nightly"
        )
    return text


def _alpha(text: str) -> float:
    try:
        alpha = float(text)
    except ValueError:
        alpha = 0.0
    if not 0 < alpha <= 0.5:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a chance above 0 and up to 0.5, such as 0.05"
        )
    return alpha


def _open(given: argparse.Namespace, *, make: bool = False, write: bool = False) -> AnswerCache:
    from pytest_recsys_mt.calls.cache import AnswerCache
    from pytest_recsys_mt.errors import CacheError
    from pytest_recsys_mt.files import cache_folder

    directory: Path = (given.cache or cache_folder()).expanduser()
    if not make and not os.path.isfile(directory / "answers" / "cache.db"):
        raise CacheError(
            f"there are no answers in {str(directory)!r}; name the folder that --recsys-cache or "
            f"recsys_cache names with --cache"
        )
    return AnswerCache(directory, write=make or write)


def _export(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.calls.cache_files import write_answers

    cache = _open(given)
    try:
        count = write_answers(cache, given.file, given.model)
    finally:
        cache.close()
    print(f"{count:,} answers written to {given.file}")
    return 0


def _import(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.calls.batch_files import calls_file, import_batch
    from pytest_recsys_mt.calls.cache_files import import_answers
    from pytest_recsys_mt.errors import CacheError

    if given.batch is not None and not calls_file(given.batch).is_file():
        raise CacheError(
            f"{str(calls_file(given.batch))!r} cannot be read: --recsys-batch writes it beside its file; give that file "
            f"with --batch"
        )
    cache = _open(given, make=True)
    refused = 0
    try:
        for path in given.files:
            done = (
                import_answers(cache, path, replace=given.replace)
                if given.batch is None
                else import_batch(cache, path, calls_file(given.batch), replace=given.replace)
            )
            verb = "replaced" if given.replace else "left as the cache has them"
            print(
                f"{path}: {done.added:,} answers added, {done.known:,} were there, "
                f"{done.differing:,} differed and were {verb}, {len(done.refused):,} refused"
            )
            for line in done.refused:
                print(f"recsys-mt: refused: {line}", file=sys.stderr)
            refused += len(done.refused)
    finally:
        cache.close()
    return 1 if refused else 0


def _prices(given: argparse.Namespace) -> int:
    from fnmatch import fnmatchcase

    from pytest_recsys_mt.calls.price_files import as_toml, prices_of
    from pytest_recsys_mt.calls.prices import prices_in, text_of
    from pytest_recsys_mt.errors import PriceError
    from pytest_recsys_mt.files import written_whole

    output: Path = given.output
    found = prices_of(given.file)
    patterns = given.models or ["*"]
    taken = {
        name: price
        for name, price in found.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    if taken:
        kept = prices_in(text_of(output), str(output)) if output.exists() else {}
        try:
            with written_whole(output, 0o644) as stream:
                stream.write(as_toml({**kept, **taken}))
        except OSError as error:
            raise PriceError(f"{str(output)!r} cannot be written: {error.strerror}") from error
        added = len(taken.keys() - kept.keys())
        changed = sum(kept[name] != taken[name] for name in kept.keys() & taken.keys())
        print(
            f"{output}: {added:,} price{'s' * (added != 1)} added, {changed:,} changed, "
            f"{len(kept | taken):,} in all"
        )
    unknown = [each for each in patterns if not any(fnmatchcase(name, each) for name in taken)]
    for pattern in unknown:
        print(f"recsys-mt: {str(given.file)!r} has no price of {pattern!r}", file=sys.stderr)
    return 1 if unknown else 0


def _report(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.errors import DataError
    from pytest_recsys_mt.report.html import read_record, render, render_trend, write_page

    paths: list[Path] = given.records
    twice = [path for path in paths if sum(path.resolve() == each.resolve() for each in paths) > 1]
    if twice:
        raise DataError(f"{str(twice[0])!r} is given twice; a trend takes each record once")
    documents = [(str(path), read_record(path)) for path in paths]
    if len(paths) == 1:
        output: Path = given.output or paths[0].with_suffix(".html")
        try:
            text = render(documents[0][1])
        except DataError as error:
            raise DataError(f"{str(paths[0])!r}: {error}") from error
    else:
        output = given.output or paths[-1].with_name("trend.html")
        text = render_trend(documents)
    if output.resolve() in (path.resolve() for path in paths):
        raise DataError(f"{str(output)!r} is a record; name another file with -o")
    try:
        write_page(text, output)
    except OSError as error:
        raise DataError(f"{str(output)!r} cannot be written: {error.strerror}") from error
    print(f"report written to {output}")
    return 0


def _arena(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.report.arena.command import write_arena

    write_arena(given.record, given.output)
    return 0


def _leaderboard(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.report.leaderboard.command import write_leaderboard

    write_leaderboard(given.records, given.output, given.suite, given.models)
    return 0


def _tables(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.report.paper_tables.command import write_tables

    write_tables(given.suite, given.records, given.output, given.table)
    return 0


def _prompts(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.errors import DataError
    from pytest_recsys_mt.prompt_texts import SHIPPED

    content = SHIPPED.read_text(encoding="utf-8")
    if given.output is None:
        print(content, end="")
        return 0
    output: Path = given.output.expanduser()
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        raise DataError(
            f"{str(output)!r} exists, and may hold texts of yours; name a new file"
        ) from None
    except OSError as error:
        raise DataError(f"{str(output)!r} cannot be written: {error.strerror}") from error
    print(
        f"texts written to {output}; keep what you change, and name it with --recsys-prompts={output}"
    )
    return 0


def _comment(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.report.comment import comment

    comment(given.record, given.name)
    return 0


def _answers(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.report.answers_command import show_answers

    print("\n".join(show_answers(given.records, given.kind, given.limit)))
    return 0


def _init(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.starter import begin
    from pytest_recsys_mt.starter.told import lines

    folder: Path = given.folder.expanduser()
    spec = "itemknn" if given.model is None else given.model
    for line in lines(begin(spec, given.data, given.ci, folder), folder, given.model):
        print(line)
    return 0


def _monitor(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.gate.monitor import monitor, records
    from pytest_recsys_mt.report.monitored import idle, lines

    nights = records(given.records)
    findings = monitor(nights, given.alpha, change=given.change)
    for line in lines(nights, findings, given.alpha, given.change):
        print(line)
    if any(found.alarm is not None for found in findings):
        return 1
    if not any(found.users[-1] for found in findings):
        print(f"recsys-mt: {idle(nights, given.change)}", file=sys.stderr)
        return 2
    return 0


def _stats(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.calls.cache_files import Share, shares
    from pytest_recsys_mt.sanitize import one_line

    cache = _open(given)
    try:
        found, refused = shares(cache)
    finally:
        cache.close()
    total = Share()
    for share in found.values():
        total.answers += share.answers
        total.size += share.size
        total.prompt_tokens += share.prompt_tokens
        total.completion_tokens += share.completion_tokens
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


def _prune(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.calls.cache_files import keys_in, matches

    chosen = given.model is not None or given.not_in is not None
    if not chosen and not given.refused:
        given.parser.error("say what to remove: --model, --not-in, --refused")
    keep = set() if given.not_in is None else keys_in(given.not_in)
    cache = _open(given, write=not given.dry_run)
    try:
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
    finally:
        cache.close()
    print(f"{len(numbers):,} answers {'would be' if given.dry_run else 'were'} removed")
    return 0
