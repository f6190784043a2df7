"""The command `recsys-mt compare`: what became worse between two runs, or two models of one run, and on whom."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import compress
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import numpy as np

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.gate.baseline import counterpart, prompts_of, rows_of
from pytest_recsys_mt.gate.comparison import keyed
from pytest_recsys_mt.gate.decision import Gate
from pytest_recsys_mt.gate.document import Changed, Comparison, Document, Row
from pytest_recsys_mt.gate.nodeids import address, addresses
from pytest_recsys_mt.gate.policy import FILE, Policy, load
from pytest_recsys_mt.gate.reading import OF_EXAMPLES
from pytest_recsys_mt.gate.states import measured, state_of
from pytest_recsys_mt.gate.store import Store, called
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.report.compared import CHANGES, LOUD
from pytest_recsys_mt.report.outputs import record_at, require_output, told_as_data
from pytest_recsys_mt.report.sheets import WRITERS, Sheet, write_sheets
from pytest_recsys_mt.report.short_names import named
from pytest_recsys_mt.report.spending import cost
from pytest_recsys_mt.safety.numbers import names_in_both, numbers_of
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.wording import group_in_words

LIKE = ("models", "data", "seed")  # what two runs have in common of which only one is named
MOST = 5
"""Users, and groups of users, that are shown."""
TITLES = 5
"""Items of a list that are shown."""
LONGEST = 200
"""Characters of a title that are shown."""
NO_GROUPS = (
    "no groups of users were judged in both runs; --recsys-slices=activity,genre judges some"
)


@dataclass(frozen=True)
class _Pair:
    name: str
    old: Row | None
    new: Row
    found: Changed
    users: Sequence[str] = ()
    worse: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def broke(self) -> str:
        """What it was and is, if it is a failure now and was none."""
        states = [state_of(row) for row in (self.old, self.new) if row]
        bad = [state in ("violated", "error") for state in states]
        return f"{self.name}: {states[0]} then, {states[1]} now" if bad == [False, True] else ""


def compare_runs(paths: Sequence[Path], output: Path | None) -> int:
    """Write the comparison of two records, of the models of one, or of the latest kept run and the one before.

    Returns:
        0 if nothing became worse, 1 if something did or the later one alone is partial, 2 if they cannot be compared, or
        no test was judged in both.

    Raises:
        DataError, PolicyError: If a record cannot be read or compared, or the file cannot be written.
    """
    require_output(output, WRITERS, paths)
    title, sheets, status = compared(paths)
    write_sheets(output, "comparison", title, sheets, ".txt")
    return status


def compared(paths: Sequence[Path]) -> tuple[str, list[Sheet], int]:
    """What `compare_runs` compares, its tables, and what it returns."""
    store = Store.around(Path.cwd())
    read = cache(partial(record_at, without=OF_EXAMPLES))
    old, new = _sides(paths, store, read)
    policy_file = store.folder.parents[1] / FILE
    policy = load(policy_file) if policy_file.exists() else Policy()
    documents, notes = _in_common(read(old), read(new))
    alpha = policy.alpha or documents[1]["settings"].get("alpha", 0.05)
    baseline = None if old == new else (called(old), documents[0])
    with told_as_data("these are not records as --recsys-json writes them"):
        comparisons = Gate(policy, True, alpha, "skip", baseline).comparisons(documents[1])
        broke: list[str] = []
        parts = [part for each in comparisons for part in _sections(each, *documents, broke)]
        parts.append(_spent(*documents, same=old == new))
        sides = dict.fromkeys(map(_about, (old, new), documents))
        ended = [f"{len(broke)} failing now that did not then"] if broke else []
        then, now = (each["gate"] for each in documents)
        if now["incomplete"] and not then["incomplete"]:
            ended.append(f"the later run is partial: {one_line(now['incomplete'][0])}")
        judged = any(each["counts"].get(word) for each in comparisons for word in CHANGES[:-1])
        if not judged and not any(each["refused"] for each in comparisons):
            notes.append("nothing is compared: no test was judged in both runs")
        title = "; ".join([" -> ".join(sides), *ended, *notes])
    worse = ended or any(each["counts"].get(word) for each in comparisons for word in LOUD)
    refused = any(each["refused"] for each in comparisons)
    status = 2 if refused or not (judged or worse) else int(bool(worse))
    return title, parts, status


def _sides(
    paths: Sequence[Path], store: Store, read: Callable[[Path], Document]
) -> tuple[Path, Path]:
    """The earlier and the later record; the same one twice for the models of one. A run alone is compared with the
    latest one like it, and this with the one before.
    """
    if len(paths) == 2:
        return paths[0], paths[1]
    if not paths:
        store.run()
    kept = [each for each in store.runs() if each.head]
    for one in [each for each in kept if not paths or each.record == paths[0]][-1:]:
        same = ((each.head.get(name) == one.head.get(name) for name in LIKE) for each in kept)
        alike = [each.record for each, equal in zip(kept, same, strict=True) if all(equal)]
        if len(alike) > 1:
            latest = one.record == alike[-1]
            return (alike[-2], alike[-1]) if latest else (one.record, alike[-1])
    if paths and len(read(paths[0])["models"]) > 1:
        return paths[0], paths[0]
    raise DataError(
        "no other kept run has the same models, data and seed; name two records: recsys-mt compare A B"
    )


def _in_common(old: Document, new: Document) -> tuple[tuple[Document, Document], list[str]]:
    tests = [set(addresses(document["results"])) for document in (old, new)]
    if tests[0] == tests[1]:
        return (old, new), []
    both = tests[0] & tests[1]
    counts = [len(each - both) for each in tests]
    if not both:
        raise DataError(f"no test is in both runs: {counts[0]} then, {counts[1]} now")
    notes = [f"tests of one run alone: {counts[0]} then, {counts[1]} now"]
    return (_only(old, both), _only(new, both)), notes


def _only(document: Document, tests: Collection[str]) -> Document:
    rows = [row for row in document["results"] if address(row) in tests]
    digests = {**document["digests"], "users": ""}
    return cast("Document", {**document, "results": rows, "digests": digests})


def _about(path: Path, document: Document) -> str:
    began = str(document["time"]["started"])[:16].replace("T", " ")
    models, prompt = one_line(", ".join(document["models"])), prompts_of(document)
    gate = f"gate {document['gate']['status']}"
    return f"{called(path)} ({', '.join(filter(None, [models, prompt, began, gate]))})"


def _sections(
    comparison: Comparison, old: Document, new: Document, broke: list[str]
) -> Iterator[Sheet]:
    model = comparison["model"]
    against = counterpart(old, model) if comparison["baseline"] else comparison["against"]
    sides = ((old, against), (new, model))
    pairs = list(_pairs(comparison, rows_of(old, against), rows_of(new, model)))
    broken = [pair.broke for pair in pairs if pair.broke]
    broke += broken
    counts = comparison["counts"]
    told = ", ".join(f"{counts[word]} {word}" for word in CHANGES if counts.get(word))
    reasons = Counter(pair.found["reason"] for pair in pairs if pair.found["change"] == "ungated")
    yield Sheet(
        f"{comparison['model']} against {comparison['against']} of {comparison['baseline'] or 'the same run'}",
        ("promise", "change", "then", "now", "worse by [bounds]", "margin", "users"),
        [_line(pair) for pair in pairs if pair.found["interval"] is not None],
        [
            *(f"cannot be compared: {reason}" for reason in comparison["refused"]),
            *broken,
            *filter(None, [told, comparison["bounds"]]),
            *(f"not compared ({count}): {reason}" for reason, count in reasons.items()),
        ],
        wordy=2,
    )
    groups = sorted(_groups(pairs), key=lambda each: -each[0])[:MOST]
    judged = any(pair.old and pair.old["slices"] and pair.new["slices"] for pair in pairs)
    if groups or (pairs and not judged):
        yield Sheet(
            "On whom: the groups of users that became worse most, where both runs asked the same users",
            ("promise", "group", "then", "now", "worse by", "users"),
            [line for _, line in groups],
            [] if judged else [NO_GROUPS],
            wordy=2,
        )
    usual = [document.get("lists", {}).get(name, {}) for document, name in sides]
    if lines := list(_users(pairs, usual)):
        count = len(set().union(*(compress(pair.users, pair.worse > 0) for pair in pairs)))
        yield Sheet(f"The users whose values became worse most, of {count} that did", notes=lines)


def _pairs(comparison: Comparison, old: Sequence[Row], rows: Sequence[Row]) -> Iterator[_Pair]:
    if comparison["refused"]:
        return
    before = dict(keyed(old))
    names = {id(row): name for row, name in named(rows)}
    order = {word: place for place, word in enumerate(CHANGES)}
    found = [
        _Pair(names[id(row)], before.get(key), row, each, *_worse(before.get(key), row))
        for (key, row), each in zip(keyed(rows), comparison["results"], strict=True)
    ]
    yield from sorted(found, key=lambda pair: order[pair.found["change"]])


def _worse(old: Row | None, new: Row) -> tuple[Sequence[str], Floats]:
    """The users of both runs, and how much worse the value of each became."""
    if old is None or new.get("joint"):
        return (), np.empty(0)
    users = names_in_both(new["per_user"], old["per_user"])
    then, now = (np.array(numbers_of(row["per_user"], users), np.float64) for row in (old, new))
    return users, np.asarray(_measure(new)(then, now))


def _measure(row: Row) -> Callable[[Any, Any], Any]:
    """How much worse a later value is, or each of an array of them."""
    low, high = row.get("reach") or (0.0, 1.0)
    span = (high - low) or 1.0
    if row["allowed"] == "within":
        return lambda then, now: (abs(now) - abs(then)) / span
    sign = -1 if row["allowed"] == "at least" else 1
    return lambda then, now: sign * (now - then) / span


def _line(pair: _Pair) -> list[str]:
    found, values = pair.found, _values(pair)
    (low, high), change = found["interval"] or (0.0, 0.0), found["change"]
    return [
        pair.name, change.upper() if change in LOUD else change, *map(_number, values),
        f"{_number(found['worse'])} [{low:.3f}, {high:.3f}]",
        "" if found["margin"] is None else f"{found['margin']:g}", str(found["users"]),
    ]  # fmt: skip


def _values(pair: _Pair) -> list[float | None]:
    sides = [pair.old, pair.new]
    if pair.users:
        return [fmean(numbers_of(row["per_user"], pair.users)) for row in sides if row]
    return [measured(row).value if row else None for row in sides]


def _groups(pairs: Sequence[_Pair]) -> Iterator[tuple[float, list[str]]]:
    for pair in pairs:
        if pair.old is None or pair.old["per_user"].keys() != pair.new["per_user"].keys():
            continue  # means of other users
        before = pair.old["slices"]
        then = {(each["slicing"], each["value"]): each["estimate"] for each in before}
        for group in pair.new["slices"]:
            was, now = then.get((group["slicing"], group["value"])), group["estimate"]
            if group["slicing"] and was is not None and now is not None:
                worse = float(_measure(pair.new)(was, now))
                numbers = [*map(_number, (was, now, worse)), str(group["users"])]
                line = [pair.name, group_in_words(group), *numbers]
                yield from [(worse, line)] * (worse > 0)


def _users(pairs: Sequence[_Pair], usual: Sequence[Mapping[str, Sequence[str]]]) -> Iterator[str]:
    """The users that became worse most, of what regressed if anything did, each once, with both lists: of the changed
    request, or if a record lacks one, the `usual` ones.
    """
    told = [pair for pair in pairs if pair.found["change"] in LOUD] or pairs
    each = [found for pair in told for found in _worst_of(pair)]
    worst: dict[str, _Pair] = {}
    for _, user, pair in sorted(each, key=lambda found: -found[0]):
        if len(worst) < MOST:
            worst.setdefault(user, pair)
    for user, pair in worst.items():
        assert pair.old is not None
        then, now = pair.old["per_user"][user], pair.new["per_user"][user]
        yield f"user {one_line(user)}, {pair.name}: {then:.3f} then, {now:.3f} now"
        lists, of = [_changed(row, user) for row in (pair.old, pair.new)], "the changed request"
        if not all(lists):
            lists, of = [each.get(user, ()) for each in usual], "the unchanged request"
        alike = {"then and now": lists[0]} if lists[0] == lists[1] else None
        for when, titles in (alike or {"then": lists[0], "now": lists[1]}).items():
            if titles:
                more = f" and {len(titles) - TITLES} more" if len(titles) > TITLES else ""
                yield f"  {when}, to {of}: {one_line('; '.join(each[:LONGEST] for each in titles[:TITLES]))}{more}"


def _worst_of(pair: _Pair) -> list[tuple[float, str, _Pair]]:
    """The users of a verdict that became worse most: so many that no further one is among the worst of all."""
    places = np.argsort(-pair.worse, kind="stable")[:MOST]
    found = ((float(pair.worse[place]), pair.users[int(place)], pair) for place in places)
    return [each for each in found if each[0] > 0]


def _changed(row: Row, user: str) -> Sequence[str]:
    lists = (each["followup"] or each["source"] for each in row["examples"] if each["user"] == user)
    return next(lists, ())


def _spent(old: Document, new: Document, *, same: bool) -> Sheet:
    documents = [new] if same else [old, new]
    calls = [document["calls"] for document in documents]
    tokens = [each["prompt_tokens"] + each["completion_tokens"] for each in calls]
    paid = [
        ["tokens", *(f"{each:,}" for each in tokens)],
        ["cost", *(cost(each) or "not known" for each in calls)],
    ]
    rows = [
        ["calls made", *(f"{each['made']:,}" for each in calls)],
        *(paid if any(tokens) else ()),
        ["seconds", *(str(document["time"].get("seconds", "")) for document in documents)],
    ]
    columns = ("", "both") if same else ("", "then", "now")
    return Sheet("What they took", columns, rows)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
