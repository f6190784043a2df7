"""From the trial to the file: what is chosen, how it is asserted, and whether it stands
on other users.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pytest_recsys_mt.faults.adequacy.running import Runs
from pytest_recsys_mt.faults.naming import Dose
from pytest_recsys_mt.faults.writing.candidates import Candidate, form_name
from pytest_recsys_mt.faults.writing.choosing import Choice, Option, choose
from pytest_recsys_mt.faults.writing.rendering import (
    Written,
    trial_file,
    whole_file,
    words,
)
from pytest_recsys_mt.faults.writing.settling import USERS, Settled, settled, wider
from pytest_recsys_mt.faults.writing.themes import theme_of
from pytest_recsys_mt.faults.writing.trial import (
    Outcome,
    Trial,
    asked_in,
    doses,
    outcomes_of,
    test_name,
    tried,
)

ATTEMPTS = 3
"""How often the file is tried on other users, with larger margins where they are too
small."""

SHOWN = 4
"""Faults that a comment names."""

_ENDS = {"holds": "held", "violated": "was violated"}


@dataclass(frozen=True)
class Order:
    """What is to be written.

    Attributes:
        arguments: Those of pytest: the recommender, the data and so on.
        folder: Where the runs are kept.
        seconds: For the runs with faults.
        most: The largest number of tests.
        jobs: Runs at a time.
        free_faults: Whether only faults are planted that ask nothing further.
        broken: What becomes of broken promises: ``red`` or ``xfail``.
        exact_users: Users of an exact test.
        thing: The word for an item.
        faults: Those that are planted; None for all, or all that ask nothing further.
        beyond_budget: How many promises are not tried, since the calls do not allow it.
    """

    arguments: Sequence[str]
    folder: Path
    seconds: float
    most: int
    jobs: int
    free_faults: bool
    broken: str
    exact_users: int = USERS
    thing: str = ""
    faults: Sequence[Dose] | None = None
    beyond_budget: int = 0


@dataclass(frozen=True)
class File:
    """The file, and how it came about.

    Attributes:
        tests: What it holds.
        promises: All candidates with their verdicts, in their order.
        chosen: Those that the file asserts.
        choice: Which forms were chosen, and why others were not.
        trial: The runs that it was chosen by.
        elsewhere: How its tests ended in a run of another seed, by name.
        others: How many users of that run were not in the trial.
        dropped: Tests that were left out after that, with the reason.
        beyond_budget: See `Order`.
    """

    tests: Sequence[Written]
    promises: Sequence[Settled]
    chosen: Sequence[Settled]
    choice: Choice
    trial: Trial
    elsewhere: Mapping[str, Outcome]
    others: int
    dropped: Mapping[str, str]
    beyond_budget: int


def write(
    order: Order, candidates: Sequence[Candidate], say: Callable[[str], None]
) -> File:
    """Find out what holds, choose the tests, and try them on other users."""
    found = _trial(order, candidates, say)
    users = int(found.record["settings"]["users"])
    promises = [
        settled(each, found.outcomes, users, order.exact_users) for each in candidates
    ]
    choice = _choice(promises, found, order.most)
    chosen = [
        each
        for each in promises
        if each.verdict == "violated"
        or (each.form is not None and each.test in choice.chosen)
    ]
    chosen, elsewhere, asked, dropped = _on_others(order, chosen, say)
    places = {each.name: place for place, each in enumerate(candidates)}
    by_place = sorted(chosen, key=lambda each: places[each.candidate.name])
    tests = with_own_names(
        [_test(some, found, order) for some in _in_functions(by_place)]
    )
    return File(
        tests,
        promises,
        by_place,
        choice,
        found,
        elsewhere,
        len(asked - asked_in(found.record)),
        dropped,
        order.beyond_budget,
    )


def planned(order: Order, candidates: Sequence[Candidate]) -> tuple[int, float]:
    """The calls and dollars that a run with these candidates takes at the most."""
    plan = _runs(order, candidates).plan(quietly=True)
    return int(plan["to_make"]), float(plan.get("usd") or 0)


def seconds_a_request(order: Order, candidates: Sequence[Candidate]) -> float:
    """How long the recommender takes for a request, of the first promise's twenty."""
    few = replace(order, arguments=[*order.arguments, "--recsys-users=20"])
    latency = _runs(few, candidates[:1]).once("latency")["time"]["latency"]
    medians = (row[name] for row in latency for name in ("p50", "batched_p50"))
    return max((median for median in medians if median), default=0.0)


def _runs(order: Order, candidates: Sequence[Candidate]) -> Runs:
    path = order.folder / "test_trial.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(trial_file(candidates, order.exact_users), encoding="utf-8")
    return Runs(
        [str(path), *order.arguments],
        order.folder,
        first_kill=False,
        with_faults=partial(_meets_faults, candidates),
    )


def _meets_faults(
    candidates: Sequence[Candidate], nodeid: str, outcomes: Mapping[str, str]
) -> bool:
    """Whether a form is run with faults: it can meet one, and no form before it held."""
    passed = {test_name(test) for test, ended in outcomes.items() if ended == "passed"}
    name = test_name(nodeid)
    for candidate in candidates:
        names = [form_name(candidate, form) for form in candidate.forms]
        if name in names:
            is_first = passed.isdisjoint(names[: names.index(name)])
            # Another process starts slowly, and faults leave training as it is.
            slow = candidate.fits_again or candidate.change == "ask_elsewhere"
            return is_first and not slow
    return False


def _trial(
    order: Order, candidates: Sequence[Candidate], say: Callable[[str], None]
) -> Trial:
    runs = _runs(order, candidates)
    chosen = order.faults
    if chosen is None:
        chosen = doses(free_only=order.free_faults)
    return tried(runs, chosen, order.seconds, order.jobs, say)


