"""Every oracle says in words what its number is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from pytest_recsys_mt import Verdict, oracles
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.suites import arena
from pytest_recsys_mt.verdict.answers import Answers, Choices, Context
from tests.laws import over
from tests.oracles.support import FakeAnswers, FakeNamed, ask

CATALOGUE = "abcdefghij"
USERS = 40
NAMED_USERS = tuple(f"u{user}" for user in range(USERS))
KNOWN = Context(
    deterministic=True,
    items={name: Item(name, f"Film {name}", 2000) for name in CATALOGUE},
    popularity={name: number for number, name in enumerate(CATALOGUE, 1)},
    named=FakeNamed(*(f"u{user}" for user in range(USERS))),
)


@cache
def pinned_file() -> Path:
    """A file that pins an item that all lists have, unless they are turned round."""
    path = Path(mkdtemp(), "pinned.toml")
    # Those of `KNOWN`, however many users another test makes of `USERS` for a while.
    path.write_text(
        "".join(f"[users.{user}]\ncontains = ['e']\n" for user in NAMED_USERS),
    )
    return path


def answers(label: str = "", order: int = 1) -> FakeAnswers:
    lists = [[CATALOGUE[::order][user % 4 :][:5]] for user in range(USERS)]
    asked = ask(lists, candidates=list(CATALOGUE), relevant=["c"])
    return FakeAnswers(asked, KNOWN, label)


def choices(shift: int = 0) -> Choices:
    right = tuple(number % 4 for number in range(USERS))
    chosen = tuple(
        (place + shift * (number % 3 == 0)) % 4 for number, place in enumerate(right)
    )
    said = tuple(f"text {place}" for place in chosen)
    return Choices(tuple(f"q{n}" for n in range(USERS)), right, chosen, said, 4)


SOURCE, CHANGED = answers(), answers("changed(1)", -1)
NUMBERS = {f"u{user}": user % 3 / 2 for user in range(USERS)}
Oracle = Callable[[Answers, Answers], Verdict]
OTHERS: dict[str, Oracle] = {
    "accuracy_gap": lambda a, b: oracles.accuracy_gap(
        choices(),
        ["q1", "q2"],
        KNOWN,
        0.1,
    ),
    "accuracy_kept": lambda a, b: oracles.accuracy_kept(
        choices(),
        choices(1),
        KNOWN,
        0.1,
    ),
    "same_choices": lambda a, b: oracles.same_choices(
        choices(),
        [choices(1)],
        KNOWN,
        0.1,
    ),
    "better_than_chance": lambda a, b: oracles.better_than_chance(choices(1), KNOWN),
    "better_than_baseline": lambda a, b: oracles.better_than_baseline(
        choices(1),
        {f"q{number}": 0.25 for number in range(USERS)},
        KNOWN,
        "guessing",
    ),
    "constant_answer": lambda a, b: oracles.constant_answer(choices(), KNOWN),
    "at_least": lambda a, b: oracles.at_least(a, "hit@3", 0.5),
    "at_most": lambda a, b: oracles.at_most(a, "item_coverage", 0.5),
    "within": lambda a, b: oracles.within(a, "hit@3", 0.5),
    "monotone": lambda a, b: oracles.monotone([a, b], "hit@3"),
    "not_increased": lambda a, b: oracles.not_increased(a, b, "hit@3"),
    "increases": lambda a, b: oracles.increases(a, b, "hit@3"),
    "decreases": lambda a, b: oracles.decreases(a, b, "hit@3"),
    "not_promoted": lambda a, b: oracles.not_promoted(a, b, "1"),
    "same_score": lambda a, b: oracles.same_score(a, b, "hit@3"),
    "not_behind": lambda a, b: oracles.not_behind([a], [b], "hit@3"),
    "not_worse": lambda a, b: oracles.not_worse(a, b, "hit@3"),
    "cand_dif_within": lambda a, b: oracles.cand_dif_within(a, b, "hit@1"),
    "no_position_bias": lambda a, b: oracles.no_position_bias(a, "hit@3"),
    "representative": lambda a, b: oracles.representative(a, b, "hit@3"),
    "latency_within": lambda a, b: oracles.latency_within(a, p50=0.5),
    "pinned": lambda a, b: oracles.pinned(a, pinned_file()),
    "judged": lambda a, b: oracles.judged(NUMBERS, KNOWN, at_most=0.5, span=(0, 1)),
    "spread_of": lambda a, b: oracles.spread_of([a, b], "hit@3", at_most=0.5),
    "agreement_with": lambda a, b: oracles.agreement_with(
        NUMBERS,
        NUMBERS,
        KNOWN,
        at_least=0.5,
        by="kappa",
    ),
    "ahead_when_cold": lambda a, b: oracles.ahead_when_cold(
        {1: a, 2: a},
        {1: b, 2: b},
        "hit@3",
    ),
}
"""Oracles that need more than one or two sides."""
NO_NUMBER = {
    "ahead_when_cold",
    "never_differs",
    "not_behind",
    "pinned",
    "representative",
}
"""Oracles that judge no mean; their reason says what was seen."""
UNFIT = {
    "exclusion_kept", "neighbours_lowered", "neighbours_not_lowered", "neighbours_not_raised",
    "neighbours_raised", "no_position_bias", "not_lifted", "paper_t_test",
}  # fmt: skip
"""Oracles that these answers allow no number: one answer a side, no changed title, no
changed history, one place.
"""


def judging(module: object) -> dict[str, Callable[..., Verdict]]:
    """The public functions of a module that return a verdict."""
    found: dict[str, Callable[..., Verdict]] = {}
    for name in module.__all__:  # type: ignore[attr-defined]
        function = getattr(module, name)
        if inspect.isfunction(function):
            returned = inspect.signature(function).return_annotation
            if getattr(returned, "__name__", returned) == "Verdict":
                found[name] = function
    return found


@over("name", sorted(judging(oracles)))
def test_every_oracle_names_its_number(name: str) -> None:
    oracle: Callable[..., Verdict] = OTHERS.get(name, judging(oracles)[name])
    sides = len([each for each in inspect.signature(oracle).parameters.values()
                 if each.default is each.empty])  # fmt: skip
    verdict = oracle(*(SOURCE, CHANGED)[:sides])
    if name in UNFIT:
        assert verdict.measures
        return
    value = verdict.estimate if verdict.metric is None else verdict.value
    assert verdict.status in ("holds", "violated", "inconclusive"), verdict.reason
    if name in NO_NUMBER:
        assert verdict.reason in verdict.summary
        return
    assert value is not None
    assert verdict.measures or verdict.metric, (
        "an oracle says in words what its number is"
    )
    assert "the effect" not in verdict.summary
    assert re.search(rf": the [\w@ ,.()-]+ is {value:.3f} \(", verdict.summary)


def test_the_promises_of_judges_and_arenas_name_their_numbers() -> None:
    assert judging(arena).keys() == {
        "judge_keeps", "judge_seldom", "judge_sees", "no_circle", "not_less_preferred", "not_scored_lower",
        "preferred",
    }, "a new one says in words what its number is, too: name it here then"  # fmt: skip
    assert all(promise.measures for promise in arena.PROMISES.values())
    assert all(limit.measures for limit in arena.SELDOM.values())


def test_a_verdict_of_a_users_own_says_what_is_true_of_it() -> None:
    bare = Verdict(
        "violated",
        "mine",
        estimate=0.3,
        interval=(0.2, 0.4),
        margin=0.1,
        users=9,
    )
    assert bare.summary == (
        "mine is violated: the effect is 0.300 (0.200 to 0.400; 9 users), against a limit of 0.1."
    )
    named = Verdict(
        "holds", "mine", "newest first", estimate=0.3, interval=(0.2, 0.4), margin=0.1, users=1,
        allowed="at least", measures="share of clicks", p_value=1.0,
    )  # fmt: skip
    assert named.summary == (
        "newest first holds: the share of clicks is 0.300 (0.200 to 0.400; 1 user), and at least 0.1 is "
        "required."
    )
