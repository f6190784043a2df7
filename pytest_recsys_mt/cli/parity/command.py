"""The command `recsys-mt parity`: one run of pytest, with a test of two recommenders."""

import argparse
import subprocess
import sys
from typing import Any

PERCENT = ("1", "2", "5", "10")
"""The margins that there are tests for, in percent; see `promise`."""

DESCRIPTION = """\
Ask two recommenders that should be one the same requests, and say whether they answer alike beyond the noise of both:
a model and its service, an index and its rebuilt one, a release and its candidate. Each is named as --recsys-model
names one. Further arguments go to pytest, as in: recsys-mt parity shop:Offline https://shop.example/rank
--recsys-json=parity.json
"""


def add(groups: Any) -> None:
    """Declare the command and its options."""
    parity = groups.add_parser(
        "parity",
        help="ask two recommenders the same, and see whether they answer alike",
        usage="recsys-mt parity A B [OPTION ...] [pytest's arguments]",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    option = parity.add_argument
    option("recommenders", nargs=2, metavar="SPEC", help="the recommenders, such as shop:Offline")
    option("--data", metavar="DATA", help="the data whose users are asked (default: as in pytest)")
    option(
        "--users", type=int, metavar="N", help="how many users may be asked (default: as in pytest)"
    )
    option(
        "--margin", choices=PERCENT, metavar="PERCENT",
        help="percent of the users whose list may differ, and of the agreement that noisy recommenders may lose on "
        f"average: {', '.join(PERCENT)} (default: 2 of the users, 5 of the agreement)",
    )  # fmt: skip
    option("--exact", action="store_true", help="not one list may differ")
    parity.set_defaults(command=run, parser=parity, pytest=[])


def run(given: argparse.Namespace) -> int:
    """Run the command.

    Returns:
        The exit status of pytest: 0 if both answer alike, 1 if they do not or nothing could be shown.
    """
    return subprocess.run(
        [sys.executable, "-m", "pytest", *arguments(given)], check=False
    ).returncode


def arguments(given: argparse.Namespace) -> list[str]:
    """The arguments of pytest that the command stands for."""
    ours, theirs = given.recommenders
    if ours == theirs:
        given.parser.error(
            f"both recommenders are {ours!r}; whether one answers alike twice is what "
            f"same_seed_same_answer asks: pytest --pyargs pytest_recsys_mt.suites.metamorphic -k same_seed"
        )
    chosen = "test_served_as_trained_by_default"
    if given.exact:
        chosen = "test_not_one_list_differs"
    elif given.margin is not None:
        chosen = f"within_{given.margin}_percent"
    found = [
        "-q",
        "--pyargs",
        "pytest_recsys_mt.cli.parity.promise",
        "-k",
        chosen,
        f"--recsys-model={ours}",
        f"--recsys-against={theirs}",
    ]
    if given.data is not None:
        found.append(f"--recsys-data={given.data}")
    if given.users is not None:
        found.append(f"--recsys-users={given.users}")
    if not any(argument.startswith("--recsys-keep") for argument in given.pytest):
        # All users are asked, not as many as the verdict takes: the share of changed lists is wanted, and what they share.
        found.append("--recsys-keep=baseline")
    return [*found, *given.pytest]
