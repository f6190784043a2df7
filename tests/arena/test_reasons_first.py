"""A judge that gives its reasons first is read by the verdicts that follow them."""

from __future__ import annotations

import json
from itertools import product

import pytest

from pytest_recsys_mt.suites.arena import ASPECTS, OVERALL
from tests.support.suites_arena import read_appraisal, read_judgement

NAMES = [*(aspect.name for aspect in ASPECTS), OVERALL]
SENTENCES = (
    "List {w} suits my love of thrillers.",
    "List {w} has more of what I watch than list {o}, which is mostly westerns.",
    "{w} is nearer to my history - {o} repeats itself.",
    "List {o} is broader: it has four genres.",
    "Each list has something for me.",
    "List {o}, with its old comedies, is further from my taste.",
)
LINES = {
    "plain": "{name}: {said}",
    "bullet": "* {name}: {said}",
    "bold": "**{title}:** {said}",
    "bold outside": "- **{title}**: {said}",
    "numbered": "{number}. {title}: {said}",
    "numbered in bold": "**{number}. {title}** - {said}",
    "dash": "{title} \u2013 {said}",
    "heading": "## {title}\n{said}\n",
    "numbered heading": "### {number}. {title}\n\n{said}\n",
    "heading in bold": "**{title}**\n{said}\n",
}
VERDICTS = {
    "lines": "{name}: {w}",
    "wins": "{title}: List {w} wins.",
    "quoted": "{title}: \u2018{w} wins\u2019",
    "bold": "- **{title}**: **{w}**",
    "numbered": "{number}) {title}: {w} is better",
    "rows": "| {title} | {w} |",
    "rows in bold": "| **{title}** | **{w}** |",
}
BETWEEN = (
    "\n\n",
    "\n\nVerdict:\n",
    "\n\n**Final verdicts**\n\n",
    "\n\n## Summary\n",
    "\n\n---\n\n",
)


def written(form: str, winner: str, said: str = "") -> str:
    """One line for each aspect and overall, in a form."""
    other = "B" if winner == "A" else "A"
    said = said.format(w=winner, o=other)
    return "\n".join(
        form.format(
            name=name,
            title=name.capitalize(),
            number=number,
            said=said,
            w=winner,
        )
        for number, name in enumerate(NAMES, 1)
    )


def as_json(winner: str) -> str:
    return json.dumps(dict.fromkeys(NAMES, winner))


@pytest.mark.parametrize("lines", LINES)
def test_verdicts_below_reasons_are_read(lines: str) -> None:
    wrong = []
    for winner, said, form, between in product(
        "AB",
        SENTENCES,
        VERDICTS.values(),
        BETWEEN,
    ):
        text = written(LINES[lines], winner, said) + between + written(form, winner)
        judgement = read_judgement(text, ASPECTS)
        if any(judgement.winner(name) != winner for name in NAMES):
            wrong.append(text)
    assert not wrong, (len(wrong), wrong[0])


@pytest.mark.parametrize("lines", LINES)
def test_an_object_below_reasons_is_read(lines: str) -> None:
    for winner, said in product("AB", SENTENCES):
        text = (
            f"{written(LINES[lines], winner, said)}\n\n```json\n{as_json(winner)}\n```"
        )
        judgement = read_judgement(text, ASPECTS)
        assert {judgement.winner(name) for name in NAMES} == {winner}, text


@pytest.mark.parametrize("said", SENTENCES)
def test_reasons_alone_are_no_verdict(said: str) -> None:
    for winner, form in product("AB", LINES.values()):
        judgement = read_judgement(written(form, winner, said), ASPECTS)
        assert {judgement.winner(name) for name in NAMES} == {None}


def test_reasons_may_follow_under_their_heading() -> None:
    text = "accuracy: B\noverall: A\n\nReasons:\n- accuracy: List B has crime.\n- overall: List A has more."
    judgement = read_judgement(text, ASPECTS)
    assert (judgement.winner("accuracy"), judgement.overall) == ("B", "A")
    assert judgement.reasons == {
        "accuracy": "List B has crime.",
        "overall": "List A has more.",
    }


# The form of Figure 5 of https://arxiv.org/abs/2412.11068.
@pytest.mark.parametrize(
    "text",
    [
        "Transparency: \u2018A wins\u2019 - System A names the actor I follow. System B doesn\u2019t say anything.",
        "**Transparency**: 'A wins' \u2014 it shows \u2018Heat\u2019 (1995), which I rated highest.",
        ("Transparency: \u2018A wins\u2019 - Recommender system A follows what is known of me (age, job, etc.). The films "
        "\u2018Heat\u2019 (1995), a drama, and \u2018Alien\u2019 (1979) suit me more than the westerns by system B."),
    ],
)  # fmt: skip
def test_quoted_verdicts_are_read(text: str) -> None:
    assert read_judgement(text, ASPECTS).winner("transparency") == "A"


