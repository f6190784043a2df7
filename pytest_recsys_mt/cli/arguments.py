"""The commands of `recsys-mt` and their arguments."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_recsys_mt.cli import commands
from pytest_recsys_mt.cli.parser import Parser, Version
from pytest_recsys_mt.extensions import COMMANDS, TABLES, entry_points, owner_of

Command = Callable[[argparse.Namespace], int | None]
"""A command; None means success."""

Argument = tuple[tuple[str, ...], dict[str, Any]]

SECTIONS = {
    "a project:": ("init", "try", "write", "prompts", "mutate", "parity"),
    "kept runs and their records:": (
        "runs",
        "compare",
        "view",
        "report",
        "monitor",
        "comment",
        "log",
    ),
    "answers on this machine:": ("cache", "batch"),
    "benchmarks and papers:": ("leaderboard", "paper", "answers"),
}
"""The commands by their purpose, in the order of the help; others, as those of
installed packages, end the last section.
"""


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line; the arguments that a command passes to pytest are its
    ``pytest``.
    """
    parser = _parser()
    given, further = parser.parse_known_args(arguments)
    if hasattr(given, "pytest"):
        # This first one ends our options. pytest would take it as the end of its own.
        given.pytest = further[1:] if further[:1] == ["--"] else further
    elif further:
        parser.error(f"unrecognized arguments: {' '.join(further)}")
    return given


def _argument(*names: str, **how: Any) -> Argument:
    return names, how


def _output(help: str) -> Argument:
    return _argument("-o", "--output", type=Path, metavar="FILE", help=help)


RECORD = "as --recsys-json wrote it, or a kept run: its number, accepted, or the latest of a model, a prompt or a day"


FILES = "a file that ends in .txt, .md, .tex, .csv or .html (default: {} on standard output)"
_AS_DATA = "as --recsys-data (default: mini)"
LIKE = "(default: the kept runs on the data of the latest that share a test with it)"


def _records(help: str = RECORD) -> Argument:
    return _argument("records", type=_record, nargs="+", metavar="RECORD", help=help)


def _record(text: str) -> Path:
    from pytest_recsys_mt.gate.store import record_named
    from pytest_recsys_mt.safety.errors import PolicyError

    try:
        return record_named(text)
    except PolicyError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _command(
    group: Any,
    name: str,
    run: Command,
    help: str,
    *arguments: Argument,
    **further: Any,
) -> None:
    added = group.add_parser(name, help=help, **further)
    for names, how in arguments:
        added.add_argument(*names, **how)
    added.set_defaults(command=run, parser=added)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="recsys-mt",
        description="Recorded answers of recommenders under test, and reports on them.",
    )
    parser.add_argument("--version", action=Version)
    groups = parser.add_subparsers(metavar="COMMAND", required=True)

    _answers_kept(groups)
    _reports(groups)
    _projects(groups)
    _trial(groups)
    _of_packages(groups)
    _group_in_help(groups)
    return parser


def _of_packages(groups: Any) -> None:
    """Add the commands of installed packages; one that
    cannot be loaded is left out, and named.
    """
    import sys

    for point in entry_points(COMMANDS):
        try:
            point.load()(groups)
        # It is code of others, and the other commands must work.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            print(
                f"recsys-mt: the command {point.name!r} of {owner_of(point)} cannot be loaded: "
                f"{type(error).__name__}: {error}",
                file=sys.stderr,
            )


def _group_in_help(groups: Any) -> None:
    """List the commands by `SECTIONS`; those that are in none of them
    end the last one.
    """
    shown = {each.dest: each for each in groups._choices_actions}
    in_sections = {name for names in SECTIONS.values() for name in names}
    others = tuple(name for name in shown if name not in in_sections)
    *before, (last, names_of_last) = SECTIONS.items()
    ordered = []
    for section, names in (*before, (last, names_of_last + others)):
        ordered.append(groups._ChoicesPseudoAction(section, (), ""))
        for name in names:
            command = shown[name]
            command.metavar = f"  {command.metavar}"
            ordered.append(command)
    groups._choices_actions[:] = ordered


def _answers_kept(groups: Any) -> None:
    from pytest_recsys_mt.calls import commands as calls

    folder = _argument(
        "--cache",
        type=Path,
        metavar="DIR",
        help="folder of the answers, as --recsys-cache",
    )
    model = _argument(
        "--model",
        metavar="PATTERN",
        help="only answers of models of this name: gpt-4o*",
    )
    replace = _argument(
        "--replace",
        action="store_true",
        help="replace another answer in the cache",
    )
    cache = groups.add_parser("cache", help="move, count and remove answers")
    actions = cache.add_subparsers(metavar="COMMAND", required=True)
    _command(
        actions, "export", calls.export_answers, "write answers to a file of JSON lines",
        folder, model, _argument("file", type=Path, metavar="FILE"),
    )  # fmt: skip
    _command(
        actions, "import", calls.import_them, "take answers from files that export wrote",
        folder, replace, _argument("files", type=Path, nargs="+", metavar="FILE"),
    )  # fmt: skip
    _command(actions, "stats", calls.stats, "what the cache holds, by model", folder)
    _command(
        actions,
        "spent",
        calls.spent,
        "what runs spent, by day, model and command",
        folder,
    )
    _command(
        actions, "prune", calls.prune,
        "remove answers: those that match both --model and --not-in, and refused rows",
        folder, model,
        _argument("--not-in", type=Path, metavar="FILE", help="only answers that are not in this export"),
        _argument("--refused", action="store_true", help="rows that are damaged or were tampered with"),
        _argument("--dry-run", action="store_true", help="count, and remove nothing"),
    )  # fmt: skip
    batch = groups.add_parser("batch", help="answers of OpenAI's Batch API")
    _command(
        batch.add_subparsers(metavar="COMMAND", required=True), "import", calls.import_them,
        "take answers from output files of a batch that recsys_batch wrote",
        folder, replace,
        _argument("files", type=Path, nargs="+", metavar="OUTPUT"),
        _argument("--batch", type=Path, required=True, metavar="FILE", help="as given to recsys_batch"),
    )  # fmt: skip


def _reports(groups: Any) -> None:
    kept = groups.add_parser(
        "runs",
        help="list the kept runs, and make one the baseline of later ones",
    )
    kept.set_defaults(command=commands.runs, parser=kept)
    _command(
        kept.add_subparsers(metavar="COMMAND"), "accept", commands.accept,
        "compare later runs that are given --recsys-baseline with this one",
        _argument(
            "number", type=_count, nargs="?", metavar="N", help="of the run (default: the latest)",
        ),
    )  # fmt: skip
    _command(
        groups, "compare", commands.compare, "say what became worse between two runs, and on whom",
        _argument(
            "records", type=_record, nargs="*", metavar="RECORD",
            help=f"{RECORD}; the earlier one first. One of several models, named twice, compares these (default: the latest kept run and "
            "the one before, of the same models, data and seed; of one, it and the latest like it)",
        ),
        _output(FILES.format("text")),
    )  # fmt: skip
    _command(
        groups, "report", commands.report, "make the HTML report of a record",
        _argument("record", type=_record, metavar="RECORD", help=RECORD),
        _output("where the report goes (default: beside the record, as .html)"),
    )  # fmt: skip
    _command(
        groups, "view", commands.view, "make one HTML page of many runs: what changed when, and the last one in full",
        _argument(
            "records", type=_record, nargs="*", metavar="RECORD",
            help=f"{RECORD} {LIKE}",
        ),
        _argument("-o", "--output", type=Path, default=Path("view.html"), metavar="FILE", help="where the page goes (default: view.html)"),
        _argument("--serve", action="store_true", help="show the page on this machine alone, until Ctrl-C, and write no file"),
    )  # fmt: skip
    _command(
        groups,
        "log",
        commands.log,
        "log a record with the library of a tracker of experiments",
        _argument("record", type=_record, metavar="RECORD", help=RECORD),
        _argument(
            "--to",
            required=True,
            choices=("mlflow", "wandb"),
            help="the tracker; its environment variables say where it is",
        ),
    )
    _tables(groups)


def _answers(groups: Any) -> None:
    _command(
        groups, "answers", commands.answers,
        "list the wrong answers of a model to multiple-choice questions, compare two models, or list all answers to a user",
        _records(f"{RECORD}; one or two"),
        _argument("--kind", default="", metavar="KIND", help="only questions of this kind: cast"),
        _argument(
            "--user", metavar="USER",
            help="of any suite: all answers to each question of this user, and to its changed form, side by side",
        ),
        _argument(
            "--limit", type=_count, default=20, metavar="N",
            help="how many answers, or questions of a user, are listed, 0 for all (default: 20)",
        ),
    )  # fmt: skip


