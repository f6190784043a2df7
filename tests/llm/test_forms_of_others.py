"""Answers in forms that were written by somebody who had not seen the reader, in seven
domains.

`forms_of_others.json` has one answer of each form: the domain, the form, the text, and
the right reading by the places of the offered titles from 1; 0 is what was not offered,
and null an answer that must be unread.
"""

import json
import re
import textwrap
from pathlib import Path

import pytest

from pytest_recsys_mt.requests import UNKNOWN_PREFIX, Item, Request, Scale
from tests.support.llm_reading import TitleIndex, read

FILE = json.loads(
    Path(__file__).with_name("forms_of_others.json").read_text(encoding="utf-8"),
)
LENIENT = {
    "accents_left_out",
    "correction_swaps_two",
    "long_titles_cut_with_ellipsis",
    "one_typo",
    "subtitles_left_out",
}
"""Forms whose entries a careful reader may call unknown."""


def item(number: int, title: str) -> Item:
    dated = re.fullmatch(r"(.*) \((\d{4})\)", title)
    return (
        Item(f"i{number}", dated[1], int(dated[2]))
        if dated
        else Item(f"i{number}", title)
    )


ITEMS = {
    domain: tuple(item(number, title) for number, title in enumerate(titles, 1))
    for domain, titles in FILE["domains"].items()
}


def places(text: str, domain: str) -> list[int] | None:
    """What is read, as the file writes it."""
    offered = ITEMS[domain]
    reading = read(
        text,
        Request("u", (), Scale(1, 5), offered, k=10),
        TitleIndex(offered),
    )
    answer = reading.recommendation(10, text)
    if answer.unread or not answer.items:
        return None
    return [
        0 if each.startswith(UNKNOWN_PREFIX) else int(each[1:]) for each in answer.items
    ]


def test_hardly_any_form_is_misread_or_unread() -> None:
    found = {
        (domain, form): (places(text, domain), right)
        for domain, form, text, right in FILE["cases"]
    }
    wrong = {
        form
        for (_, form), (got, right) in found.items()
        if got is not None and got != right and not (form in LENIENT and 0 in got)
    }
    assert not wrong
    unread = [
        form
        for (_, form), (got, right) in found.items()
        if got is None and right is not None
    ]
    assert len(found) > 350
    assert len(unread) <= 0.06 * len(found), unread


THOUGHTS = (
    "{x} is a comedy, and the user prefers drama.", "I would not recommend {x}.", "{x}? No. {y}? Maybe.",
    "Let me think about {x} first. It is too violent.", "My initial thought was {x}, then {y}.",
    "1. {x} - weak match\n2. {y} - strong match", "- {x}: too long\n- {y}: great fit", "{x} > {y} was my first idea.",
    "The best of these is {y}.", "Wait, {x} should come before {y}.",
)  # fmt: skip
HEADINGS = (
    "Final ranking:",
    "**Final ranking:**",
    "### Final Ranking",
    "Final answer:",
)


@pytest.mark.parametrize("domain", [domain for domain in ITEMS if domain != "ids"])
def test_a_list_that_is_named_as_final_is_the_answer_whatever_was_thought_before(
    domain: str,
) -> None:
    titles = [each.label for each in ITEMS[domain]]
    right = [7, 3, 12, 1, 9, 20, 5, 14, 2, 18]
    for thought in THOUGHTS:
        for x, y in ((11, 13), (7, 1)):  # left out of the list, and within it
            for heading in HEADINGS:
                for form in ("{}. {}", "- {1}"):
                    entries = [
                        form.format(at, titles[n - 1]) for at, n in enumerate(right, 1)
                    ]
                    told = thought.format(x=titles[x - 1], y=titles[y - 1])
                    text = "\n".join([told, "", heading, *entries])
                    assert places(text, domain) == right, text


@pytest.mark.parametrize("domain", [domain for domain in ITEMS if domain != "ids"])
def test_a_title_or_a_chain_that_is_broken_across_lines_is_one(domain: str) -> None:
    titles = [each.label for each in ITEMS[domain]]
    right = [7, 3, 12, 1, 9, 20, 5, 14, 2, 18]
    best = [titles[number - 1] for number in right]
    for width in (16, 24, 40):
        for indent in ("", "   "):
            entries = (
                textwrap.fill(
                    f"{at}. {title}",
                    width,
                    subsequent_indent=indent,
                    break_long_words=False,
                )
                for at, title in enumerate(best, 1)
            )
            assert places("\n".join(entries), domain) == right
    for arrow in (">", "→"):
        lines = (f" {arrow} ".join(part) for part in (best[:4], best[4:7], best[7:]))
        assert places(f" {arrow}\n".join(lines), domain) in (right, None)


def test_counted_tiers_are_one_list_and_named_ones_are_not() -> None:
    titles = [each.label for each in ITEMS["films"]]
    right = [7, 3, 12, 1, 9, 20, 5, 14, 2, 18]
    tiers = [
        "\n".join(f"- {titles[number - 1]}" for number in part)
        for part in (right[:4], right[4:7], right[7:])
    ]
    for names, expected in (
        (("Tier 1 (must see)", "Tier 2", "Tier 3: if there is time"), right),
        (("Tier 3", "Tier 2", "Tier 1"), None),
        (("Classics", "Comedies", "Others"), None),
    ):
        text = "\n\n".join(
            f"**{name}**\n{tier}" for name, tier in zip(names, tiers, strict=True)
        )
        assert places(text, "films") == expected
