"""The output of `recsys-mt mutate`, 80 columns wide: the
score, the survivors, and tests that find them.
"""

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from pytest_recsys_mt.faults import Dose
from pytest_recsys_mt.faults.adequacy.document import (
    Adequacy,
    Fate,
    Remedy,
    Score,
    Trial,
)
from pytest_recsys_mt.safety.sanitize import one_line, sanitize

WIDTH = 80


def lines(found: Adequacy) -> Iterator[str]:
    """The report: for each recommender the score, then
    survivors, unclear, not planted, equivalent.
    """
    for score in found["scores"]:
        own = [trial for trial in found["trials"] if trial["model"] == score["model"]]
        yield ""
        title = f" recsys-mt mutate: {one_line(score['model'])} on {one_line(found['data'])} "
        yield title.center(WIDTH, "=")[:WIDTH]
        yield from _wrapped(score_text(score))
        yield from _left_out(found)
        of = {
            fate: [trial for trial in own if trial["fate"] == fate]
            for fate in get_args(Fate)
        }
        count = len(of["killed"])
        title = f"KILLED: {count}, each by how many tests, and the first of them"
        yield from _section(title, of["killed"], _killed)
        yield from _section(
            "SURVIVED: your tests hold with these faults",
            of["survived"],
            _unfound,
        )
        title = "UNCLEAR: no test fails for these, and some cannot tell"
        yield from _section(title, of["unclear"], _unfound)
        yield from _to_add(own)
        yield from _section("NOT PLANTED", of["not planted"], _listed)
        title = "EQUIVALENT for this recommender: its answers stay as they are"
        yield from _section(title, of["equivalent"], _listed)


def score_text(score: Score) -> str:
    """The score in one sentence."""
    if score["share"] is None or score["interval"] is None:
        return "no planted fault changes the answers, so there is no score."
    low, high = score["interval"]
    return (
        f"score: {score['share']:.1%} [{low:.1%}, {high:.1%}]: {score['killed']} of the {score['faults']} "
        f"planted faults that change answers are found (bounds of {score['confidence']:.0%}); "
        f"{score['equivalent']} change none."
    )


def effect_text(trial: Trial) -> str:
    """How much the fault of a trial changes, and where, in words."""
    elsewhere = trial["fate"] == "survived" and trial["reason"]
    where = f"{elsewhere}: there it " if elsewhere else ""
    difference = trial["difference"]
    if difference is None or not difference["answers"]:
        return f"{where}nothing is known of its effect"
    share = difference["differing"] / difference["answers"]
    return (
        f"{where}changes {share:.0%} of {difference['answers']:,} answers, of {difference['hit']} of "
        f"{difference['users']} users; mean loss of agreement {difference['lost']:.3f}"
    )


def plan_lines(planned: Mapping[str, Any], chosen: Sequence[Dose]) -> Iterator[str]:
    """The most calls that all runs would send."""
    asking = [dose for dose in chosen if dose.kind.costs()]
    calls, to_make = int(planned["calls"]), int(planned["to_make"])
    further = calls * len(asking)
    yield ""
    yield from _wrapped(
        f"{len(chosen)} {'fault' if len(chosen) == 1 else 'faults'}: {len(chosen) - len(asking)} change answers only and ask nothing more than a "
        f"run without a fault ({to_make:,} calls to make at the most). {len(asking)} change requests, and ask "
        f"at the most {calls:,} each: {further:,}. In all at the most {to_make + further:,} calls.",
    )
    if usd := planned.get("usd"):
        most = usd + usd / max(to_make, 1) * calls * len(asking)
        yield from _wrapped(
            f"At the price of the planned calls, at the most ${most:,.2f}.",
        )


def fault_lines(chosen: Iterable[Dose]) -> Iterator[str]:
    """Each fault with its effect."""
    for dose in chosen:
        note = " (asks other requests)" if dose.kind.costs() else ""
        yield from _wrapped(f"{dose.spec}  {dose.does}{note}", "    ")


def _section(
    title: str,
    trials: Sequence[Trial],
    lines_of: Callable[[Trial], Iterable[str]],
) -> Iterator[str]:
    if trials:
        yield ""
        yield title
        for trial in trials:
            yield from lines_of(trial)


def _killed(trial: Trial) -> Iterator[str]:
    by = [test for test, cell in trial["cells"].items() if cell == "killed"]
    name = one_line(by[0].rpartition("/")[2].partition("::")[2])
    line = f"  {trial['fault']:<30} {len(by):>3}  {name}"
    yield line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."


def _left_out(found: Adequacy) -> Iterator[str]:
    failing = found["failing"]
    counts = {
        "are inconclusive in part without a fault, and count by what holds": len(
            found["partly"],
        ),
        "are skipped or did not run": len(found["left_out"]) - len(failing),
        "fail without a fault and count for nothing": len(failing),
    }
    if text := "; ".join(f"{count} {how}" for how, count in counts.items() if count):
        yield from _wrapped(f"of your tests, {text}{':' if failing else '.'}")
    for test in failing:
        reason = one_line(found["left_out"][test])
        yield from _wrapped(f"{one_line(test)}: {reason}", "      ", "  ")


def _unfound(trial: Trial) -> Iterator[str]:
    yield f"  {trial['fault']}"
    yield from _wrapped(f"it {trial['does']}", "    ", first="    ")
    yield from _wrapped(effect_text(trial), "    ", first="    ")


def _to_add(trials: Sequence[Trial]) -> Iterator[str]:
    for number, (remedy, faults) in enumerate(to_add(trials), 1):
        if number == 1:
            yield ""
            yield "TO ADD: tests made for these faults; pytest -o recsys_fault=NAME tries one"
        yield from _wrapped(f"{number}. for {', '.join(faults)}:", "     ", first="  ")
        yield from _wrapped(advice(remedy), "     ", first="     ")
        if not remedy["asked"]:
            yield ""
            yield from (
                f"        {line}".rstrip()
                for line in sanitize(remedy["code"]).splitlines()
            )
            yield ""


def to_add(trials: Sequence[Trial]) -> list[tuple[Remedy, list[str]]]:
    """The remedies for faults that were not found, with the
    faults that each is made for; the most first.
    """
    groups: dict[str, tuple[Remedy, list[str]]] = {}
    for trial in trials:
        if (
            trial["fate"] in ("survived", "unclear")
            and (remedy := trial["remedy"]) is not None
        ):
            groups.setdefault(remedy["code"], (remedy, []))[1].append(trial["fault"])
    return sorted(groups.values(), key=lambda group: -len(group[1]))


def advice(remedy: Remedy) -> str:
    """The advice on a remedy, in a sentence."""
    if remedy["asked"]:
        test = one_line(remedy["asked"][0].partition("::")[2])
        return (
            f"{remedy['relation']}. {test} asks this, and its margin allows what these faults do: "
            f"lower the margin, or ask more users, if you want to find them."
        )
    needs = (
        f" (if it declares promises = ({remedy['promised']!r},))"
        if remedy["promised"]
        else ""
    )
    return f"{remedy['relation']}{needs}"


def _listed(trial: Trial) -> list[str]:
    return _wrapped(f"{trial['fault']}: {one_line(trial['reason'])}", "      ", "  ")


def _wrapped(text: str, indent: str = "", first: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=indent)
