"""The index finds the misspelt titles that a scan of all names finds, and no others."""

from __future__ import annotations

import random
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz, process

from pytest_recsys_mt.requests import Item
from tests.llm.hard_titles import cases, catalogue
from tests.llm.world import CATALOGUE, items
from tests.support.llm_reading import (
    MIN_LENGTH,
    MIN_MARGIN,
    MIN_SCORE,
    YEAR_SLACK,
    MostSimilar,
    NearWords,
    Scope,
    TitleIndex,
    is_misspelling,
    misspelt,
    normalise,
    words,
)


class Scan(Scope):
    """Compares a text with every name, and the eight most similar ones word by word."""

    def _misspelt(
        self,
        text: str,
        year: int | None,
        used: Collection[str],
    ) -> Item | None:
        key, spelling = normalise(text), words(text)
        if len(key) < MIN_LENGTH:
            return None
        scores: dict[str, tuple[float, Item]] = {}
        for group in self._groups:
            near = process.extract(
                key,
                group.by_name.keys(),
                scorer=fuzz.ratio,
                score_cutoff=MIN_SCORE,
                limit=8,
            )
            for name, score, _ in near:
                names = [
                    n
                    for n in group.by_name[name]
                    if (
                        group.closed
                        or len(spelling) > 1
                        or (year is not None and n.year == year)
                    )
                    and self._is_misspelling(
                        spelling,
                        n,
                        dated=year is not None and n.year == year,
                    )
                ]
                item = self._chosen(group.standing(names, year, YEAR_SLACK), used)
                if item is not None and name not in scores:
                    scores[name] = (score, item)
        ranked = sorted(scores.values(), key=lambda hit: -hit[0])
        if not ranked:
            return None
        best, item = ranked[0]
        rivals = [score for score, other in ranked[1:] if other.id != item.id]
        return None if rivals and best - rivals[0] < MIN_MARGIN else item


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are left out before they are compared also in these small catalogues."""
    monkeypatch.setattr(misspelt, "MANY", 1)


def slipped(text: str, rng: random.Random) -> str:
    """A text with a letter too many, too few, or other, or two neighbours swapped."""
    at = rng.randrange(max(1, len(text) - 1))
    kind, letter = rng.randrange(4), rng.choice("aeinrst")
    if kind == 0:
        return text[:at] + letter + text[at:]
    if kind == 3:
        return text[:at] + text[at : at + 2][::-1] + text[at + 2 :]
    return text[:at] + (letter if kind == 1 else "") + text[at + 1 :]


def assert_as_scanned(
    index: TitleIndex,
    offered: tuple[Item, ...],
    texts: list[str],
) -> int:
    """How many texts the scan finds; each must find the same without it."""
    scope = index.scope(offered)
    scan = Scan(scope._groups, scope._copies)
    wanted = [scan.find(text) for text in texts]
    assert [scope.find(text) for text in texts] == wanted
    return sum(item is not None for item in wanted)


# Few letters and few words: most names are near others, and more than eight compete for
# a text.
WORD = st.text("aeinst", min_size=1, max_size=9) | st.sampled_from(
    [
        "the",
        "two",
        "2",
        "ii",
        "station",
        "stations",
        "stasion",
        "nineties",
        "ninties",
        "saint",
    ],
)
TITLE = st.lists(WORD, min_size=1, max_size=5).map(" ".join)
YEAR = st.none() | st.integers(1990, 1993)


@given(
    st.lists(st.tuples(TITLE, YEAR), min_size=1, max_size=30),
    st.lists(st.tuples(TITLE, YEAR), max_size=3),
    st.integers(0, 2),
    st.randoms(use_true_random=False),
)
def test_made_titles_and_their_slips(
    films: list[tuple[str, int | None]],
    others: list[tuple[str, int | None]],
    offered: int,
    rng: random.Random,
) -> None:
    known = [Item(str(place), *film) for place, film in enumerate(films)]
    texts = []
    for title, year in [*films, *others]:
        for text in (title, slipped(title, rng), slipped(slipped(title, rng), rng)):
            texts += [text, text if year is None else f"{text} ({year})"]
    assert_as_scanned(TitleIndex(known), tuple(known[:offered]), texts)


def test_a_title_behind_eight_more_similar_names_is_none() -> None:
    """The scan takes the eight most similar names,
    whatever their words; so does the index.
    """
    title = "The Extraordinary Gentlemen Collection"
    beside = [
        Item(str(n), f"Extraordinary Gentlmen Collection {n}") for n in range(10, 30)
    ]
    index = TitleIndex([*beside, Item("x", title)])
    assert_as_scanned(index, (), ["Extraordinary Gentlmen Collection"])
    assert index.find("Extraordinary Gentlmen Collection") is None
    assert (
        TitleIndex([Item("x", title)]).find("Extraordinary Gentlmen Collection")
        is not None
    )


def test_slips_of_labelled_and_collected_titles() -> None:
    films = catalogue()
    rng = random.Random(0)
    texts = [case.written for case in cases()]
    for label in films:
        texts += [slipped(label, rng), slipped(slipped(label, rng), rng)]
        texts.append(slipped(label.rpartition(" (")[0], rng))
    found = assert_as_scanned(TitleIndex(films.values()), (), texts)
    assert len(texts) / 4 < found < len(texts)  # both outcomes are compared
    slips = [slipped(item.title, rng) for item in CATALOGUE.values() for _ in range(5)]
    assert_as_scanned(
        TitleIndex(CATALOGUE.values()),
        items("heat", "alien", "goodfellas"),
        slips,
    )


@given(st.lists(WORD, max_size=30), WORD)
def test_near_words_are_all_that_a_word_may_misspell(
    known: list[str],
    written: str,
) -> None:
    near = NearWords(frozenset(known)).near(written, (-1, 0, 1))
    assert len(near) == len(set(near))
    context = ("station", "stations")  # long equal words: what allows most
    wanted = {
        word
        for word in known
        if is_misspelling((*context, written), (*context, word), dated=True)
    }
    assert wanted <= set(near)


@pytest.mark.parametrize(
    "written",
    ["staitons", "sattions", "stationns", "staions", "stetions"],
)
def test_every_kind_of_slip_is_near(written: str) -> None:
    assert NearWords({"stations", "stallions"}).near(written, (-1, 0, 1)) == [
        "stations",
    ]


NAME = st.text("abc\U0001f600é", min_size=1, max_size=12)


@given(
    st.lists(NAME, unique=True, max_size=40),
    NAME,
    st.sampled_from([50.0, 75.0, 88.0]),
)
def test_most_similar_names(names: list[str], text: str, least: float) -> None:
    scanned = process.extract(
        text,
        names,
        scorer=fuzz.ratio,
        score_cutoff=least,
        limit=8,
    )
    wanted = [(name, score) for name, score, _ in scanned]
    assert MostSimilar(names).best(text, least, 8) == wanted
