"""How rankers answer, with scores, two lists, corrections, or cut off: the right list
is read, or none.

Twenty films were offered, ten are asked for; `TOP` is the true ranking, and the offered
order is another.
"""

import json
from collections.abc import Iterator

from pytest_recsys_mt.requests import Item, Request, Scale
from tests.support.llm_reading import TitleIndex, read

FILMS = (
    ("Kill Bill: Volume 2", 2004), ("The Incredibles", 2004), ("Casino Royale", 2006), ("Ran", 1985),
    ("The Evil Dead", 1981), ("March of the Penguins", 2005), ("Planet of the Apes", 1968), ("Iron Man", 2008),
    ("Volver", 2006), ("Shane", 1953), ("Rebecca", 1940), ("Elephant", 2003), ("Crash", 1996), ("Casino", 1995),
    ("Alien", 1979), ("Unforgiven", 1992), ("Notting Hill", 1999), ("12 Monkeys", 1995), ("Cast Away", 2000), ("Moon", 2009),
)  # fmt: skip
OFFERED = [Item(str(at), title, year) for at, (title, year) in enumerate(FILMS, 1)]
TITLES = {at: f"{title} ({year})" for at, (title, year) in enumerate(FILMS, 1)}
RANKING = [12, 3, 7, 1, 19, 4, 2, 16, 9, 20, 5, 6, 8, 10, 11, 13, 14, 15, 17, 18]
TOP, LOW, PROMPT = RANKING[:10], RANKING[10:], list(range(1, 21))
SCORES = {number: round(10 - 0.3 * place, 1) for place, number in enumerate(RANKING)}


def chain(numbers: list[int], mark: str = " > ") -> str:
    return mark.join(f"[{number}]" for number in numbers)


def lines(numbers: list[int], form: str = "{i}. {t}", end: str = "\n") -> str:
    return end.join(
        form.format(i=at, n=n, t=TITLES[n], s=SCORES[n], r=RANKING.index(n) + 1)
        for at, n in enumerate(numbers, 1)
    )


def table(*columns: str, row: str) -> str:
    rule = "|---" * len(columns)
    return f"| {' | '.join(columns)} |\n{rule}|\n{lines(PROMPT, row)}"


def objects(key: str, values: dict[int, object], name: str = "title") -> str:
    return json.dumps(
        [{name: TITLES[n] if name == "title" else n, key: values[n]} for n in PROMPT],
    )


def ranked() -> Iterator[str]:
    """Answers of which anybody reads `TOP`."""
    for key in (
        "score", "final_score", "overall score", "total", "rating", "similarityScore", "match_percentage", "likelihood",
        "p", "points", "preference", "elo", "win_rate", "utility", "grade", "relevance_to_user",
    ):  # fmt: skip
        yield objects(key, {**SCORES})
    for key in ("distance", "avg_rank", "mean rank"):
        yield objects(key, {n: 10 - SCORES[n] for n in PROMPT})
    yield objects("rank", {n: TOP.index(n) + 1 if n in TOP else None for n in PROMPT})
    yield json.dumps(
        [
            {"title": TITLES[n], "fit": n % 5, "quality": n % 7, "total": SCORES[n]}
            for n in PROMPT
        ],
    )
    yield json.dumps(
        [
            {"title": TITLES[n], "initial_rank": n, "final_rank": RANKING.index(n) + 1}
            for n in PROMPT
        ],
    )
    yield json.dumps({"rank": list(range(1, 11)), "title": [TITLES[n] for n in TOP]})
    yield json.dumps(
        {"titles": [TITLES[n] for n in PROMPT], "scores": [SCORES[n] for n in PROMPT]},
    )
    yield json.dumps(
        {"input": [TITLES[n] for n in PROMPT], "output": [TITLES[n] for n in TOP]},
    )
    yield json.dumps(dict(FILMS[n - 1] for n in TOP))
    yield json.dumps([[at, TITLES[n]] for at, n in enumerate(TOP, 1)])
    for column in (
        "Score", "Score (0-10)", "Score /10", "Score↓", "Relevance (%)", "Rating (out of 5)", "Match %", "Est. rating",
        "P(like)", "Overall score", "Wins",
    ):  # fmt: skip
        yield table("Movie", column, row="| {t} | {s} |")
    yield table("Initial rank", "Final rank", "Movie", row="| {n} | {r} | {t} |")
    yield table("Movie", "Original position", "New position", row="| {t} | {n} | {r} |")
    yield lines(TOP, "Rank: {i}\nTitle: {t}\n")
    yield lines(PROMPT, "Title: {t}\nRank: {r}\n")
    yield lines(PROMPT, "Title: {t}\nScore: {s}\n")
    yield lines(PROMPT, "- **{t}**\n  - Rank: {r}")
    yield lines(PROMPT, "{s} - {t}")
    yield lines(TOP, "{s}/10: {t}")
    yield lines(PROMPT, "<movie><title>{t}</title><score>{s}</score></movie>")
    yield lines(PROMPT, '<item rank="{r}">{t}</item>')
    yield f"$${' > '.join(map(str, TOP))}$$"
    yield rf"\boxed{{{lines(TOP, '{t}', ', ')}}}"
    yield rf"\boxed{{\text{{{lines(TOP, '{t}', ', ')}}}}}"
    yield f"After reranking: {chain(TOP)}\nBefore reranking: {chain(PROMPT[:10])}"
    for name in (
        "Baseline ranking (by popularity)", "Naive ranking", "Previous ranking", "Default ranking", "Given ranking",
        "The ranking I was given", "First-stage ranking", "Random ranking for comparison", "A wrong answer would be",
    ):  # fmt: skip
        yield f"{chain(TOP)}\n\n{name}: {chain(PROMPT[:10])}"
        yield f"{lines(TOP)}\n\n{name}:\n{lines(PROMPT[:10])}"
    for name in (
        "The remaining candidates were ranked lower", "Ranked lower", "Other candidates, ranked below the top 10",
        "Not in the top 10", "Just missed the top 10", "Films I ranked last", "Rank 11-20 (not recommended)",
        "Poor recommendations for this user", "Anti-recommendations", "Eliminated in the final round", "Final cuts",
        "Cut from the final list", "Didn't make the cut", "Lower priority",
    ):  # fmt: skip
        yield f"{lines(TOP)}\n\n{name}:\n{lines(LOW, '- {t}')}"
        yield f"{name}:\n{lines(LOW, '- {t}')}\n\nTop 10:\n{lines(TOP)}"
        yield f"Top picks: {chain(TOP)}\n\n{name}: {chain(LOW)}"
    yield f"Analysis:\n{lines(PROMPT, '- {t}: fine')}\n\nRanking:\n{lines(TOP)}"
    yield lines(TOP, "{i}. {t}\n   Year: 1995\n   Why: you liked Alien")
    yield lines(TOP, "{i}. {t} (IMDb 8.1)")