def _choice(promises: Sequence[Settled], found: Trial, most: int) -> Choice:
    broken = sum(each.verdict == "violated" for each in promises)
    options = [
        Option(
            each.test,
            each.candidate.name,
            found.finds.get(each.test, frozenset()),
            each.asked,
            _function(each),
        )
        for each in promises
        if each.verdict == "holds"
    ]
    return choose(options, max(0, most - broken))


def _on_others(
    order: Order, chosen: Sequence[Settled], say: Callable[[str], None]
) -> tuple[list[Settled], dict[str, Outcome], set[str], dict[str, str]]:
    """The tests as they stand on other users: margins that are too small there are
    widened, and what does not end as on the first users is left out.

    Returns:
        The tests that are kept, how they ended in the last run, who was asked in it,
        and why others were left out.
    """
    kept = list(chosen)
    dropped: dict[str, str] = {}
    ended: dict[str, Outcome] = {}
    asked: set[str] = set()
    for attempt in range(1, ATTEMPTS + 1):
        if not kept:
            break
        ended, asked = _ends(order, kept, attempt)
        is_last = attempt == ATTEMPTS
        changed = False
        for each in list(kept):
            outcome = ended[each.candidate.name]
            if each.ends_as(outcome):
                continue
            changed = True
            larger = wider(each) if outcome.status == "inconclusive" else None
            if larger is None or is_last or each.verdict != "holds":
                dropped[each.candidate.name] = _unlike(each, outcome, attempt)
                kept = [other for other in kept if other.candidate != each.candidate]
            else:
                kept = widened(kept, each, larger.margin)
        say(
            f"on other users (seed {attempt}): {len(kept)} of {len(ended)} tests kept"
            + (", some with larger margins" if changed else "")
        )
        if not changed:
            break
    return kept, ended, asked, dropped


def widened(kept: Sequence[Settled], one: Settled, margin: float) -> list[Settled]:
    """The promises with a larger margin of one, and of those in its function."""
    function = _function(one)
    return [
        replace(each, margin=margin) if _function(each) == function else each
        for each in kept
    ]


def _unlike(each: Settled, outcome: Outcome, seed: int) -> str:
    """Why a test is left out that ended otherwise on other users."""
    reason = f" ({outcome.reason})" if outcome.reason else ""
    return f"it {_ENDS[each.verdict]} on the first users, and was {outcome.status} on others, of seed {seed}{reason}"


def _ends(
    order: Order, chosen: Sequence[Settled], seed: int
) -> tuple[dict[str, Outcome], set[str]]:
    """How the tests end with another seed, and who is asked."""
    path = order.folder / "test_written.py"
    tests = [each.written() for each in chosen]
    path.write_text(whole_file("On other users.", tests), encoding="utf-8")
    runs = Runs(
        [str(path), *order.arguments, f"--recsys-seed={seed}"],
        order.folder,
        first_kill=False,
    )
    record = runs.once(f"on-other-users-{seed}")
    ended = outcomes_of(record)
    names = [each.candidate.name for each in chosen]
    outcomes = {name: ended.get(name, Outcome("skipped")) for name in names}
    return outcomes, asked_in(record)


def _function(each: Settled) -> str:
    """The name of the function in which a promise is asserted: that of its theme, if it
    holds in a form that others of the theme can have.
    """
    theme = theme_of(each.candidate)
    if theme is None or each.verdict != "holds" or each.form is None:
        return each.candidate.name
    return f"{theme.name} {each.form.oracle} {each.margin:g}"


def _in_functions(chosen: Sequence[Settled]) -> list[list[Settled]]:
    """The promises of each function, in their order."""
    by_function: dict[str, list[Settled]] = {}
    for each in chosen:
        by_function.setdefault(_function(each), []).append(each)
    return list(by_function.values())


def _test(some: Sequence[Settled], found: Trial, order: Order) -> Written:
    """The function of one promise, or of several of a theme."""
    first = some[0]
    naming = words(order.thing)
    theme = theme_of(first.candidate)
    why = first.candidate.why
    if len(some) > 1 and theme is not None:
        why = theme.why
    comments = [why.format(**naming)]
    if first.verdict == "violated":
        comments.append(f"Broken: {first.note}" if first.note else "Broken.")
        xfail = "a broken promise" if order.broken == "xfail" else ""
        return replace(first.written(comments), xfail=xfail)
    comments = [" ".join([*comments, *_found(some, found)])]
    comments += [each.comment for each in some if each.comment]
    if len(some) == 1 or theme is None:
        return first.written(comments)
    changes = tuple(each.candidate.change for each in some)
    return replace(first.written(comments), name=theme.name, changes=changes)


def with_own_names(tests: Sequence[Written]) -> list[Written]:
    """The functions with names that differ: those of one theme in several forms get
    numbers, since Python would run the last of equal names alone.
    """
    counts: dict[str, int] = {}
    named = []
    for test in tests:
        counts[test.function] = counts.get(test.function, 0) + 1
        number = counts[test.function]
        name = test.function if number == 1 else f"{test.function}_{number}"
        named.append(replace(test, name=name))
    return named


def _found(some: Sequence[Settled], found: Trial) -> list[str]:
    """What the tests of a function find, in a sentence."""
    faults = {fault for each in some for fault in found.finds.get(each.test, ())}
    kinds = sorted({fault.partition(":")[0] for fault in faults})
    if not kinds:
        return []
    more = len(kinds) - SHOWN
    named = ", ".join(kinds[:SHOWN])
    return [f"Finds {named} and {more} more." if more > 0 else f"Finds {named}."]
