"""The output of `recsys-mt monitor`: a row of nightly
records in plain words, 80 columns wide.
"""

import textwrap
from collections.abc import Iterator, Sequence

from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.gate.monitor import Finding
from pytest_recsys_mt.gate.series import can_be_monitored, fact
from pytest_recsys_mt.safety.sanitize import one_line

WIDTH = 80

SETTLED = ("holds", "violated", "inconclusive")


def lines(
    nights: Sequence[tuple[str, Document]],
    findings: Sequence[Finding],
    alpha: float,
    change: bool,
) -> Iterator[str]:
    """The report.

    Args:
        nights: A name and a record for each night, in order.
        findings: The finding on each verdict.
        alpha: Chance of any false alarm, over all nights and verdicts.
        change: Whether the bets were on the change of users' values.
    """
    names = [_name_with_day(name, document) for name, document in nights]
    what = (
        "the change of the same users"
        if change
        else "users not seen on an earlier night"
    )
    yield from _wrapped(
        f"{_counted(len(nights), 'night')}, {_counted(len(findings), 'verdict')}; bets on {what}. With "
        f"probability {1 - alpha:g} none of the verdicts ever gives a false alarm, however many nights "
        f"follow (Holm's correction over the verdicts).",
    )
    yield ""
    yield f"{'':5} {'p':>8} {'Holm':>8} {'nights':>6} {'users':>7} {'again':>5}  verdict"
    names_models = len({found.series.model for found in findings}) > 1
    for found in sorted(findings, key=_alarms_first):
        yield from _of(found, names, change, names_models)
    yield ""
    if change:
        yield from _wrapped(
            "p: that users became no worse on any night; Holm: after the correction.",
        )
    else:
        yield from _wrapped(
            "p: that the promise was kept on all nights; Holm: after the correction; again: users seen on an "
            "earlier night, who count once.",
        )
    _, last = nights[-1]
    yield from _left_out(last, names[-1])


def _name_with_day(name: str, document: Document) -> str:
    """The name of a night and the day on which its run began, if both are known."""
    day = str(fact(document, "time", "started") or "")[:10]
    return ", ".join(filter(None, (name, day)))


def _alarms_first(found: Finding) -> tuple[bool, float]:
    return found.alarm is None, found.p_values[-1]


def _left_out(document: Document, name: str) -> Iterator[str]:
    """How many verdicts of a night cannot be monitored, if there are any."""
    settled = [row for row in document["results"] if row["status"] in SETTLED]
    left_out = [row for row in settled if not can_be_monitored(row)]
    if left_out:
        yield ""
        yield from _wrapped(
            f"{_counted(len(left_out), 'verdict')} of {name} cannot be monitored: numbers of all users "
            f"together, a step chosen from the answers, or no values of users.",
        )


def idle(nights: Sequence[tuple[str, Document]], change: bool) -> str:
    """Why the last night adds nothing, and how to change that."""
    name = nights[-1][0]
    if change:
        return (
            f"{name} has no user of an earlier night, or only answers given on one; ask the same users "
            f"every night (one --recsys-seed), and ask them anew (--recsys-mode=refresh)"
        )
    return (
        f"{name} has no user who was not counted on an earlier night, so it says nothing new; draw other "
        f"users (--recsys-seed), or give --change where the same users are asked every night"
    )


def _of(
    found: Finding,
    names: Sequence[str],
    change: bool,
    names_models: bool,
) -> Iterator[str]:
    """The figures of one verdict, and the sentences on it.

    Args:
        found: The finding.
        names: The names of the nights.
        change: Whether the bets were on the change of users' values.
        names_models: Whether the verdicts are of several models, so that each names its
            own.
    """
    series = found.series
    promise = f"{series.terms['promise']} {series.terms['margin']:g}"
    if change:
        promise = f"worse by at most {series.tolerance:g}"
    model = f" of {series.model}" if names_models else ""
    state = "quiet" if found.alarm is None else "ALARM"
    nights = sum(users > 0 for users in found.users)
    figures = (
        f"{state} {found.p_values[-1]:>8.2g} {found.adjusted[-1]:>8.2g} {nights:>6} "
        f"{sum(found.users):>7,} {found.again:>5,}  "
    )
    measured = one_line(series.terms["similarity or score"])
    yield from _wrapped(
        f"{figures}{series.name}{model}: {measured} {promise}",
        len(figures),
    )
    for note in _notes(found, names):
        yield from _wrapped(f"{'':6}{note}", 8)


def _notes(found: Finding, names: Sequence[str]) -> Iterator[str]:
    """When a promise broke, and which nights say nothing of it."""
    if found.alarm is not None and found.since is not None:
        alarm = f"broken: alarm on night {found.alarm + 1} ({names[found.alarm]})"
        if found.since < found.alarm:
            alarm += f", by what was seen since night {found.since + 1}"
        yield alarm
    if found.replayed:
        nights = _counted(found.replayed, "night")
        yield f"{nights} not counted: answers given on earlier ones"
    if found.series.restart:
        yield found.series.restart
    last = found.series.nights[-1].place
    if last < len(names) - 1:
        yield f"no values since {names[last]}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _wrapped(text: str, indent: int = 0) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )
