"""Answers that say two things, as models give them: the right list is read, or none."""

import json
from pathlib import Path

from pytest_recsys_mt.requests import Item, Rating, Request, Scale
from tests.support.llm_reading import TitleIndex, read

FILE = json.loads(
    Path(__file__).with_name("contradicted.json").read_text(encoding="utf-8"),
)
OFFERED = {
    kind: [Item(str(at), title, year) for at, (title, year) in enumerate(titles, 1)]
    for kind, titles in FILE["offered"].items()
}


def test_the_right_list_is_read_or_none() -> None:
    """Each case: what is offered, how many are asked for, the
    answer, and the right places ("": none is).
    """
    wrong, unread = [], 0
    for kind, k, text, right in FILE["cases"]:
        asked = Request("u", (), Scale(), tuple(OFFERED[kind]), k=k)
        reading = read(text, asked, TitleIndex(OFFERED[kind]))
        items = [entry.item for entry in reading.entries if entry.item is not None][:k]
        unread += not items
        if items and items != list(right):
            wrong.append((text, right, items, reading.rule))
    assert not wrong, wrong[:5]
    assert len(FILE["cases"]) > 150
    assert unread < len(FILE["cases"])


COMMENTS = (
    "one of the best films of its decade, and a good second step after {}",
    "his last great film; not for the faint of heart",
    "the first of a series, and never boring",
    "a bit darker than {}, but you rated worse ones well",
    "the third act alone is worth it, before and after the twist",
)
CLOSINGS = (
    "Let me know if you'd like me to swap any of these for something lighter!",
    "If you want, I can replace one or drop another, and reverse the order.",
    "These should match your taste, from slow thrillers to family films. Enjoy!",
    "I hope this helps. Would you like more details on any of them?",
    "All of them share a strong lead. The best of them depends on your mood, first of all.",
    "P.S. Enjoy your evening! I left out films that you would not like.",
    "Verification: all 5 are from your list, and none of them was repeated.",
    "Number 1 is my favourite. The last one is a wildcard, moving from slow to fast in the end.",
    "Note: the tension is increasing from film to film, up to the end.",
    "Score 10 means a perfect fit; I would skip the trailers.",
)


def test_comments_and_closing_words_do_not_hide_a_list() -> None:
    offered = OFFERED["F"]
    for opening in (
        "",
        "Based on what you rated, here are my picks:\n\n",
        "Sure! Not an easy choice, but here you go:\n",
        "Scores from 1 to 10 (10 = best fit).\n\n",
        "It is hard to say what your mood is, but these should suit you:\n\n",
    ):
        for mark in (
            "{}. {} - {}",
            "{}. **{}**: {}",
            "- {1} ({0}) - {2}",
            "* *{1}* – {2}",
        ):
            for turn, closing in enumerate(CLOSINGS):
                ranking = [*offered[turn:6], *offered[:turn]][:5]
                said = [
                    each.format("Casino")
                    for each in (*COMMENTS[turn:], *COMMENTS[:turn])
                ]
                lines = [
                    mark.format(
                        item.year if "({0})" in mark else at,
                        item.title,
                        comment,
                    )
                    for at, (item, comment) in enumerate(
                        zip(ranking, said, strict=False),
                        1,
                    )
                ]
                text = f"{opening}{chr(10).join(lines)}\n\n{closing}"
                asked = Request("u", (), Scale(), tuple(offered), k=5)
                reading = read(text, asked, TitleIndex(offered))
                items = [
                    entry.item for entry in reading.entries if entry.item is not None
                ]
                assert items == [item.id for item in ranking], (text, reading.rule)


SHOWN, REST = OFFERED["F"][:3], OFFERED["F"][3:]
LABELS = [f"{item.title} ({item.year})" for item in REST]
DISLIKED = (
    "Films this user would hate:", "None of these is right for the user:", "These would disappoint the user:",
    "The user should stay away from these:", "These films do not match the user's taste:", "Dropped:",
    "Von diesen Filmen rate ich ab:", "以下电影都不适合这位用户:", "The candidates you gave me are:", "Too violent:",
    "I have not seen these films, so I can't judge them:",
)  # fmt: skip
UPWARDS = (
    "My favourite comes at the end:", "From good to great:", "Here they are, ending with my strongest recommendation:",
    "Das Beste kommt zum Schluss:", "La mejor al final:", "Le meilleur pour la fin :", "排名越靠后越推荐:",
    "Dal meno al più consigliato:", "In aufsteigender Reihenfolge:", "Here are my recommendations (5 = best):",
    "Read from the bottom: the best is at the end.",
)  # fmt: skip


def read_items(text: str, k: int = 5) -> list[str]:
    asked = Request(
        "u",
        tuple(Rating(item, 4) for item in SHOWN),
        Scale(),
        tuple(REST),
        k=k,
    )
    reading = read(text, asked, TitleIndex(OFFERED["F"]))
    return [entry.item for entry in reading.entries if entry.item is not None][:k]


def test_what_is_disliked_or_ends_with_the_best_is_not_read() -> None:
    listed = "\n".join(f"{at}. {label}" for at, label in enumerate(LABELS[:5], 1))
    assert read_items(listed) == [item.id for item in REST[:5]]
    for words in (*DISLIKED, *UPWARDS):
        assert not read_items(f"{words}\n\n{listed}"), words
    for words in (
        "My top recommendation is the last one.",
        "Number 5 is the one I would watch first.",
    ):
        assert not read_items(f"{listed}\n\n{words}"), words


def test_what_stands_behind_a_short_list_is_not_added_to_it() -> None:
    listed = "\n".join(f"{at}. {label}" for at, label in enumerate(LABELS[:3], 1))
    bullets = "\n".join(f"- {label}" for label in LABELS[3:])
    for words in (
        *DISLIKED[5:7],
        "Too violent:",
        "Not for this user:",
        "I left out",
        "Die übrigen passen nicht",
        "I'd pass on",
    ):
        assert read_items(f"{listed}\n\n{words}\n{bullets}") in (
            [],
            [item.id for item in REST[:3]],
        ), words
    for words in (
        "I'd pass on {}.",
        "Dropped: {}",
        "Die übrigen ({}) passen nicht.",
        "Too violent: {}",
    ):
        sentence = words.format(", ".join(LABELS[3:]))
        assert read_items(f"{listed}\n\n{sentence}") in (
            [],
            [item.id for item in REST[:3]],
        ), sentence


def test_some_that_are_marked_are_not_the_first() -> None:
    for form, others in (
        ("{at}. {mark}{label}", "{at}. {label}"),
        ("{mark}{label}", "{label}"),
        ("{mark}{label}", "- {label}"),
        ("{at}. + {label}", "{at}. - {label}"),
        ("+ {label}", "- {label}"),
        ("{at}. {label}", "{at}. {label} - 1/10"),
        ("{at}. {label}", "{at}. ~~{label}~~"),
    ):
        lines = [
            (form if at in (1, 2, 4) else others).format(at=at, label=label, mark="⭐ ")
            for at, label in enumerate(LABELS, 1)
        ]
        right = [REST[at - 1].id for at in (1, 2, 4)]
        assert read_items("\n".join(lines), k=3) in ([], right), lines


def test_what_the_user_has_beside_a_title_is_a_reason() -> None:
    right = [item.id for item in REST[:5]]
    liked = [f"{item.title} ({item.year})" for item in (*SHOWN, *SHOWN)]
    for form in (
        "{at}. Because you liked {liked}: {label}",
        "{at}. {liked} → {label}",
        "{at}. Since you enjoyed {liked}: {label}",
    ):
        lines = [
            form.format(at=at, liked=liked[at - 1], label=label)
            for at, label in enumerate(LABELS[:5], 1)
        ]
        assert read_items("\n".join(lines)) in (right, []), form
    told = f"Given how much this user enjoyed {liked[0]} and {liked[1]}, I would recommend {', '.join(LABELS[:5])}."
    assert read_items(told) == right
    restated = "\n".join(f"- {each}" for each in (*liked[:3], *LABELS[:5]))
    assert read_items(restated) in (right, [])


def test_a_year_needs_no_bracket() -> None:
    right = [item.id for item in REST[:5]]
    for form in (
        "{at}. {title} {year}",
        "{at}. ({year}) {title}",
        "{at}. {title}, {year}",
        "- {year} - {title}",
    ):
        lines = [
            form.format(at=at, title=item.title, year=item.year)
            for at, item in enumerate(REST[:5], 1)
        ]
        assert read_items("\n".join(lines)) == right, form
