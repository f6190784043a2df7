"""The command `recsys-mt parity`: one run of pytest, with a test of two
recommenders.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_recsys_mt.parity.process import run_pytest

PERCENT = ("1", "2", "5", "10")
"""The margins, in percent. Each has a test in `promise`,
which the command selects by its id.
"""

DESCRIPTION = """\
Ask two recommenders that should be one the same requests, and say whether they answer alike but for the noise of both:
a model and its service, an index and its rebuilt one, a release and its candidate. Each is named as --recsys-model
names one. A difference is asked once more, so up to twice as many calls are sent; --recsys-plan says how many, and sends
none. Further options go to pytest, as in: recsys-mt parity shop:Offline https://shop.example/rank
--recsys-json=parity.json

With A twice it is an A/A test: whether A is the same to itself with another seed, alone and in one batch, in another
process, and on another day, whose answers are cached; of a noisy one, what so many users can show.

Two logs of answers (.jsonl, .jsonl.gz, .parquet) are compared without asking anybody, as in: recsys-mt parity
offline.jsonl served.jsonl. A row holds the id of a "request", its "user" and its "items", best first.

A recommender and a log are compared by sending the requests of the log to the recommender: one request of each of --users
users (default: 200). With --on=requests.jsonl two recommenders are sent the requests of that log. A row may have a
"history", "candidates" and "k"; without a history it is that of the user in the data.

