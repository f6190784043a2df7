"""The report of a comparison of two logs, and the command that makes it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_recsys_mt.parity import comparison
from pytest_recsys_mt.parity.bounds import ALPHA
from pytest_recsys_mt.parity.compared_scores import Scores
from pytest_recsys_mt.parity.comparison import Comparison
from pytest_recsys_mt.parity.log_rows import RowReader, paths_of
from pytest_recsys_mt.parity.request_logs import (
    ANSWERS,
    MOST_LOST,
    Log,
    Numbered,
    finish,
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
    logs = tuple(
        read(path, RowReader(paths), numbered) for path in (first_path, second_path)
    )
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
        passed = not found.changed and not hindrances(found, first, second)
    sheets = _sheets(found, first, second, catalogue, exact=given.exact)
    one, other = names or (first_path.name, second_path.name)
    said = exact_verdict(found, first, second) if given.exact else verdict(found)
    title = f"{one} and {other}: {said}"
    write_sheets(given.output, "comparison", title, sheets, usual=".txt")
    return 0 if passed else 1


def exact_verdict(found: Comparison, first: Log, second: Log) -> str:
    """The outcome in a few words, where not one list may differ."""
    if found.changed and not found.noisy:
        return f"{_lists(found.changed)} differ"
    if why := hindrances(found, first, second):
        return f"it cannot be told, {why[0]}"
    return "not one list differs"


def hindrances(found: Comparison, first: Log, second: Log) -> list[str]:
    """What keeps lists that do not differ from showing that none does."""
    account = found.account
    reasons = {
        "as there is no request to compare": account.compared == 0,
        "as two answers to one request differ": found.noisy,
        f"as {account.missing:,} requests have one answer, or two users": account.missing,
        f"as {first.unreadable + second.unreadable:,} rows cannot be read": (
            first.unreadable + second.unreadable
        ),
        f"as lists have more than the {found.places} places that are compared": _beyond(
            found,
            first,
            second,
        ),
    }
    return [reason for reason, holds in reasons.items() if holds]


def verdict(found: Comparison) -> str:
    """The outcome in a few words."""
    if found.status == "error":
        return "nothing can be said"
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
            notes=[
                *_verdict_lines(found, first, second, exact=exact),
                *filter(None, [found.shared]),
            ],
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


def _verdict_lines(
    found: Comparison,
    first: Log,
    second: Log,
    *,
    exact: bool,
) -> Iterator[str]:
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
    # With --exact, the first line says the outcome, which is not that of the mean.
    status = "" if exact else f"{found.status}: "
    if found.noisy:
        yield f"{status}the mean user loses {of_users} of agreement beyond the noise of both; {allowed}"
        yield from _noise_lines(found)
    else:
        yield f"{status}the mean user gets another list in a share of {of_users} of the requests; {allowed}"
        yield f"agreement (RBO) of both: {found.agreement:.4f}"
    if found.status == "inconclusive" and not exact:
        yield (
            f"{found.users:,} users show neither that it is at most {found.margin:g} nor that it is more: {_advice(found)}"
        )
    compared = found.account.compared
    yield (
        f"{found.changed:,} of {compared:,} lists differ; {found.reordered:,} of these hold the same items in "
        f"another order"
    )
    if found.scores is not None:
        yield from _score_lines(found.scores)
    elif first.has_scores != second.has_scores:
        yield f"scores: only {'A' if first.has_scores else 'B'} has some, so they are not compared"
    if exact and found.noisy:
        yield "--exact needs one answer a request: two answers to one request may differ by noise alone"


def _noise_lines(found: Comparison) -> Iterator[str]:
    """What is known of the noise of both logs."""
    yield (
        f"agreement (RBO) of both {found.agreement:.4f}, of two answers of one of them {found.floor:.4f}"
    )
    for name, is_unknown in zip("AB", found.unknown, strict=True):
        if is_unknown:
            yield (
                f"{name} answers no request twice, so its noise is not known: it may vary as the other one does, or not at all, "
                f"and the verdict holds for both; log some of its requests twice"
            )
    if found.is_noisier:
        yield (
            f"the {found.noise_of:,} requests that were answered twice vary more than the others do, as where those were "
            f"repeated that had failed: their noise is not that of the others, so nothing is said to hold"
        )
    elif found.noise_of is not None:
        yield (
            f"noise is that of the {found.noise_of:,} requests that were answered twice; the other "
            f"{found.account.compared - found.noise_of:,} are taken to vary as much: log all requests twice if those are of "
            f"another kind, such as repeated after a failure"
        )


def _advice(found: Comparison) -> str:
    """What would tell more."""
    if found.account.missing and found.mean <= found.margin:
        return (
            f"{found.account.missing:,} requests without two answers to compare may all differ; log these, "
            f"or allow more with --margin"
        )
    if found.is_noisier:
        return "log all requests twice"
    if any(found.unknown):
        return "log requests of both twice, or allow more with --margin"
    if found.noise_of is not None:
        return "log more users, and more requests twice, or allow more with --margin"
    return "log more users, or allow more with --margin"


def _score_lines(scores: Scores) -> Iterator[str]:
    if not scores.changed:
        yield f"scores: all {scores.compared:,} of items that both lists have are equal"
        return
    request, item = scores.example
    yield (
        f"scores: {scores.changed:,} of {scores.compared:,} of items that both lists have differ, in {scores.changed_lists:,} of "
        f"{scores.lists:,} lists, {scores.same_lists:,} of them the same lists otherwise; by {scores.largest:.3g} at most "
        f"(request {request!r}, item {item!r}), the median by {scores.median:.3g}"
    )
    if scores.rounding:
        yield f"all these differences are as small as those of rounding to {scores.rounding}"


def _account_lines(found: Comparison, first: Log, second: Log) -> Iterator[str]:
    account = found.account
    yield f"{account.requests:,} requests: {account.compared:,} compared"
    left_out = {
        "only A answers": account.only_first,
        "only B answers": account.only_second,
        "of which A and B name two users": account.other_user,
        "whose lists are empty in both": account.empty,
        "answered once, in a log that answers others twice; their noise is unknown, so they count against either claim": (
            account.asked_once
        ),
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
            (
                log.empty_repeats,
                "have no item where another row of the request has some, which counts alone",
            ),
            (
                log.reader.unscored,
                "have scores that are not one finite number for each item",
            ),
            (_without_scores(log), "have no scores, where others have some"),
        )
        if count
    ]
    if log.repeats:
        parts.append(
            f"{log.repeats:,} lists name an item twice, whose first place counts",
        )
    if log.reader.decimals:
        parts.append(
            f"{log.reader.decimals:,} ids are numbers such as 17.0, read as 17",
        )
    return "".join(f"; {part}" for part in parts)


def _without_scores(log: Log) -> int:
    """How many rows have no scores in a log that has some."""
    if not log.has_scores:
        return 0
    return log.rows - log.unreadable - log.reader.scored - log.reader.unscored


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