def unclear() -> Iterator[str]:
    """Answers that say no order, or another one than that of their lines."""
    yield json.dumps({"scores": [*SCORES.values()]})
    yield json.dumps([*SCORES.values()])
    for key, (good, bad) in {
        "label": ("relevant", "irrelevant"), "status": ("selected", "rejected"), "decision": ("keep", "drop"),
    }.items():  # fmt: skip
        yield objects(key, {n: good if n in TOP else bad for n in PROMPT})
        yield objects(key, {n: good if n in TOP else bad for n in PROMPT}, "id")
    for marks in (("no", "yes"), (False, True)):
        yield json.dumps({TITLES[n]: marks[n in TOP] for n in PROMPT})
    yield f"I'd leave out these ten:\n{lines(LOW, '- {t}')}"
    yield f"All of the candidates except:\n{lines(LOW)}"
    for words in (
        "wait, no: {}", "scratch that, {}", "actually, {}", "sorry, I mean {}", "-> replaced by {}", "(replaced with {})",
    ):  # fmt: skip
        entry = f"1. {TITLES[2]} – {words.format(TITLES[12])}"
        yield f"{entry}\n{lines(TOP[1:], '- {t}')}"
        yield f"{lines(TOP[:1])}\n2. {TITLES[2]} – {words.format(TITLES[3])}\n3. {TITLES[7]}"
    for words in (
        "Actually, [8] > [15].", "Wait, [8] should come before [15].", "Hmm, swap [15] and [8].",
        "Correction: [8] first, then [15].", "On second thought, move [8] to the front.",
    ):  # fmt: skip
        yield f"{chain([15, 8, 1, 2, 3, 4, 5, 6, 7, 9])}\n\n{words}"
    for words in (
        "Note: numbers 1 and 2 are interchanged by mistake.", "One change after review: Ran (1985) goes first.",
        "After double-checking, Ran (1985) > Elephant (2003).", "P.S. I would put Ran (1985) first after all.",
        "Verification: Ran (1985) is a comedy, which the user dislikes, so I remove it.",
        "(The best match is at the bottom, number 10.)", "Number 10 is my strongest recommendation, number 1 the weakest.",
    ):  # fmt: skip
        yield f"{lines(TOP)}\n\n{words}"
    upwards = TOP[::-1]
    for lead in (
        "From least to most relevant: ",
        "In order of increasing relevance: ",
        "Worst to best: ",
    ):
        yield lead + chain(upwards, ", ")
        yield lead + lines(upwards, "{t}", ", ")
    yield f"Lowest first:\n{lines(upwards, '- {t}')}"
    yield "Bronze: Ran (1985)\nSilver: Moon (2009)\nGold: Alien (1979)"
    for low, high in (
        ("Low relevance", "High relevance"), ("Weaker matches", "Strong matches"), ("Score 1", "Score 3"),
        ("Level 0 (irrelevant)", "Level 2 (perfect)"),
    ):  # fmt: skip
        yield f"{low}: {lines(LOW, '{t}', ', ')}\n{high}: {lines(TOP, '{t}', ', ')}"
    yield "I would recommend Ran (1985), Moon (2009) and Shane (1953), but above all Alien (1979)."
    yield "Ran (1985), preceded by Moon (2009) and, at the very top, Alien (1979)."
    yield "Final: Ran (1985) vs Moon (2009) – winner: Moon (2009)"
    for one, other in (
        ("By relevance", "By diversity"), ("By relevance", "By popularity"), ("Genre match", "Director match"),
        ("By genre fit", "By critical acclaim"), ("Option A", "Option B"), ("Safe picks", "Adventurous picks"),
    ):  # fmt: skip
        yield f"{one}:\n{lines(TOP)}\n\n{other}:\n{lines(PROMPT[3:13])}"
        yield f"{one}: {chain(TOP)}\n{other}: {chain(PROMPT[3:13])}"
    for mark in (
        "{t} ✓",
        "**{t}**",
        "{t} (recommended)",
        "{t} – ja",
        "{t} - 推荐",
        "[x] {t}",
    ):
        for bullet, numbers in (
            ("{n}. ", PROMPT),
            ("- ", PROMPT),
            ("{n}. ", PROMPT[:15]),
        ):
            yield "\n".join(
                lines([n], bullet + (mark if n % 3 else "{t}")) for n in numbers
            )
    for words in ("priority {r}", "place {r}", "predicted rating {s}"):
        yield lines(PROMPT, f"- {{t}} - {words}")
    for words in (
        "I'm sorry, but I can't recommend any of the following films:",
        "Es tut mir leid, aber ich kann keinen der folgenden Filme empfehlen:", "抱歉,我无法推荐以下任何一部电影:",
        "These are the films this user would like least:", "I would remove these from the list:",
        "Building up to the best match:", "The higher the number, the better the match:", "De menor a mayor preferencia:",
    ):  # fmt: skip
        yield f"{words}\n{lines(TOP[::-1])}"
    yield f"{lines(TOP)}\n\nI'm sorry, on reflection none of these suits this user."
    yield f"{lines(TOP[::-1])}\n\nThe last one is my top pick."
    yield "Could you tell me whether you would rather watch Ran (1985) or Moon (2009)?"
    yield lines(TOP[:5], "- Instead of Shane (1953), watch {t}")
    for form in (
        "{i}. **{t}**\n   Score: {s}/10\n   Reason: it fits.\n",
        "{i}. {t} = {s}",
        "{t} – {s} stars",
    ):
        yield lines(PROMPT, form)