A kept run, by its number (12, or 12:MODEL of several models), accepted, or a record of --recsys-json is a side too: its
lists are compared with those of another run, or with those that a recommender gives to the same users now.
"""

OWN = {
    "--recsys-model": "A is the model",
    "--recsys-against": "B is what it is compared with",
    "-k": "the command chooses the test; for tests of your own run pytest",
}
"""Options of pytest that the command itself gives, and the advice for each."""


def add(groups: Any) -> None:
    """Declare the command and its options."""
    parity = groups.add_parser(
        "parity",
        help="ask two recommenders the same, and see whether they answer alike",
        usage="recsys-mt parity A B [OPTION ...] [pytest's options]",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    option = parity.add_argument
    option("first", metavar="A", help="a recommender, such as shop:Offline")
    option(
        "second",
        metavar="B",
        help="the one that should answer alike, such as https://...",
    )
    option(
        "--data",
        metavar="DATA",
        help="the data whose users are asked (default: as in pytest)",
    )
    users = "how many users may be asked (default: as in pytest)"
    option("--users", type=int, metavar="N", help=users)
    whole = (
        "ask for the whole catalogue, without candidates: only so are filters of what a user has seen tried, and only with "
        "candidates is every item tried"
    )
    option("--open", action="store_true", help=whole)
    again = "send all requests, also those whose answers are cached: for a service whose version does not change with it"
    option("--fresh", action="store_true", help=again)
    limits = parity.add_mutually_exclusive_group()
    limits.add_argument(
        "--margin", choices=PERCENT, metavar="PERCENT",
        help="percent of the users whose list may differ, and of the agreement that noisy recommenders may lose on "
        f"average: {', '.join(PERCENT)} (default: 2 of the users, 5 of the agreement)",
    )  # fmt: skip
    limits.add_argument(
        "--exact",
        action="store_true",
        help="not one list of two deterministic recommenders may differ",
    )
    option(
        "--on",
        metavar="LOG",
        help="send the requests of a log to both, in place of those of the data",
    )
    option(
        "--map",
        metavar="FIELD=PATH,...",
        help="where the fields of a log's rows are, as in items=response.items.sku",
    )
    option(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write the report on logs to a file",
    )
    parity.set_defaults(command=run, parser=parity, pytest=[])


def run(given: argparse.Namespace) -> int:
    """Run the command.

    Returns:
        The exit status of pytest: 0 if both answer alike, 1 if they do not or nothing
        could be shown.
    """
    from pytest_recsys_mt.parity import log_rows
    from pytest_recsys_mt.report.kept_lists import is_kept

    specs = (given.first, given.second)
    sides = [log_rows.is_log(spec) for spec in specs]
    runs = [is_kept(spec) for spec in specs]
    for spec, is_known in zip(
        specs, map(any, zip(sides, runs, strict=True)), strict=True
    ):
        if not is_known and Path(spec).is_file() and not spec.endswith(".py"):
            given.parser.error(
                f"{spec!r} is a file, and no log or record: name one that ends in {', '.join(log_rows.ENDINGS)} or .json",
            )
    if any(runs):
        return _with_kept(given, sides, runs)
    if all(sides):
        from pytest_recsys_mt.parity import log_report

        log_report.require_logs(given)
        return log_report.run(given)
    if any(sides) or given.on is not None:
        from pytest_recsys_mt.parity import replayed

        _require_options(given)
        return replayed.run(given, sides)
    for option in ("map", "output"):
        if getattr(given, option) is not None:
            given.parser.error(f"--{option} is for logs of answers; leave it out")
    command = arguments(given)
    if _is_itself(given):
        print(
            f"both are one recommender: this is an A/A test of {given.first}",
            flush=True,
        )
    return run_pytest(command)


def _with_kept(
    given: argparse.Namespace,
    sides: Sequence[bool],
    runs: Sequence[bool],
) -> int:
    """Run the command where a side is a kept run."""
    from pytest_recsys_mt.parity import kept_lists

    if any(sides) or given.on is not None or given.map is not None:
        given.parser.error(
            "a kept run holds lists and no requests, so it is compared with another one or with a recommender, and not with a log",
        )
    if all(runs) and (given.pytest or given.fresh):
        given.parser.error(
            "two kept runs are compared without asking; leave the options of pytest and --fresh out",
        )
    _require_options(given)
    return kept_lists.run(given, runs)


def arguments(given: argparse.Namespace) -> list[str]:
    """The arguments of pytest that the command stands for."""
    _require_options(given)
    itself = _is_itself(given)
    found = [
        "-q",
        # The folder, not the file: pytest gives a file that is named by itself no path
        # in its node ids.
        "--pyargs",
        "pytest_recsys_mt.parity",
        "-o",
        f"python_files={'itself' if itself else 'promise'}.py",
        "-k",
        _chosen(given, itself),
        f"--recsys-model={given.first}",
    ]
    if not itself:
        found.append(f"--recsys-against={given.second}")
    if given.data is not None:
        found.append(f"--recsys-data={given.data}")
    if given.users is not None:
        found.append(f"--recsys-users={given.users}")
    if given.open:
        found.append("--recsys-candidates=0")
    if given.fresh:
        found.append("--recsys-mode=refresh")
    if not any(argument.startswith("--recsys-keep") for argument in given.pytest):
        # Requests of all users are sent, not as many as the verdict takes: the share of
        # changed lists is wanted, and their common properties.
        found.append("--recsys-keep=baseline")
    return [*found, *given.pytest]


def _chosen(given: argparse.Namespace, itself: bool) -> str:
    """Which tests are run, by a part of their ids."""
    if given.margin is not None:
        return f"within_{given.margin}_percent"
    if itself:
        return "exactly" if given.exact else "by_default"
    return (
        "test_not_one_list_differs"
        if given.exact
        else "test_served_as_trained_by_default"
    )


def _is_itself(given: argparse.Namespace) -> bool:
    return _file_and_name(given.first) == _file_and_name(given.second)


def _file_and_name(spec: str) -> str:
    """The spec; of one that names a Python file, with the path of this file."""
    path, _, name = spec.rpartition(":")
    return (
        f"{Path(path).expanduser().resolve()}:{name}" if path.endswith(".py") else spec
    )


def _require_options(given: argparse.Namespace) -> None:
    """End the program if pytest is given an option that the command gives it."""
    if given.pytest and not given.pytest[0].startswith("-"):
        given.parser.error(
            f"two recommenders are compared, so {given.pytest[0]!r} is one too many",
        )
    for argument in given.pytest:
        name = argument.partition("=")[0]
        if name in OWN:
            given.parser.error(f"{name}: {OWN[name]}")
