# ruff: noqa: RUF009 (`option` and `setting` return fields)
"""The settings of requests: recommenders, data, users, designs, prompts.

`settings` has all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from pytest_recsys_mt.datasets.options import Repeats
from pytest_recsys_mt.engine.options import choice, flag, option, recorded, setting
from pytest_recsys_mt.extensions import paper_prompts
from pytest_recsys_mt.extensions.options import Option, names, share, whole_number
from pytest_recsys_mt.llm.prompt_texts import OwnTexts
from pytest_recsys_mt.llm.prompt_texts import read as read_texts
from pytest_recsys_mt.requests.design import PROMPT, Design


def _texts(given: str) -> OwnTexts:
    """The texts that ``--recsys-prompts`` names."""
    return read_texts(given, paper_prompts())


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSettings:
    """The settings of the requests of a run."""

    models: tuple[str, ...] = option(
        "recommender to test; repeat the option to test several (default: itemknn)",
        "SPEC",
        default=("itemknn",),
        repeatable=True,
        name="model",
    )
    against: str | None = recorded(
        "recommender that suites/arena and suites/multidimensional compare the tested one with "
        "(default in suites/arena: mostpop)",
        "SPEC",
        in_ini=False,
    )
    profiler: str | None = recorded(
        "language model that describes users from their histories (default: the one under test)",
        "SPEC",
    )
    recall: tuple[str, ...] = option(
        "recommender whose top list a re-ranking task takes candidates from; blanks stand "
        "between several (default: itemknn, userknn, bm25, mostpop)",
        "SPEC",
        default=("itemknn", "userknn", "bm25", "mostpop"),
        repeatable=True,
    )
    sampler: str | None = option(
        "recommender that checks the sample: users are drawn again until a Kolmogorov-Smirnov test "
        "finds no difference between its accuracy on them and on all users (default: the first sample)",
        "SPEC",
    )
    core: int = option(
        "minimum number of interactions of each user and each item; users and items with fewer are "
        "removed (default: 0, all stay)",
        "N",
        default=0,
        read=whole_number(0),
    )
    data: str = option(
        "dataset: a name, the path of a table or of a folder, or code that gives tables (default: mini)",
        "NAME|PATH|FILE.py:NAME",
        default="mini",
    )
    repeats: Repeats = choice(
        "what becomes of rows that repeat a user and an item; latest: the latest is kept; count: "
        "their number is the rating, in data without ratings; refuse: they are an error (default: latest)",
        "|".join(get_args(Repeats)),
        default="latest",
        recorded=True,
    )
    design: Design = setting(
        Option(
            "users",
            "users to sample; a verdict may stop before it has asked all of them (default: 200)",
            "N",
            default=200,
            read=whole_number(2),
        ),
        Option(
            "history",
            "history items in a request (default: 20)",
            "M",
            default=20,
            read=whole_number(1),
        ),
        Option(
            "candidates",
            "candidates in a request, the held-out item among them; 0 is the whole catalogue (default: 20)",
            "N",
            default=20,
            read=whole_number(0),
        ),
        Option(
            "k",
            "items in an answer (default: 10)",
            "K",
            default=10,
            read=whole_number(1),
        ),
        Option(
            "replicates",
            "calls for each user's source, and as many for the follow-up, if the recommender is not "
            "deterministic (default: 2)",
            "R",
            default=2,
            read=whole_number(1),
        ),
        make=Design,
    )
    seed: int = option(
        "seed of all random draws (default: 0)",
        "S",
        default=0,
        read=whole_number(0),
    )
    alpha: float = recorded(
        "error rate of each claim (default: 0.05)",
        "A",
        default=0.05,
        read=share(0, 0.5),
    )
    slices: tuple[str, ...] = recorded(
        "groups that every verdict on users judges beside all users: activity, genre, ratings, taste, or attributes of "
        "users; items:popularity, or items: with an attribute of items; commas between them (default: none)",
        "NAMES",
        default=(),
        read=names,
    )
    shown: tuple[str, ...] = option(
        "user whose answers the record keeps in every verdict, for `recsys-mt answers --user`; blanks stand between "
        "several (default: the users who break a promise most, and two who keep it)",
        "USER",
        default=(),
        repeatable=True,
        name="show-user",
    )
    unit: str | None = recorded(
        "an attribute of users, such as household: of those who share its value one is asked, since answers to them "
        "are not independent (default: users are)",
        "NAME",
    )
    prompt: str | None = recorded(
        f"prompt template for language models (default: the suite's, else {PROMPT})",
        "NAME",
    )
    prompts: OwnTexts | None = recorded(
        "TOML file with prompts and instructions in your own words, as `recsys-mt prompts` writes one; paper: the "
        "words that the suites' papers print (default: the package's)",
        "FILE|paper",
        read=_texts,
    )
    exact: bool = flag(
        "local models (hf:) answer each prompt alone, in float32 on one thread, so that no answer "
        "depends on its neighbours; slow",
        recorded=True,
    )
