"""``--recsys-prompts=paper`` sends the words that the papers print: whole messages are
compared with the papers' texts, word by word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from pytest_recsys_mt.requests import Item, Message, Rating, Request, Scale
from pytest_recsys_mt.suites.arena import ASPECTS, Comparison, Showing
from pytest_recsys_mt.suites.lrworld import (
    KINDS,
    LASTFM,
    MEASURES,
    Measure,
    Question,
)
from tests.support.llm import LLMRecommender, render
from tests.support.llm_prompt_texts import paper_prompts, prompt_texts
from tests.support.suites_arena import choice_prompt, read_conclusion, whole_prompt
from tests.support.suites_lrworld import describing, prompt, read

PAPERS = Path(__file__).resolve().parents[3] / "shared" / "papers"
PRINTED = pytest.mark.skipif(
    not PAPERS.is_dir(),
    reason="the texts of the papers are not here",
)
IMAGE = "data:image/png;base64,AA=="


@pytest.fixture(autouse=True)
def words_of_the_papers() -> Iterator[None]:
    prompt_texts.use(prompt_texts.read("paper", paper_prompts()))
    yield
    prompt_texts.leave()


@cache
def printed(name: str) -> str:
    """A paper without the marks of its extraction: bold, code fences, typographic
    quotes, escaped underscores.
    """
    text = (PAPERS / f"{name}.txt").read_text(encoding="utf-8")
    text = text.replace("**", "").replace("```", "").replace("\\_", "_")
    return text.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})


def words(text: str) -> str:
    return " ".join(text.split())


def only(messages: tuple[Message, ...]) -> str:
    """The text of the one message; no paper prints a system message."""
    (message,) = messages
    assert message.role == "user"
    return words(message.content)


def between(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0]


# LRWorld ---------------------------------------------------------------------------

HEADINGS = {
    "rules": "[Association] rules mining",
    "similar_items": "[Personalization] memory-based item-item similarity",
    "similar_users": "[Personalization] memory-based user-user similarity",
    "user_to_items": "[Personalization] neural user embedding retrieving her matched items",
    "item_to_users": "[Personalization] neural item embedding retrieving its matched users",
    "brand": "[Knowledgeability] entity-relation-entity <product, brand>",
    "colour": "[Knowledgeability] entity-attribute <product, color>",
    "leaf": "[Knowledgeability] hierarchical taxonomy <product, leaf>",
    "logline": "[Knowledgeability] text knowledge <movie, logline>",
    "image": "[Knowledgeability] multimodal knowledge <product, image>",
}
"""The kinds whose prompts Figure 13 prints."""
LIKE = {
    "cast": ("brand", {"brand": "cast"}),
    "director": ("brand", {"brand": "director"}),
    "genre": ("colour", {"colors": "genres", "color": "genres"}),
    "intermediate": ("leaf", {}),
    "root": ("leaf", {}),
}
"""Those that are "similar to" one of them "by replacing" words."""
OF_MOVIES = {
    "products": "movies",
    "product": "movie",
    "purchasing": "watching",
    "purchased": "watched",
    "buy": "watch",
}
SHOWN = ("Heat (1995)", "Alien (1979)")
IN_LINES = {"logline", "image"}


def asked(measure: Measure) -> Question:
    kind = measure.kind
    shown: dict[str, object] = {"history": SHOWN}
    if kind.name in ("similar_items", "item_to_users"):
        shown = {"target": "Heat (1995), Crime"}
    if kind.name == "rules":
        shown = {"target": SHOWN}
    return Question(
        "1", kind.name, kind.scale, kind.factor, measure.domain, shown,
        tuple(f"Option {place}" for place in range(kind.options)), 0, images=(IMAGE,),
    )  # fmt: skip


def options(question: Question) -> str:
    lettered = question.scale == "knowledgeability"
    marks = "ABCD" if lettered else [str(each) for each in range(1, 11)]
    lines = zip(marks, question.options, strict=True)
    return " ".join(f"{mark}) {text}" for mark, text in lines)


def figure_13(measure: Measure) -> str:
    """The printed prompt of a measure, of its domain, with its fields."""
    like, others = LIKE.get(measure.name, (measure.name, {}))
    text = printed("lrworld").partition("[Association] rules mining\n")[2]
    text = "[Association] rules mining\n" + text
    found = between(text, f"{HEADINGS[like]}\n", "\n[")
    if like == "image":  # the next heading is not the first bracket of its line
        found = between(text, "[INST] <image>", "[/INST]")
    for old, new in others.items():
        found = found.replace(old, new)
    if measure.domain == "movie":
        if like == "image":
            found = found.replace("image", "poster")
        for old, new in OF_MOVIES.items():
            found = re.sub(rf"\b{old}\b", new, found)
    return words(found)


def filled(text: str, question: Question, **more: str) -> str:
    target = question.shown.get("target", question.shown.get("history"))
    way = "semicolons"
    if question.measure in IN_LINES:
        way = "lines"
    if question.measure == "user_to_items":
        way = "bullets"  # the paper says not how
    written = {
        "semicolons": "; ".join(SHOWN),
        "lines": " ".join(SHOWN),
        "bullets": " ".join(f"- {each}" for each in SHOWN),
    }[way]
    shown = target if isinstance(target, str) else written
    for name in ("Antecedent", "Target", "History"):
        text = text.replace(f"{{{name}}}", str(shown))
    for name in ("Candidates", "Loglines"):
        text = text.replace(f"{{{name}}}", options(question))
    for name, value in more.items():
        text = text.replace(f"{{{name}}}", value)
    return words(text)


@PRINTED
@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: f"{m.dataset}-{m.name}")
def test_lrworld_asks_as_figure_13_is_printed(measure: Measure) -> None:
    question = asked(measure)
    expected = filled(figure_13(measure), question)
    assert len(expected) > 300
    if measure.name == "image":
        assert only(prompt(question, image=True).messages) == expected
        # Without the picture nothing is said of it.
        expected = re.sub(r" Moreover, .*? provided for you\.", "", expected)
    assert only(prompt(question).messages) == expected
    thinking = f"{expected} {step_by_step()}"
    assert only(prompt(question, think=True).messages) == thinking


def step_by_step() -> str:
    """The sentence of section 5.4."""
    found = re.search(
        r'For the COT prompting, we append "(.*?)" to',
        printed("lrworld"),
    )
    assert found
    return found[1]


@PRINTED
def test_lrworld_shows_examples_as_figure_7_is_printed() -> None:
    (measure,) = [m for m in MEASURES if (m.dataset, m.name) == ("netflix", "logline")]
    question = asked(measure)
    figure = between(
        printed("lrworld"),
        "[Fewshot: Text-knowledge-reasoning]",
        "Figure 7:",
    )
    whole, _, one = figure.partition("#### [FewShotExamples]")
    example = one.partition('""')[2].rpartition('""')[0]
    example = filled(example, question, NextItem="Option 0")
    expected = filled(
        whole.strip().strip('"'),
        question,
        FewShotExamples=f"{example} --- {example}",
    )
    made = prompt(question, examples=(question, question))
    assert only(made.messages) == expected
    # Other kinds have the frame of this figure, below their own first words.
    other = asked(next(m for m in MEASURES if m.name == "brand"))
    text = only(prompt(other, examples=(other,)).messages)
    frame = between(expected, "as its logline. ", "<examples> I")
    assert frame
    assert frame in text
    assert text.replace(between(text, "product itself. ", "The order"), "") == only(
        prompt(other).messages,
    )


@PRINTED
@pytest.mark.parametrize("measure", LASTFM, ids=lambda m: m.name)
def test_lrworld_asks_of_artists_as_table_24_is_printed(measure: Measure) -> None:
    question = asked(measure)
    row = {"next_item": "<history, next-artist>", "genre": "<artist, genre>"}
    table = printed("lrworld").partition("Table 24: Evaluation")[2]
    expected = between(table, f"{row[measure.name]}\t", "\n")
    expected = expected.replace("[HistoryHere]", ", ".join(SHOWN))
    expected = expected.replace("[CansHere]", ", ".join(question.options))
    assert only(prompt(question).messages) == words(expected)


@PRINTED
def test_lrworld_has_posters_described_as_figure_3_is_printed() -> None:
    expected = between(printed("lrworld"), "[INST] <image> You", "[/INST]")
    assert only(describing("movie", IMAGE).messages) == words(f"You{expected}")


def test_lrworld_asks_in_the_default_words_what_no_paper_prints() -> None:
    kind = KINDS["next_item"]
    text = only(prompt(asked(Measure("mine", "movie", kind))).messages)
    assert "Exactly one of these is right." in text


@PRINTED
def test_lrworld_reads_the_printed_answers() -> None:
    """Figure 12, with the options of Table 26."""
    text = printed("lrworld")
    table = text.partition("Training Day (2001),Dramas Thrillers")[2]
    rows = re.findall(r"(?m)^\d+(?: \(Ground Truth\))?\t([^\t\n]+)\.\t", table)
    offered = tuple(row.replace("),", "), ") for row in rows[:10])
    question = Question(
        "1", "similar_items", "personalization", "", "movie", {"target": "Training Day (2001), Dramas Thrillers"}, offered, 9,
    )  # fmt: skip
    figure = between(text, "Item-Item Similarity", "Figure 12: A Case").replace(
        "\\", ""
    )
    said = {
        model: figure.partition(f"[{model}]\n")[2].partition("\n[GPT")[0]
        for model in ("GPT-3.5-Turbo", "GPT-4o-mini", "GPT-4o", "GPT-4-Turbo", "GPT-4")
    }
    chosen = {model: read(answer, question) for model, answer in said.items()}
    for model, place in chosen.items():
        predicted = re.search(rf"(?m)^{re.escape(model)}\t(\d+)", table)
        assert predicted, model
        assert place == int(predicted[1]) - 1, model


# The other papers ------------------------------------------------------------------

RATED = [
    ("Dukes of Hazzard, The", 2005, 2),
    ("Miss Congeniality", 2000, 3),
    ("Click", 2006, 1),
    ("Ultraviolet", 2006, 2),
    ("Monty Python and the Holy Grail", 1975, 4),
]


def example(factor: float = 1, offset: float = 0, low: int = 1) -> Request:
    """The example user of the metamorphic paper, ratings times `factor` plus `offset`."""
    history = tuple(
        Rating(Item(title, title, year), value * factor + offset)
        for title, year, value in RATED
    )
    scale = Scale(low, 5 * factor + offset)
    return Request("509", history, scale, None, k=5)


@PRINTED
@pytest.mark.parametrize(
    ("row", "request_"),
    [
        ("Original Prompt", example()),
        ("MR1: Rating multiplication", example(factor=2)),
        ("MR2: Rating shifting", example(offset=1, low=2)),
    ],
)
def test_metamorphic_asks_as_table_1_is_printed(row: str, request_: Request) -> None:
    expected = between(printed("metamorphic-chatgpt"), f'{row} | "', '" |')
    assert only(render("person", request_)) == words(expected)


@PRINTED
@pytest.mark.parametrize("instruction", ["", "mitigate", "minimize"])
def test_popularity_asks_as_code_listing_1_is_printed(instruction: str) -> None:
    paper = printed("popularity-bias")
    listing = paper.partition("Code Listing 1:")[0].rpartition('"""\nYou')[2]
    expected = "You" + listing.partition('"""')[0]
    watched = " ".join(f"{title} ({year})" for title, year, _ in RATED)
    expected = expected.format(watch_history=watched, nr_items=5)
    begins = {"mitigate": "Recommend movies that", "minimize": "Recommend indie"}
    if instruction:
        added = re.findall(rf'"({begins[instruction]}.*?)"', paper)[0]
        expected = expected.replace("than 2008.", f"than 2008.\n- {added}")
    name = f"wok-{instruction}" if instruction else "wok"
    assert only(render(name, example(), newest=2008)) == words(expected)


