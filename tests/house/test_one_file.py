"""What is added takes one file and no other edit, or for an option one edit: a script
adds it to a copy of the tree, and all that is said of its kind is true of it.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RELATION = '''"""Ratings rounded to whole steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.relations.sources import HOUSE
from pytest_recsys_mt.relations.transformation import Transformation, call_name, usual
from pytest_recsys_mt.requests import Request, World

if TYPE_CHECKING:
    from numpy.random import Generator


@usual(1)
def lower_ratings(by: int) -> Transformation:
    """Lower every rating, as far as the scale goes.

    Source:
        A test of this project.

    Example:
        >>> import numpy as np
        >>> from pytest_recsys_mt.requests import Item, Rating, Request, Scale
        >>> request = Request("u", (Rating(Item("a"), 4),), Scale(1, 5), candidates=None, k=1)
        >>> lower_ratings(1)(request, np.random.default_rng(0)).history[0].value
        3.0

    Args:
        by: How much lower.
    """

    def apply(request: Request, rng: Generator, world: World) -> Request:
        if not request.history:
            raise NotApplicable("the history is empty")
        low = request.scale.low
        if all(rating.value == low for rating in request.history):
            raise NotApplicable("every rating is the lowest")
        history = tuple(
            replace(rating, value=float(max(low, rating.value - by))) for rating in request.history
        )
        return request.replace(history=history)

    return Transformation(
        name=call_name("lower_ratings", by),
        apply=apply,
        promise="The ranking hardly changes when every rating is lower.",
        changes=frozenset({"history"}),
        needs=frozenset({"ratings"}),
        origin=HOUSE,
    )
'''

ORACLE = '''"""The answers must not change at all."""

from __future__ import annotations

from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, Pairs
from pytest_recsys_mt.oracles.judging.difference import judge_mean, scored
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.verdict.verdict import Verdict


def same_first(source: Answers, followup: Answers, margin: float = 0.1) -> Verdict:
    """Hardly any user gets another first item.

    Example:
        assert same_first(source, followup, margin=0.1)

    Args:
        source: Answers to the original requests.
        followup: Answers to the transformed requests.
        margin: Largest share of users.
    """

    told = "share of changed first items"
    return judge_mean("same_first", "at most", source, followup, margin, measures=told, measure=_changed)


def _changed(pairs: Pairs, context: Context) -> Effects:
    def changed(source: Asked, followup: Asked) -> float:
        both = zip(source.answers, followup.answers, strict=True)
        moved = [one.items[:1] != other.items[:1] for one, other in both]
        return sum(moved) / len(moved)

    return scored(changed, pairs.source, pairs.followup)[0]
'''
USED = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_first
from pytest_recsys_mt.relations import shuffle_candidates


@metamorphic(shuffle_candidates)
def test_the_first_stays(source, followup):
    assert same_first(source, followup)
"""


SCORE = '''"""Blockbusters: the share of a list that many users have."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_recsys_mt.verdict.answers import Asked, Context
from pytest_recsys_mt.oracles.scores.makers import listed, unit
from pytest_recsys_mt.oracles.scores.popularity_scores import Scored


def blockbusters(counts: Sequence[int], places: int) -> float:
    """Share of the places whose items have at least 50 interactions.

    Args:
        counts: Number for each item.
        places: K, at least 1.
    """
    return sum(count >= 50 for count in counts) / places


def _blockbusters(items: Sequence[str], asked: Asked, context: Context, depth: int) -> Scored:
    return blockbusters([context.popularity.get(item, 0) for item in items], depth), 0


SCORES_AT = {"blockbusters": listed(_blockbusters, unit)}
'''

SIMILARITY = '''"""Dice's coefficient of the two sets of items."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.similarities.kernel import Chunk, by_chunk, new_matches


def dice(a: ArrayLike, b: ArrayLike) -> Floats:
    """Common items over the mean length.

    Args:
        a: Item numbers, ``(n, k)``, without repeats, padded with -1 at the end.
        b: The lists to compare with.
    """
    return by_chunk(a, b, _dice)


def _dice(chunk: Chunk) -> Floats:
    common = new_matches(chunk).sum(axis=0, dtype=np.int64)
    out: Floats = 2 * common / (chunk.a_length + chunk.b_length)
    return out


