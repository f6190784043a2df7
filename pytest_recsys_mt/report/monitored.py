"""The output of `recsys-mt monitor`: a row of nightly records in plain words, 80 columns wide."""

import textwrap
from collections.abc import Iterator, Sequence

from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.gate.monitor import Finding
from pytest_recsys_mt.gate.series import can_be_monitored, fact
from pytest_recsys_mt.safety.sanitize import one_line

WIDTH = 80

SETTLED = ("holds", "violated", "inconclusive")


def lines(
    nights: Sequence[tuple[str, Document]], findings: Sequence[Finding], alpha: float, change: bool
) -> Iterator[str]:
    """The report: `change` says whether the bets were on the change of users' values."""
    days = [str(fact(document, "time", "started") or "")[:10] for _, document in nights]
    names = [
        ", ".join(filter(None, each)) for each in zip((n for n, _ in nights), days, strict=True)
    ]
    what = "the change of the same users" if change else "users not seen on an earlier night"
    yield from _wrapped(
        f"{_counted(len(nights), 'night')}, {_counted(len(findings), 'verdict')}; bets on {what}. With "
        f"probability {1 - alpha:g} none of the verdicts ever gives a false alarm, however many nights "
        f"follow (Holm's correction over the verdicts)."
    )
    several = len({found.series.model for found in findings}) > 1
    yield ""
    yield f"{'':5} {'p':>8} {'Holm':>8} {'nights':>6} {'users':>7} {'again':>5}  verdict"
    for found in sorted(findings, key=lambda found: (found.alarm is None, found.p_values[-1])):
        yield from _of(found, names, change, several)
    yield ""
    yield from _wrapped(
        "p: that the promise was kept on all nights; Holm: after the correction; again: users seen on an "
        "earlier night, who count once."
        if not change
        else "p: that users became no worse on any night; Holm: after the correction."
    )
    rows = [row for row in nights[-1][1]["results"] if row["status"] in SETTLED]
    left = [row for row in rows if not can_be_monitored(row)]
    if left:
        yield ""
        yield from _wrapped(
            f"{_counted(len(left), 'verdict')} of {names[-1]} cannot be monitored: numbers of all users "
            f"together, a step chosen from the answers, or no values of users."
        )


def idle(nights: Sequence[tuple[str, Document]], change: bool) -> str:
    """Why the last night adds nothing, and what to do."""
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


def _of(found: Finding, names: Sequence[str], change: bool, several: bool) -> Iterator[str]:
    series = found.series
    promise = f"{series.terms['promise']} {series.terms['margin']:g}"
    if change:
        promise = f"worse by at most {series.tolerance:g}"
    model = f" of {series.model}" if several else ""
    state = "quiet" if found.alarm is None else "ALARM"
    nights = sum(users > 0 for users in found.users)
    figures = (
        f"{state} {found.p_values[-1]:>8.2g} {found.adjusted[-1]:>8.2g} {nights:>6} "
        f"{sum(found.users):>7,} {found.again:>5,}  "
    )
    measured = one_line(series.terms["similarity or score"])
    yield from _wrapped(f"{figures}{series.name}{model}: {measured} {promise}", len(figures))
    if found.alarm is not None and found.since is not None:
        since = f", by what was seen since night {found.since + 1}" * (found.since < found.alarm)
        yield from _wrapped(
            f"{'':6}broken: alarm on night {found.alarm + 1} ({names[found.alarm]}){since}", 8
        )
    if found.replayed:
        told = (
            f"{'':6}{_counted(found.replayed, 'night')} not counted: answers given on earlier ones"
        )
        yield from _wrapped(told, 8)
    if series.anew:
        yield from _wrapped(f"{'':6}{series.anew}", 8)
    if series.nights[-1].place < len(names) - 1:
        yield from _wrapped(f"{'':6}no values since {names[series.nights[-1].place]}", 8)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _wrapped(text: str, indent: int = 0) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)