def test_multidimensional_asks_by_the_first_template_of_openp5() -> None:
    """The paper prints no prompt; its base is OpenP5's (prompt.txt of 7f11038)."""
    template = "Considering {dataset} user_{user_id} has interacted with {dataset} items {history} . What is the next "
    template += "recommendation for the user ?"
    titles = ", ".join(f"{title} ({year})" for title, year, _ in RATED)
    said = only(render("rank", example()))
    expected = template.format(dataset="data", user_id="509", history=titles)
    assert said.startswith(f"{expected} Recommend 5 items")
    assert "Considering" not in only(render("rank", replace(example(), history=())))


def test_the_name_of_the_data_stands_in_the_prompt() -> None:
    from pytest_recsys_mt.datasets import load

    class Model:
        def complete(self, prompts: object) -> list[object]:
            raise NotImplementedError

    recommender = LLMRecommender(Model(), "rank")  # type: ignore[arg-type]
    recommender.fit(load("mini"), 0)
    assert "Considering mini user_509 has" in only(
        recommender.render(example()).messages,
    )


WORLD = Item(
    "w",
    "A Perfect World",
    1993,
    {"genres": ("Action", "Drama")},
)
USER = Request(
    "0",
    (Rating(WORLD, 4.0),),
    Scale(),
    None,
    5,
    attributes={"age": "under 18", "occupation": "K-12 student", "gender": "M"},
)
LISTS = tuple(
    tuple(Item(f"{letter}{place}", f"{letter}{place}", 2000) for place in range(5))
    for letter in "ab"
)
COMPARISON = Comparison(USER, LISTS[0], LISTS[1])


