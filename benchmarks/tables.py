"""What benchmarks print, as Markdown tables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median

from benchmarks.promises import PROMISES
from benchmarks.zoo import Member
from pytest_recsys_mt.oracles import rate_interval
from pytest_recsys_mt.verdict.verdict import Status


@dataclass(frozen=True)
class Judged:
    """One verdict on a member of the zoo.

    Attributes:
        member: Its name.
        promise: Name of the promise.
        planted: Whether the member was made to break it.
        sound: Whether the member keeps every promise.
        status: Of the verdict.
        users: Scored.
    """

    member: str
    promise: str
    planted: bool
    sound: bool
    status: Status
    users: int


def interval(count: int, total: int) -> str:
    """A rate with the 95 % interval of Clopper and Pearson, in percent."""
    if not total:
        return "–"
    low, high = rate_interval(count, total, method="exact")
    return f"{100 * count / total:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> Iterator[str]:
    """A Markdown table and an empty line."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for line in lines:
        yield f"| {' | '.join(map(str, line))} |"
    yield ""


def dose_response(
    found: Sequence[tuple[float, Sequence[tuple[float, Status]]]],
) -> Iterator[str]:
    """A growing preference for early candidates."""
    yield "## A growing fault: preference for early candidates, `shuffle_candidates`, margin .05"
    yield ""
    statuses: tuple[Status, ...] = ("holds", "inconclusive", "violated")
    yield from table(
        ("strength", "mean D", *statuses),
        (
            (
                f"{strength:g}",
                f"{mean(effect for effect, _ in results):.3f}",
                *(sum(found == status for _, found in results) for status in statuses),
            )
            for strength, results in found
        ),
    )


def promises(found: Sequence[Judged]) -> Iterator[str]:
    """One line a promise: how often it finds what it should, and what it should not."""
    yield "## Promises: detection and false alarms, % with 95 % Clopper-Pearson intervals"
    yield ""

    def line(name: str, of: Sequence[Judged]) -> tuple[object, ...]:
        planted = [one for one in of if one.planted]
        sound = [one for one in of if one.sound]
        other = [one for one in of if not one.planted and not one.sound]
        return (
            f"`{name}`" if name != "all" else name,
            len({one.member for one in planted}),
            _violated(planted),
            _violated(sound),
            interval(sum(one.status == "holds" for one in sound), len(sound)),
            _violated(other),
            f"{median(one.users for one in of):.0f}",
        )

    names = dict.fromkeys(one.promise for one in found)
    yield from table(
        (
            "promise",
            "faults planted",
            "found in them",
            "false alarms, sound",
            "holds, sound",
            "violated, other faults",
            "median users",
        ),
        [
            *(
                line(name, [one for one in found if one.promise == name])
                for name in names
            ),
            line("all", found),
        ],
    )


def recommenders(found: Sequence[Judged], members: Sequence[Member]) -> Iterator[str]:
    """One line a recommender: what finds its fault, and what else is said of it."""
    yield "## Recommenders"
    yield ""
    lines = []
    for member in members:
        of = [one for one in found if one.member == member.name]
        planted = [one for one in of if one.planted]
        rest = [one for one in of if not one.planted]
        names = dict.fromkeys(
            one.promise for one in planted if one.status == "violated"
        )
        lines.append(
            (
                member.name,
                ", ".join(f"`{name}`" for name in names) or "–",
                _violated(planted),
                _violated(rest),
                sum(one.status == "inconclusive" for one in rest),
                sum(one.status == "error" for one in rest),
            ),
        )
    yield from table(
        (
            "recommender",
            "found by",
            "found in %",
            "violated elsewhere %",
            "inconclusive elsewhere",
            "errors elsewhere",
        ),
        lines,
    )


def matrix(
    found: Sequence[Judged],
    members: Sequence[Member],
    seeds: int,
) -> Iterator[str]:
    """Violated runs of every promise on every recommender; planted ones are bold."""
    yield f"## Violated runs of {seeds}, by promise and recommender"
    yield ""
    yield ", ".join(
        f"{number} {one.name}" for number, one in enumerate(members, start=1)
    )
    yield ""
    cells: dict[tuple[str, str], list[Judged]] = {}
    for one in found:
        cells.setdefault((one.promise, one.member), []).append(one)

    def cell(promise: str, member: str) -> str:
        of = cells.get((promise, member))
        if of is None:
            return "–"
        count = sum(one.status == "violated" for one in of)
        return f"**{count}**" if of[0].planted else str(count) if count else "·"

    yield from table(
        ("promise", *map(str, range(1, len(members) + 1))),
        (
            (
                f"`{promise.name}`",
                *(cell(promise.name, member.name) for member in members),
            )
            for promise in PROMISES
        ),
    )


def unfound(found: Sequence[Judged], members: Sequence[Member]) -> Iterator[str]:
    """Promises that find nothing and faults that nothing finds."""
    hits = [one for one in found if one.planted and one.status == "violated"]
    blind = {promise.name for promise in PROMISES} - {one.promise for one in hits}
    missed = {member.name for member in members if not member.sound} - {
        one.member for one in hits
    }
    yield f"Promises that find no fault: {', '.join(sorted(blind)) or 'none'}."
    yield f"Faults that no promise finds: {', '.join(sorted(missed)) or 'none'}."


def _violated(of: Sequence[Judged]) -> str:
    return interval(sum(one.status == "violated" for one in of), len(of))