def cut_off() -> Iterator[str]:
    """Answers that ended before their ranking began, or in the middle of scores."""
    for lead in (
        "Let me consider each film in turn.\n",
        "Going through the list:\n",
        "",
    ):
        for form in (
            "{i}. {t}: a solid choice.",
            "- {t}: a solid choice.",
            "[{i}] {t}: a solid choice.",
        ):
            yield f"{lead}{lines(PROMPT[:8], form)[:-9]}"
    yield f"In the order given:\n{lines(PROMPT[:10])}\n\nNow I will re-rank these by how well they"
    yield f"{lines(PROMPT, '{i}. {t} - a good film.')}\n\nFinal ranking:"
    yield f'{objects("score", {**SCORES})[:400]}, {{"ti'


def items(text: str, *, truncated: bool = False) -> list[int]:
    asked = Request("u", (), Scale(), tuple(OFFERED), k=10)
    reading = read(text, asked, TitleIndex(OFFERED), truncated=truncated)
    return [
        int(each) for each in reading.recommendation(10, text).items if each.isdigit()
    ]


def test_the_ranking_is_read() -> None:
    forms = list(ranked())
    wrong = [text for text in forms if items(text) != TOP]
    assert not wrong, wrong[:3]
    assert len(forms) > 100


def test_what_says_no_order_is_not_read_in_that_of_its_lines() -> None:
    wrong = [text for text in unclear() if items(text) not in ([], TOP)]
    assert not wrong, wrong[:3]


def test_reasoning_that_was_cut_off_is_no_ranking() -> None:
    wrong = [text for text in cut_off() if items(text, truncated=True)]
    assert not wrong, wrong[:3]