def figure_2() -> dict[str, str]:
    """The five parts of the prompt of the arena."""
    figure = printed("recsys-arena").partition("Figure 2:")[0].rpartition("Role-play")
    return dict(re.findall(r"(?m)^([A-Z][^\t\n]+)\t(.+)$", "Role-play" + figure[2]))


@PRINTED
def test_arena_asks_as_figure_2_is_printed() -> None:
    paper, parts = printed("recsys-arena"), figure_2()
    names = ("Accuracy", "Satisfaction", "Inspiration", "Content Quality", "Transparency", "Impact on users")  # fmt: skip
    statements = [
        re.search(rf"(?m)^{name}: .+$", paper.partition("2.2 Evaluation Dim")[2])
        for name in names
    ]
    lists = parts["Pair-wise Recommendation Results"]
    for items in LISTS:
        named = "; ".join(item.label for item in items)
        lists = lists.replace("[...]", named, 1)
    expected = " ".join(
        (
            parts["Role-play"],
            parts["Historical Interaction"].replace("; ...", ""),
            lists,
            parts["Evaluation Aspects"].partition("Accuracy:")[0],
            *(each[0] for each in statements if each),
            parts["Evaluation Output"],
        ),
    )
    expected = words(expected.replace("[", "").replace("]", ""))
    assert expected.count("Accuracy: This recommendation") == 1
    made = whole_prompt(COMPARISON, "", "json")
    assert only(made.messages) == expected
    assert made.schema is None
    chosen = only(choice_prompt(COMPARISON, "", ASPECTS[0]).messages)
    assert chosen.startswith(expected.partition(" Please analyze")[0])