def _tables(groups: Any) -> None:
    _command(
        groups, "leaderboard", commands.leaderboard,
        "write one table of what several models reached, and who is really ahead of whom",
        _records(),
        _output(FILES.format("Markdown")),
        _argument("--suite", default="", metavar="NAME", help="only this suite: lrworld"),
        _argument(
            "--models", choices=("rows", "columns"),
            help="where models stand (default: rows, if there are more models than measures of a test)",
        ),
    )  # fmt: skip
    _command(
        groups, "paper", commands.paper,
        "write the tables of a suite's paper, with the values of records beside the printed ones",
        _argument("suite", metavar="SUITE", help=", ".join(sorted(point.name for point in entry_points(TABLES)))),
        _records(),
        _argument("--table", default="", metavar="N", help="only this table"),
        _argument("--figure", default="", metavar="N", help="only the values of this figure"),
        _output(FILES.format("Markdown")),
        aliases=["tables"],  # its name in earlier versions
    )  # fmt: skip
    _answers(groups)
    _command(
        groups, "monitor", commands.monitor, "check the records of many nights for broken promises",
        _argument("records", type=_record, nargs="*", metavar="RECORD", help=f"{RECORD} {LIKE}"),
        _argument(
            "--alpha", type=_alpha, default=0.05, metavar="A",
            help="chance of any false alarm, over all nights and verdicts (default: 0.05)",
        ),
        _argument(
            "--change", action="store_true",
            help="the same users are asked every night: check whether their values became worse",
        ),
    )  # fmt: skip
    _command(
        groups, "comment", commands.comment, "say in one comment on a pull request what a run in GitHub Actions came to",
        _argument("record", type=_record, metavar="RECORD", help=RECORD),
        _argument(
            "baseline", nargs="?", default="", metavar="BASELINE",
            help="another record: say what became worse since, and on whom",
        ),
        _argument(
            "--name", type=_comment_name, default="run", metavar="NAME",
            help="which comment it is: runs of different names have a comment each (default: run)",
        ),
        description="Write a comment on the pull request of this job of GitHub Actions, or change that of an earlier "
        "run. GITHUB_TOKEN needs the permission pull-requests: write. Where no comment can be written, a line says "
        "why, and the status is 0: whether the gate passed is said by pytest's.",
    )  # fmt: skip


def _projects(groups: Any) -> None:
    _command(
        groups, "prompts", commands.prompts, "write what language models are told, as a file for --recsys-prompts",
        _argument("words", nargs="?", choices=("paper",), metavar="paper", help="the words that the suites' papers print"),
        _output("a new file (default: standard output)"),
    )  # fmt: skip
    _command(
        groups, "init", commands.init, "write the first files of a project: tests, gate, CI",
        _argument(
            "model", nargs="?", metavar="MODEL",
            help="recommender to test, as --recsys-model, seen from FOLDER (default: itemknn)",
        ),
        _argument(
            "folder", nargs="?", type=Path, default=Path(), metavar="FOLDER",
            help="where the files go (default: the current folder)",
        ),
        _argument("--data", default="mini", metavar="NAME|PATH", help=_AS_DATA),
        _argument(
            "--ci", choices=("github", "gitlab", "jenkins", "none"), default="github", help="its system (default: github)",
        ),
        _argument(
            "--tests", choices=("written", "one"), default="written",
            help="written for MODEL unless its calls may cost something, or one as an example (default: written)",
        ),
    )  # fmt: skip


def _trial(groups: Any) -> None:
    _command(
        groups,
        "try",
        commands.try_model,
        "ask a model one question: what is sent, what comes back, what is read of it",
        _argument("model", metavar="MODEL", help="as --recsys-model"),
        _argument("--data", default="mini", metavar="NAME|PATH", help=_AS_DATA),
        _argument("--user", metavar="ID", help="who is asked for (default: the first)"),
        _argument("--map", metavar="FILE", help="as ?map=FILE of an https:// spec"),
        _argument("--prompt", metavar="NAME|FILE", help="as --recsys-prompt"),
        _argument("--open", action="store_true", help="offer the whole catalogue"),
        _argument("-k", type=_length, default=10, help="items (default: 10)"),
        description="Send one request to a recommender or a language model, print it and the answer without keys, and "
        "list what is read of it. The answer is not kept, and a paid model is paid once. The status is 0 if a list is read.",
    )


def _length(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text[:6]) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number in 1..1000")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number from 0 to 10^18",
        )
    return int(text)


def _comment_name(text: str) -> str:
    # It stands inside a comment of HTML, which it must not end.
    if not text.replace("_", "").isalnum():
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a word of letters, digits and _, such as nightly",
        )
    return text


def _alpha(text: str) -> float:
    try:
        alpha = float(text)
    except ValueError:
        alpha = 0.0
    if not 0 < alpha <= 0.5:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a chance above 0 and up to 0.5, such as 0.05",
        )
    return alpha
