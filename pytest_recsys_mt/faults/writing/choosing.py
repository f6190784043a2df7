"""The choice of tests: those that together find what can be found, in few functions, and
a second test of what one alone finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

AGAIN = 0.25
"""What a second test of a fault counts, beside the first: it may find faults that only
resemble it."""

FOR_ITSELF = 0.75
"""What a function counts beside what it finds: the planted faults are only examples of
what can break."""

IN_A_FUNCTION = 0.5
"""The same of a further promise of a function that is written anyway."""

LEAST_GAIN = 0.5
"""The gain from which on a further test is worth its calls."""


@dataclass(frozen=True)
class Option:
    """A form of a test that can be chosen.

    Attributes:
        name: Of the form.
        promise: Of its candidate, of which one form is chosen at most.
        finds: The planted faults that it finds.
        calls: What it costs, as calls in addition to the plain questions.
        function: The function in which it is written; several tests may share one.
    """

    name: str
    promise: str
    finds: AbstractSet[str]
    calls: float
    function: str = ""


@dataclass(frozen=True)
class Choice:
    """The chosen forms, and for each other one why it is left out."""

    chosen: Sequence[str]
    left_out: Mapping[str, str]


def choose(options: Sequence[Option], most: int) -> Choice:
    """The tests to write: greedy cover of the faults, by cost.

    It is the greedy rule for covers (Chvatal 1979, Mathematics of Operations Research
    4(3)), with weights for a second test and for what a test is about: no bound of the
    cost is known for these.

    Args:
        options: In the order of preference, which decides between equals.
        most: The largest number of functions.
    """
    times_found: dict[str, int] = {}
    chosen: list[Option] = []
    while True:
        taken = {option.promise for option in chosen}
        functions = {_function(option) for option in chosen}
        worth = [
            (gain, option)
            for option in options
            if option.promise not in taken
            and (len(functions) < most or _function(option) in functions)
            and (gain := _gain(option, times_found, functions)) >= LEAST_GAIN
        ]
        if not worth:
            break
        # A call more counts little beside a fault more: the dearest usual test asks
        # some hundred.
        _, best = max(worth, key=lambda each: each[0] / (100 + each[1].calls))
        chosen.append(best)
        for fault in best.finds:
            times_found[fault] = times_found.get(fault, 0) + 1
    return Choice([option.name for option in chosen], _reasons(options, chosen, most))


def _function(option: Option) -> str:
    return option.function or option.name


def _gain(
    option: Option, times_found: Mapping[str, int], functions: AbstractSet[str]
) -> float:
    """What a further test adds: new faults, those that one test alone finds, and what it
    alone is about.
    """
    counts = [times_found.get(fault, 0) for fault in option.finds]
    is_open = _function(option) in functions
    own = IN_A_FUNCTION if is_open else FOR_ITSELF
    return counts.count(0) + AGAIN * counts.count(1) + own


def _reasons(
    options: Sequence[Option], kept: Sequence[Option], most: int
) -> dict[str, str]:
    found = {fault for option in kept for fault in option.finds}
    promises = {option.promise for option in kept}
    others = f"{most} others find more"
    reasons = {}
    for option in options:
        if option in kept:
            continue
        alone = ", ".join(sorted(fault for fault in option.finds if fault not in found))
        if option.promise in promises:
            reasons[option.name] = "another form of it is written"
        elif alone:
            reasons[option.name] = f"{others}; it alone finds {alone}"
        else:
            reasons[option.name] = (
                f"{others}, and all of its {len(option.finds)} faults"
            )
    return reasons