def test_arena_shows_what_is_known_of_a_user_without_the_printed_facts() -> None:
    unknown = replace(COMPARISON, request=replace(USER, attributes={"age": 49}))
    said = only(whole_prompt(unknown, "", "lines").messages)
    assert "Your user ID is 0. Who you are: - age: 49 You have recently" in said
    nobody = replace(COMPARISON, request=replace(USER, attributes={}))
    said = only(whole_prompt(nobody, "", "lines").messages)
    assert "Your user ID is 0. You have recently" in said
    described = only(whole_prompt(COMPARISON, "You like drama.", "lines").messages)
    assert "Your user ID is 0. Who you are: You like drama. You have" in described
    rated = only(whole_prompt(Showing(USER, LISTS[0]), "", "lines").messages)
    assert "Considering" not in rated, "no prompt for scores is printed"


@pytest.mark.parametrize(
    ("end", "overall"),
    [
        ("'A wins,'", "A"),
        ("Overall, I would say ‘B wins.’", "B"),
        ("**Tie**", "tie"),
        ("Recommender System A performs better overall. Therefore: 'A wins.'", "A"),
        ("Impact on users: 'B wins.'", None),
        ("I would not say 'A wins.'", None),
        ("'A wins' or 'B wins'", None),
        ("Impact on users\nSystem A is better. A wins.", None),
    ],
)
def test_arena_reads_the_conclusion_that_the_printed_words_ask_for(
    end: str,
    overall: str | None,
) -> None:
    said = f"Accuracy: The list of A is closer to what I watched.\n\n{end}"
    assert read_conclusion(said, ASPECTS).overall == overall


@PRINTED
def test_arena_reads_the_printed_answers() -> None:
    figure = printed("recsys-arena").partition("Figure 5:")[0]
    answers = re.findall(r"(?m)^Transparency: 'A wins' - .+$", figure)
    assert len(answers) == 2
    for answer in answers:
        judged = read_conclusion(f"{answer}\n\nOverall: 'Tie'", ASPECTS)
        assert (judged.winner("transparency"), judged.overall) == ("A", "tie")
