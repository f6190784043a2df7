"""The report of a comparison of two logs, and the command that makes it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_recsys_mt.parity import comparison
from pytest_recsys_mt.parity.comparison import ALPHA, Comparison
from pytest_recsys_mt.parity.request_logs import (
    ANSWERS,
    MOST_LOST,
    Log,
    Numbered,
    finish,
    paths_of,
    read,
)
from pytest_recsys_mt.report.outputs import require_output
from pytest_recsys_mt.report.sheet import Sheet
from pytest_recsys_mt.report.sheets import write_sheets
from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.safety.errors import DataError

FORMATS = (".txt", ".md", ".html", ".csv", ".tex")
MARGIN = 0.02
"""The share of changed lists of the mean user that is allowed by default."""
NOISY_MARGIN = 0.05
"""The mean loss of agreement that is allowed by default where a log shows its noise."""


def run(given: argparse.Namespace, names: tuple[str, str] | None = None) -> int:
    """Compare two logs and report it.

    Args:
        given: The arguments of the command.
        names: The names of both sides; by default those of the files.

    Returns:
        0 if the lists are the same except for noise, else 1.

    Raises:
        DataError: If a log cannot be read.
    """
    first_path, second_path = Path(given.first), Path(given.second)
    require_output(given.output, FORMATS, ())
    paths = paths_of(given.map)
    numbered = Numbered()
    logs = tuple(read(path, paths, numbered) for path in (first_path, second_path))
    for log in logs:
        finish(log, numbered)
    first, second = logs
    if names is not None:
        first.name, second.name = names
    margin = NOISY_MARGIN if first.varies or second.varies else MARGIN
    if given.margin is not None:
        margin = int(given.margin) / 100
    catalogue, thing = _catalogue(given.data)
    found = comparison.compare(
        first,
        second,
        numbered,
        margin,
        catalogue=catalogue,
        thing=thing,
    )
    passed = found.status == "holds"
    if given.exact:
        is_whole = (
            found.status != "error"
            and not found.account.lost
            and not _beyond(found, first, second)
        )
        passed = is_whole and not found.changed and not found.noisy
    sheets = _sheets(found, first, second, catalogue, exact=given.exact)
    one, other = names or (first_path.name, second_path.name)
    title = f"{one} and {other}: {verdict(found, exact=given.exact)}"
    write_sheets(given.output, "comparison", title, sheets, usual=".txt")
    return 0 if passed else 1


def verdict(found: Comparison, *, exact: bool = False) -> str:
    """The outcome in a few words."""
    if found.status == "error":
        return "nothing can be said"
    if exact:
        return (
            f"{_lists(found.changed)} differ"
            if found.changed
            else "not one list that was compared differs"
        )
    if found.status == "holds":
        return "the same lists" if not found.noisy else "the same lists, but for noise"
    return "other lists" if found.status == "violated" else "it cannot be told"


def _catalogue(data: str | None) -> tuple[Mapping[str, Item], str]:
    if data is None:
        return {}, ""
    from pytest_recsys_mt.datasets import load

    dataset = load(data)
    return dataset.items, dataset.thing


def _sheets(
    found: Comparison,
    first: Log,
    second: Log,
    catalogue: Mapping[str, Item],
    *,
    exact: bool,
) -> list[Sheet]:
    sheets = [
        Sheet(
            "",
            notes=[*_verdict_lines(found, exact=exact), *filter(None, [found.shared])],
        ),
    ]
    if found.items:
        rows = []
        for item, before, after in found.items:
            label = catalogue[item].label if item in catalogue else item
            rows.append((label, str(before), str(after), f"{after - before:+d}"))
        columns = ("item", "lists of A", "lists of B", "difference")
        sheets.append(Sheet("Items that lists lost or gained", columns, rows))
    sheets.append(
        Sheet("What was compared", notes=list(_account_lines(found, first, second))),
    )
    return sheets


def _verdict_lines(found: Comparison, *, exact: bool) -> Iterator[str]:
    if found.status == "error":
        if found.account.compared == 0:
            yield "Nothing is claimed: there is no request to compare"
        else:
            yield (
                f"Nothing is claimed: {found.account.lost:.1%} of the requests are answered in one log alone or have two "
                f"users, or rows cannot be read; at most {MOST_LOST:.0%} may"
            )
        return
    low, high = found.bounds
    of_users = f"{found.mean:.4f} ({low:.4f} to {high:.4f}; {found.users:,} users)"
    allowed = (
        "none is allowed (--exact)" if exact else f"at most {found.margin:g} is allowed"
    )
    if found.noisy:
        yield f"{found.status}: the mean user loses {of_users} of agreement beyond the noise of both; {allowed}"
        yield (
            f"agreement (RBO) of both {found.agreement:.4f}, of two answers of one of them {found.floor:.4f}"
        )
    else:
        yield f"{found.status}: the mean user gets another list in a share of {of_users} of the requests; {allowed}"
        yield f"agreement (RBO) of both: {found.agreement:.4f}"
    if found.status == "inconclusive" and not exact:
        yield (
            f"{found.users:,} users show neither that it is at most {found.margin:g} nor that it is more: log more users, "
            f"or allow more with --margin"
        )
    compared = found.account.compared
    yield (
        f"{found.changed:,} of {compared:,} lists differ; {found.reordered:,} of these hold the same items in "
        f"another order"
    )
    if exact and found.noisy:
        yield "--exact needs one answer a request: two answers to one request may differ by noise alone"


def _account_lines(found: Comparison, first: Log, second: Log) -> Iterator[str]:
    account = found.account
    yield f"{account.requests:,} requests: {account.compared:,} compared"
    left_out = {
        "only A answers": account.only_first,
        "only B answers": account.only_second,
        "of which A and B name two users": account.other_user,
        "whose lists are empty in both": account.empty,
        "answered once, in a log that answers others twice, so their noise is unknown": account.asked_once,
    }
    for why, count in left_out.items():
        if count:
            yield f"{count:,} left out {why}"
    for name, log in (("A", first), ("B", second)):
        shown = log.name or repr(str(log.path))
        yield f"{name}: {shown}, {log.rows:,} rows{rows_left_out(log)}"
        yield from (f"{name}, {example}" for example in log.examples)
    if not found.noisy:
        yield (
            "no log has two answers to one request that differ, so both are taken to answer alike each time, and noise counts as "
            "change; log some requests twice to take it off"
        )
    if found.account.lost:
        yield "what is answered in one log alone, or has two users, counts against either claim"
    if longest := _beyond(found, first, second):
        yield f"the first {found.places} of up to {longest} places are compared; --exact fails for that"
    yield f"bounds and verdict are each wrong with a probability of at most {ALPHA:g}"


def _beyond(found: Comparison, first: Log, second: Log) -> int:
    """The length of the longest list if not all of its places are compared, else 0."""
    longest = max(first.longest, second.longest)
    return longest if longest > found.places else 0


def rows_left_out(log: Log) -> str:
    """What became of the rows of a log that are not compared as they are, in words."""
    parts = [
        f"{count:,} {what}"
        for count, what in (
            (log.unreadable, "cannot be read"),
            (log.further, f"are answers beyond the first {ANSWERS} to a request"),
            (log.other_user, "name another user than an earlier row of the request"),
            (
                log.without_user,
                "name no user, so each of their requests counts as a user",
            ),
        )
        if count
    ]
    if log.repeats:
        parts.append(
            f"{log.repeats:,} lists name an item twice, whose first place counts",
        )
    return "".join(f"; {part}" for part in parts)


def _lists(count: int) -> str:
    return "1 list" if count == 1 else f"{count:,} lists"


def require_logs(given: argparse.Namespace) -> None:
    """Refuse sides and options that a comparison of logs cannot use.

    Raises:
        DataError: If both are one file, or an option does not apply.
    """
    if Path(given.first).resolve() == Path(given.second).resolve():
        raise DataError(f"both logs are the file {given.first!r}; name two")
    refused = {
        "--users": given.users is not None,
        "--open": given.open,
        "--fresh": given.fresh,
        "--on": given.on is not None,
    }
    for option, is_given in refused.items():
        if is_given:
            raise DataError(
                f"{option} says how recommenders are asked, and two logs are compared without asking; leave it out",
            )
    if given.pytest:
        raise DataError(
            f"two logs are compared without pytest, so {given.pytest[0]!r} is no option of it",
        )
