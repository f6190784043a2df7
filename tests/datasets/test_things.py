"""What the items of the data are called, in prompts and in LRWorld's questions."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.requests import Completion, Prompt, Request
from pytest_recsys_mt.suites.lrworld import MEASURES, questions_for
from tests.extras import need
from tests.support.llm import LLMRecommender
from tests.support.requests import plural
from tests.support.suites_lrworld import prompt

DESCRIPTION = """
thing = "story"

[interactions]
file = "read.csv"
user = "user"
item = "item"
"""


class Silent:
    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [Completion("") for _ in prompts]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [
        f"u{user},i{(user * 7 + at * at) % 40}" for user in range(60) for at in range(9)
    ]
    path = tmp_path / "read.csv"
    path.write_text("user,item\n" + "\n".join(dict.fromkeys(rows)) + "\n")
    return path


def asked(source: str | Path, template: str) -> str:
    dataset = load(source)
    recommender = LLMRecommender(Silent(), template)
    recommender.fit(dataset, 0)
    user, history = next(iter(dataset.histories.items()))
    request = Request(
        user,
        history[:3],
        dataset.scale,
        tuple(dataset.items.values())[:5],
        k=2,
    )
    return recommender.render(request).messages[0].content


@pytest.mark.parametrize("template", ["person", "rank"])
def test_a_prompt_has_the_word_of_the_data(table: Path, template: str) -> None:
    assert "items" in asked(table, template)
    books = asked(f"{table}?thing=book", template)
    assert "books" in books
    assert "item" not in books.replace("items.csv", "")
    (table.parent / "mine.toml").write_text(DESCRIPTION)
    assert "these stories" in asked(table.parent / "mine.toml", template)


def test_a_template_of_ones_own_has_the_word_where_it_wants(
    table: Path,
    tmp_path: Path,
) -> None:
    own = tmp_path / "own.txt"
    own.write_text("Which {item} of these {items}?\nAfter {chosen}\n{candidates}")
    assert asked(f"{table}?thing=dish", str(own)).startswith(
        "Which dish of these dishes?",
    )


def test_a_question_has_the_word_of_the_data(table: Path) -> None:
    need("torch")
    measure = next(each for each in MEASURES if each.name == "user_to_items")
    question = questions_for(measure, load(f"{table}?thing=book"), 5, 0)[0]
    text = prompt(question).messages[0].content
    assert "which book a user will read next" in text
    assert "movie" not in text


def test_a_run_with_another_word_is_one_on_other_data(table: Path) -> None:
    assert (
        len(
            {
                load(f"{table}{word}").digest
                for word in ("", "?thing=book", "?thing=song")
            },
        )
        == 3
    )
    assert load(table).digest == load(f"{table}?sep=,").digest


def test_the_word_is_a_word(table: Path) -> None:
    with pytest.raises(DataError, match="thing='two\\\\nlines' is no word"):
        load(f"{table}?thing=two\nlines")


def test_plurals_are_those_of_things() -> None:
    words = (
        "book", "story", "toy", "dish", "box", "news article", "person", "bus", "class", "news", "TV series", "movies",
    )  # fmt: skip
    assert [plural(each) for each in words] == [
        "books", "stories", "toys", "dishes", "boxes", "news articles", "people", "buses", "classes", "news",
        "TV series", "movies",
    ]  # fmt: skip


LAST = """
class Last:
    deterministic = True

    def recommend(self, requests):
        from pytest_recsys_mt import Recommendation
        return [Recommendation(tuple(i.id for i in r.candidates[: r.k])) for r in requests]
"""
ORDER = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import shuffle_candidates

@metamorphic(shuffle_candidates)
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.1)
"""


def test_a_report_has_the_word_of_the_data(
    table: Path,
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(last=LAST, test_order=ORDER)
    data = f"--recsys-data={table}?thing=book"
    done = pytester.runpytest("--recsys-model=last.py:Last", "--recsys-users=40", data)
    done.stdout.re_match_lines(
        [r"smallest example: user u\d+, \d+ of \d+ books of the history, .*"],
    )