@pytest.mark.parametrize(
    ("text", "overall"),
    [
        ("Conclusion: {w}", "w"),
        ("In conclusion: list {w} is better.", "w"),
        ("**Conclusion:** {w} wins", "w"),
        ("Overall, {w} wins", "w"),
        ("Overall, list {w} is better, because it has more drama.", "w"),
        ("Overall, the winner is {w}.", "w"),
        ("{w} wins", "w"),
        ("**{w} wins.**", "w"),
        ("I read both lists.\n\nList {w} is the winner.", "w"),
        ("The winner is {w}.", "w"),
        ("Winner: {w}", "w"),
        ("Overall Winner: {w} wins", "w"),
        ("Final verdict: {w}", "w"),
        ("## Verdict\n{w} wins", "w"),
        ("Verdict:\n{w}", "w"),
        ("accuracy: List {o} is narrow.\n\nConclusion: {w}", "w"),
        ("accuracy: List {o} is narrow.\n\n{w} wins", "w"),
        ("### Accuracy\nWinner: {o}\n### Impact on users\nWinner: {o}\n### Overall\nWinner: {w}", "w"),
        ("### Accuracy\nGood.\n### Impact on users\nGood too.\n\nConclusion: {w}", "w"),
        ("overall: {o}\nFinal verdict:\noverall: {w}", "w"),
        ("overall: {o}\noverall (final): {w}", "w"),
        ("overall: {o} at first.\noverall: {w}", "w"),
        ("| Aspect | Winner | Reason |\n|---|---|---|\n| overall | {w} | It beats list {o}. |", "w"),
        ("| Aspect | Reason | Verdict |\n|:--|:-:|--|\n| Overall | It is fresh. | **{w}** |", "w"),
        ("| # | Aspect | Better list |\n|---|---|---|\n| 7 | overall | List {w} |", "w"),
        ("overall: {w} gewinnt, weil es Krimis sind.", "w"),
        ("Fazit: Liste {w}", "w"),
        ("Conclusion : la liste {w} gagne", "w"),
        ("Conclusión: gana", None),
        ("En general: {w} es mejor", "w"),
        ("Conclusão: lista {w} vence", "w"),
        ("Conclusione: {w} vince", "w"),
        ("overall: {w} wint", "w"),
        ("Итог: {w} побеждает", "w"),
        ("结论\uff1a{w}胜出", "w"),
        ("総合: {w}の勝ち", "w"),
        ("결론: {w} 승리", "w"),
        ("overall: unentschieden", "tie"),
        ("overall: un empate", "tie"),
        ("overall: 平局", "tie"),
    ],
)  # fmt: skip
def test_other_words_for_the_overall_verdict_are_read(
    text: str,
    overall: str | None,
) -> None:
    for winner, other in ("AB", "BA"):
        expected = winner if overall == "w" else overall
        assert (
            read_judgement(text.format(w=winner, o=other), ASPECTS).overall == expected
        )


@pytest.mark.parametrize(
    "text",
    [
        "overall: {w}\noverall: {o}",
        "overall: {w}\n\nConclusion: {o}",
        "Overall, {w} wins\nOverall Winner: {o}",
        "Final verdict: {w}\nFinal verdict: {o}",
        "Verdict:\noverall: {w}\n\nVerdict:\noverall: {o}",
        "overall (final): {w}\noverall (final): {o}",
        'overall: {w}\n\n{{"overall": "{o}"}}',
        "{w} wins\n{o} wins",
        "{w} wins in accuracy",
        "{w} wins?",
        "Winner: {w}\nThe rest is alike.\nWinner: {w}",
        "accuracy: List {o} is narrow.\n{w} wins\nsatisfaction: List {w} is wide.",
        "### Accuracy\nGood.\n### Impact on users\nGood too.\nWinner: {w}",
        "### Impact on users\nGood too.\n\nVerdict:\n{w} wins",
        "### What list {w} lacks\n{w} wins",
        "| Aspect | Weaker list |\n|---|---|\n| overall | {w} |",
        "| Aspect | A | B |\n|---|---|---|\n| overall | {w} | {o} |",
        "| Winner | Verdict | \n|---|---|\n| overall | {w} |",
        "overall: {w}, {o}",
        "overall: {w} / {o}",
        "overall: {w}, or maybe {o}",
        "overall: {w}. No, {o}.",
        "overall: {w}. Wait, I take that back.",
        "overall: {w} has drama. Still, I prefer {o}.",
        "overall: {w}: more drama. Still, I prefer {o}.",
        "overall: {w}. I'd choose {o} though.",
        "overall: {w}; the better list is {o}",
        "overall: {w} (for drama), {o} (for comedy)",
        "overall: {w} (0.3) vs {o} (0.7)",
        "overall: {w}: narrow. {o}: wide.",
        "overall: {w}. It is dull. The other list wins.",
        "overall: {w}, if I want drama",
        "overall: {w}!? I wonder.",
        "overall: {w}-list actors",
        "overall: {w}, with its many sequels, is worse",
        "overall: {w} gewinnt nicht",
        "overall: {w}の勝ちではない",
        "overall: {w}不胜",
        "overall: {w}\noverall:",
        "Conclusion: both {w} and {o} are fine",
        "I would say that {w} wins",
        "If {w} wins, I am glad.",
        "Overall, {w}'s films are older",
        "Nobody wins",
    ],
)
def test_what_may_be_read_in_two_ways_is_unread(text: str) -> None:
    for winner, other in ("AB", "BA"):
        assert read_judgement(text.format(w=winner, o=other), ASPECTS).overall is None


def test_scores_below_reasons_are_read() -> None:
    reasons = "\n".join(f"{name}: 1 film of 10 fits, and I like it." for name in NAMES)
    scores = "\n".join(f"{name}: 0.7" for name in NAMES)
    appraisal = read_appraisal(f"{reasons}\n\n{scores}", ASPECTS)
    assert {appraisal.score(name) for name in NAMES} == {0.7}
    assert read_appraisal(f"{scores}\n\noverall: 0.2", ASPECTS).overall is None
    assert read_appraisal("overall: 0.7 out of 1", ASPECTS).overall == 0.7


@pytest.mark.parametrize(
    "part",
    ["A wins\n", "verdict: A\n", "| overall | A |\n", "A: ", "A (", "- ", "**"],
)
@pytest.mark.timeout(5)
def test_a_long_answer_is_read_in_time(part: str) -> None:
    assert read_judgement(part * 50_000, ASPECTS).overall in (None, "A")