SIMILARITY = dice
'''

AGGREGATE = '''"""Top share: how many users get the item that most users get."""

from __future__ import annotations

import numpy as np

from pytest_recsys_mt.oracles.aggregates.aggregate import of_exposure
from pytest_recsys_mt.oracles.aggregates.exposure import Exposure
from pytest_recsys_mt.oracles.arrays import Floats


def _top_share(exposure: Exposure) -> float | None:
    users = len(exposure.all_but)
    return float(exposure.shown.max(initial=0) / users) if users else None


def _without_each(exposure: Exposure) -> Floats:
    users = len(exposure.all_but)
    left = exposure.shown - exposure.recommended.toarray()
    return left.max(axis=1, initial=0) / (users - 1) if users > 1 else np.full(users, np.nan)


AGGREGATES = {"top_share": of_exposure(_top_share, _without_each, "without users")}
'''

FORMAT = """
name = "Board games"
source = "https://example.org/games"

[interactions]
file = "plays.csv"
sep = ";"
user = "player"
item = "game"
rating = "fun"
scale = [1, 10]

[items]
file = "games.csv"
item = "game"
title = "box"
"""

RECOMMENDER = '''"""The newest items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.scoring import Floats, ScoringRecommender
from pytest_recsys_mt.requests import Request


@dataclass(eq=False)
class Newest(ScoringRecommender):
    """The items of the latest years; the history does not matter."""

    key: ClassVar[str] = "newest"

    until: int = 2100

    def learn(self, dataset: Dataset, seed: int) -> None:
        years = [dataset.items[item].year or 0 for item in self.catalogue.ids]
        self._years = np.array([year if year <= self.until else 0 for year in years], np.float64)

    def score(self, requests: Sequence[Request]) -> Floats:
        return np.tile(self._years, (len(requests), 1))
'''

TRAINED = '''"""A smaller BPRMF."""

from dataclasses import dataclass
from typing import ClassVar

from pytest_recsys_mt.recommenders.trained.bprmf import BPRMF


@dataclass(eq=False)
class TinyMF(BPRMF):
    """Matrix factorisation with few dimensions."""

    key: ClassVar[str] = "tinymf"

    dim: int = 4
'''

OPTION = """    courage: int = option(
        "how much is dared (default: 3)",
        "N",
        default=3,
        read=whole_number(1),
        recorded=True,
    )
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package and the tests of what is added, as one tree without links."""
    # With what is compiled, which saves compiling 500 files in each test.
    shutil.copytree(ROOT / "pytest_recsys_mt", tmp_path / "pytest_recsys_mt")
    for folder in ("oracles", "recommenders", "relations", "strategies", "support"):
        shutil.copytree(ROOT / "tests" / folder, tmp_path / "tests" / folder)
    for name in (
        "scripts/docs_pages.py", "scripts/exports", "SECURITY.md", "pyproject.toml", "tests/extras.py",
        "tests/laws.py",
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "tests" / "__init__.py").touch()
    return tmp_path


def run(copy: Path, *arguments: str, status: int = 0) -> str:
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    done = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def passed(copy: Path, selected: str, *places: str) -> int:
    """How many of the tests of a kind pass."""
    tests = [f"tests/{place}" for place in places]
    said = run(
        copy,
        "-m",
        "pytest",
        *tests,
        "-q",
        "-k",
        selected,
        "-p",
        "no:cacheprovider",
    )
    return int(said.split(" passed")[0].split()[-1])


def page_of(copy: Path, *kinds: str) -> str:
    """The pages of the documentation on some kinds."""
    pages = "".join(
        f"print(*docs_pages.{kind}_page(), sep=chr(10)); " for kind in kinds
    )
    return run(copy, "-c", f"from scripts import docs_pages; {pages}")


def test_a_relation_is_one_file(copy: Path) -> None:
    (copy / "pytest_recsys_mt" / "relations" / "lower_ratings.py").write_text(RELATION)
    places = (
        "relations/test_every_relation.py",
        "relations/test_transformation.py",
        "strategies",
    )
    # Laws of all relations, of which one says that they cover it; those that draw
    # requests take long.
    laws = "cover_every or names_are or full_request or are_told or is_declared"
    assert (
        passed(copy, f"lower_ratings or transformation_is_drawn or {laws}", *places)
        >= 8
    )
    page = page_of(copy, "relations")
    assert "## lower_ratings" in page
    assert "hardly changes when every rating is lower.* Needs" in page


@pytest.mark.slow  # found as relations and oracles are
def test_a_score_a_similarity_and_an_aggregate_are_one_file_each(copy: Path) -> None:
    oracles = copy / "pytest_recsys_mt" / "oracles"
    (oracles / "scores" / "blockbusters.py").write_text(SCORE)
    (oracles / "similarities" / "dice.py").write_text(SIMILARITY)
    (oracles / "aggregates" / "top_share.py").write_text(AGGREGATE)
    tests = ("list_scores", "rankings", "aggregates")
    places = [f"oracles/test_{name}.py" for name in tests]
    assert passed(copy, "blockbusters or dice or top_share", *places) >= 5
    page = page_of(copy, "oracles")
    assert "## blockbusters" in page
    assert "## dice" in page
    public = oracles / "__init__.pyi"
    before = set(public.read_text().splitlines())
    run(copy, "scripts/exports")
    room = "from pytest_recsys_mt.oracles"
    assert set(public.read_text().splitlines()) == before | {
        f"{room}.scores.blockbusters import blockbusters as blockbusters",
        f"{room}.similarities.dice import dice as dice",
        *('    "blockbusters",', '    "dice",'),  # of its `__all__`
    }


@pytest.mark.slow  # found as relations are
def test_a_format_of_data_is_one_file(copy: Path) -> None:
    (
        copy / "pytest_recsys_mt" / "datasets" / "formats" / "board-games.toml"
    ).write_text(FORMAT)
    (copy / "games").mkdir()
    (copy / "games" / "games.csv").write_text("game,box\n1,Go\n2,Chess\n")
    code = "from pytest_recsys_mt.datasets import load; print(load('games').items)"
    said = run(copy, "-c", code, status=1)
    assert "looks like Board games, but lacks plays.csv" in said
    (copy / "games" / "plays.csv").write_text("player;game;fun\n7;1;8\n8;2;3\n")
    assert "Chess" in run(copy, "-c", code)
    assert "| [Board games](https://example.org/games) |" in page_of(copy, "formats")


def test_a_recommender_is_one_file(copy: Path) -> None:
    recommenders = copy / "pytest_recsys_mt" / "recommenders"
    (recommenders / "newest.py").write_text(RECOMMENDER)
    (recommenders / "trained" / "tinymf.py").write_text(TRAINED)
    assert passed(copy, "newest", "recommenders/test_invariances.py") >= 3
    code = "import sys; from pytest_recsys_mt.recommenders import NAMES; print(NAMES, 'torch' in sys.modules)"
    said = run(copy, "-c", code)
    assert "'newest'" in said
    assert "'tinymf'" in said
    assert said.split()[-1] == "False"
    page = page_of(copy, "built_in")
    assert (
        "| `newest` | The items of the latest years; the history does not matter. | `until=2100` |"
        in page
    )
    assert "| `tinymf` | Matrix factorisation with few dimensions. | `dim=4`" in page


def test_an_oracle_is_one_file_and_an_option_is_one_edit(copy: Path) -> None:
    settings = copy / "pytest_recsys_mt" / "engine" / "settings.py"
    text, end = settings.read_text(), "\n    models_given: bool = False"
    assert text.count(end) == 1
    settings.write_text(text.replace(end, OPTION + end))
    (copy / "pytest_recsys_mt" / "oracles" / "same_first.py").write_text(ORACLE)
    (copy / "test_used.py").write_text(USED)
    given = ("--recsys-courage=7", "--recsys-json=record.json", "--recsys-users=60")
    run(copy, "-m", "pytest", "test_used.py", *given, "-p", "no:cacheprovider")
    record = json.loads((copy / "record.json").read_text())
    (row,) = record["results"]
    assert (row["oracle"], row["status"]) == ("same_first", "holds")
    pages = page_of(copy, "oracles", "options")
    assert "## same_first" in pages
    assert record["settings"]["courage"] == 7
    (copy / "pytest.ini").write_text("[pytest]\nrecsys_courage = 0\n")
    refused = run(copy, "-m", "pytest", status=4)
    assert "ini option recsys_courage='0': a whole number from 1 is needed" in refused
    row = "| `--recsys-courage=N` | `recsys_courage` | how much is dared (default: 3) |"
    assert row in pages
