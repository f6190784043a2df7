"""The command `recsys-mt questions`."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any, get_args

from pytest_recsys_mt.datasets.options import Repeats


def add(groups: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its options."""
    questions = groups.add_parser(
        "questions",
        help="make the questions of suites/lrworld once, and write them to a file",
        description="Make the questions of suites/lrworld from data and write them to a file, which "
        "--recsys-questions=FILE asks. Whoever asks the file asks the same questions; a file that was "
        "changed is refused.",
    )
    option = questions.add_argument
    option("file", type=Path, metavar="FILE", help="where the questions go")
    option(
        "--data",
        default="mini",
        metavar="NAME|PATH",
        help="as --recsys-data (default: mini)",
    )
    option(
        "--repeats",
        choices=get_args(Repeats),
        default="latest",
        help="as recsys_repeats",
    )
    option(
        "--kind", action="append", default=[], metavar="NAME",
        help="only this kind; repeat the option to name several (default: all that the data allow)",
    )  # fmt: skip
    option(
        "--count", type=partial(_whole_number, least=1), default=200, metavar="N",
        help="most questions of a kind, as --recsys-users (default: 200)",
    )  # fmt: skip
    seed = "as --recsys-seed (default: 0)"
    option("--seed", type=_whole_number, default=0, metavar="S", help=seed)
    option(
        "--setting", action="append", default=[], metavar="NAME=VALUE",
        help="how they are made, such as support=0.02, as recsys_question_setting; repeat the option to set several",
    )  # fmt: skip
    word = (
        "word for an item, for a table of your own: book (default: as its columns tell)"
    )
    option("--domain", metavar="WORD", help=word)
    questions.set_defaults(command=written)


def written(given: argparse.Namespace) -> int:
    """Write the file, and say what it holds."""
    from collections import Counter

    from pytest_recsys_mt.datasets import load
    from pytest_recsys_mt.safety.errors import DataError, meant
    from pytest_recsys_mt.safety.sanitize import one_line
    from pytest_recsys_mt.suites.lrworld.generator import generate
    from pytest_recsys_mt.suites.lrworld.generator_settings import Settings
    from pytest_recsys_mt.suites.lrworld.question import KINDS
    from pytest_recsys_mt.suites.lrworld.question_file import QuestionFile, measures_of

    if given.file.is_file():  # what holds no questions is not replaced
        QuestionFile.read(given.file)
    settings = Settings.of(given.setting)
    dataset = load(
        given.data,
        repeats=given.repeats,
        told=lambda note: print(f"note: {note}"),
    ).known
    measures = {each.name: each for each in measures_of(dataset.family)}
    for kind in given.kind:
        if kind not in measures:
            hint = "" if kind in KINDS else meant(kind, measures)
            raise DataError(
                f"--kind={kind!r}: no test asks such questions about {dataset.name}; choose from "
                f"{', '.join(measures)}{hint}",
            )
    if dataset.family and given.domain:
        raise DataError(
            f"--domain={given.domain!r} is for a table of your own; {dataset.name} is in the format "
            f"of {dataset.family}, whose questions have their word for an item",
        )
    names = given.kind or list(measures)
    domain = measures[names[0]].domain if dataset.family else given.domain
    made = generate(
        dataset,
        names,
        count=given.count,
        seed=given.seed,
        domain=domain,
        settings=settings,
    )
    if not made.questions:
        reasons = "; ".join(
            f"{kind}: {reason}" for kind, reason in made.skipped.items()
        )
        raise DataError(f"no question can be made from {dataset.name}: {reasons}")
    made.save(given.file)
    counts = Counter(each.measure for each in made.questions)
    for kind, count in counts.items():
        print(f"{kind:<15}{count:>6}")
    for kind, reason in made.skipped.items():
        print(one_line(f"{kind:<15}  none: {reason}"))
    digest = QuestionFile.read(given.file).digest
    print(
        f"{sum(counts.values())} questions in {one_line(str(given.file))}\nSHA-256 {digest}",
    )
    return 0


def _whole_number(text: str, least: int = 0) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least}")
    return int(text)
