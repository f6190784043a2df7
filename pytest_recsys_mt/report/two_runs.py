"""The command `recsys-mt compare`: what became worse between two runs, or two models of one run, and on whom."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from pytest_recsys_mt.gate.baseline import counterpart, prompts_of, rows_of
from pytest_recsys_mt.gate.changed_lists import in_words
from pytest_recsys_mt.gate.decision import Gate
from pytest_recsys_mt.gate.document import Comparison, Document
from pytest_recsys_mt.gate.nodeids import address, addresses
from pytest_recsys_mt.gate.policy import FILE, Policy, load
from pytest_recsys_mt.gate.reading import OF_EXAMPLES
from pytest_recsys_mt.gate.store import Store, called
from pytest_recsys_mt.report.compared import CHANGES, LOUD
from pytest_recsys_mt.report.outputs import record_at, require_output, told_as_data
from pytest_recsys_mt.report.pairs import (
    Pair,
    cells_of,
    count_of_worse,
    lines_of_groups,
    lines_of_users,
    pairs_of,
)
from pytest_recsys_mt.report.sheets import WRITERS, Sheet, write_sheets
from pytest_recsys_mt.report.spending import cost
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.sanitize import one_line

LIKE = ("models", "data", "seed")  # what two runs have in common of which only one is named
NO_GROUPS = (
    "no groups of users were judged in both runs; --recsys-slices=activity,genre judges some"
)


def compare_runs(paths: Sequence[Path], output: Path | None) -> int:
    """Write the comparison of two records, of the models of one, or of the latest kept run and the one before.

    Args:
        paths: Two records, one, or none.
        output: The file to write; None for the terminal.

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
    old_path, new_path = _sides(paths, store, read)
    policy_file = store.folder.parents[1] / FILE
    policy = load(policy_file) if policy_file.exists() else Policy()
    (old, new), notes = _in_common(read(old_path), read(new_path))
    alpha = policy.alpha or new["settings"].get("alpha", 0.05)
    baseline = None if old_path == new_path else (called(old_path), old)
    with told_as_data("these are not records as --recsys-json writes them"):
        comparisons = Gate(policy, True, alpha, "skip", baseline).comparisons(new)
        sheets: list[Sheet] = []
        broken: list[str] = []
        for comparison in comparisons:
            section = _section(comparison, old, new)
            sheets += section.sheets
            broken += section.broken
        sheets.append(_spent(old, new, same=old_path == new_path))
        setbacks = _setbacks(old, new, broken)
        refused = any(comparison["refused"] for comparison in comparisons)
        judged = any(_has_counts(comparison, _JUDGED) for comparison in comparisons)
        if not judged and not refused:
            notes.append("nothing is compared: no test was judged in both runs")
        # Once, if both sides are models of one run.
        sides = dict.fromkeys([_about(old_path, old), _about(new_path, new)])
        title = "; ".join([" -> ".join(sides), *setbacks, *notes])
    is_worse = bool(setbacks) or any(_has_counts(comparison, LOUD) for comparison in comparisons)
    if refused or not (judged or is_worse):
        return title, sheets, 2
    return title, sheets, int(is_worse)


_JUDGED = CHANGES[:-1]  # all but "ungated"


def _has_counts(comparison: Comparison, words: Sequence[str]) -> bool:
    return any(comparison["counts"].get(word) for word in words)


def _setbacks(old: Document, new: Document, broken: Sequence[str]) -> list[str]:
    """In what the later run as a whole is worse: failures, and that it is partial."""
    setbacks = []
    if broken:
        setbacks.append(f"{len(broken)} failing now that did not then")
    incomplete = new["gate"]["incomplete"]
    if incomplete and not old["gate"]["incomplete"]:
        setbacks.append(f"the later run is partial: {one_line(incomplete[0])}")
    return setbacks


def _sides(
    paths: Sequence[Path], store: Store, read: Callable[[Path], Document]
) -> tuple[Path, Path]:
    """The earlier and the later record; the same one twice for the models of one.

    A run alone is compared with the latest one like it, and this with the one before.
    """
    if len(paths) == 2:
        return paths[0], paths[1]
    if not paths:
        store.run()  # raises if none is kept, or the latest is damaged
    kept_runs = [kept for kept in store.runs() if kept.head]
    named_runs = [kept for kept in kept_runs if not paths or kept.record == paths[0]]
    if named_runs:
        named = named_runs[-1]
        alike = [kept.record for kept in kept_runs if _is_like(kept.head, named.head)]
        if len(alike) > 1 and named.record == alike[-1]:
            return alike[-2], alike[-1]
        if len(alike) > 1:
            return named.record, alike[-1]
    if paths and len(read(paths[0])["models"]) > 1:
        return paths[0], paths[0]
    raise DataError(
        "no other kept run has the same models, data and seed; name two records: recsys-mt compare A B"
    )


def _is_like(head: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(head.get(name) == other.get(name) for name in LIKE)


def _in_common(old: Document, new: Document) -> tuple[tuple[Document, Document], list[str]]:
    """Both records with the tests that are in both, and notes on those that are left out."""
    old_tests = set(addresses(old["results"]))
    new_tests = set(addresses(new["results"]))
    if old_tests == new_tests:
        return (old, new), []
    both = old_tests & new_tests
    counts = f"{len(old_tests - both)} then, {len(new_tests - both)} now"
    if not both:
        raise DataError(f"no test is in both runs: {counts}")
    return (_only(old, both), _only(new, both)), [f"tests of one run alone: {counts}"]


def _only(document: Document, tests: Collection[str]) -> Document:
    """A record with some of its tests alone."""
    rows = [row for row in document["results"] if address(row) in tests]
    # The digest of users is one of all tests, so it would differ although the users are the same.
    digests = {**document["digests"], "users": ""}
    return cast("Document", {**document, "results": rows, "digests": digests})


def _about(path: Path, document: Document) -> str:
    """A record in the title: what it is called, its models, its prompt, its time and its gate."""
    facts = [
        one_line(", ".join(document["models"])),
        prompts_of(document),
        str(document["time"]["started"])[:16].replace("T", " "),
        f"gate {document['gate']['status']}",
    ]
    return f"{called(path)} ({', '.join(fact for fact in facts if fact)})"


class _Section(NamedTuple):
    """The tables on one comparison, and the tests that fail now and did not then."""

    sheets: list[Sheet]
    broken: list[str]


def _section(comparison: Comparison, old: Document, new: Document) -> _Section:
    model = comparison["model"]
    # Between two runs a model is compared with its counterpart; within one run with another model.
    against = counterpart(old, model) if comparison["baseline"] else comparison["against"]
    pairs = list(pairs_of(comparison, rows_of(old, against), rows_of(new, model)))
    broken = [pair.broke for pair in pairs if pair.broke]
    sheets = [_promises(comparison, pairs, broken), *_groups(pairs)]
    old_lists = old.get("lists", {}).get(against, {})
    new_lists = new.get("lists", {}).get(model, {})
    lines = list(lines_of_users(pairs, old_lists, new_lists))
    if lines:
        count = count_of_worse(pairs)
        title = f"The users whose values became worse most, of {count} that did"
        sheets.append(Sheet(title, notes=lines))
    return _Section(sheets, broken)


def _promises(comparison: Comparison, pairs: Sequence[Pair], broken: Sequence[str]) -> Sheet:
    """The table of what each promise was and is."""
    notes = [f"cannot be compared: {reason}" for reason in comparison["refused"]]
    notes += broken
    counts = comparison["counts"]
    counted = ", ".join(f"{counts[word]} {word}" for word in CHANGES if counts.get(word))
    lists = in_words(comparison.get("lists"))
    notes += [text for text in (counted, lists, comparison["bounds"]) if text]
    reasons = Counter(pair.found["reason"] for pair in pairs if pair.found["change"] == "ungated")
    notes += [f"not compared ({count}): {reason}" for reason, count in reasons.items()]
    run = comparison["baseline"] or "the same run"
    return Sheet(
        f"{comparison['model']} against {comparison['against']} of {run}",
        ("promise", "change", "then", "now", "worse by [bounds]", "margin", "users"),
        [cells_of(pair) for pair in pairs if pair.found["interval"] is not None],
        notes,
        wordy=2,
    )


def _groups(pairs: Sequence[Pair]) -> Iterator[Sheet]:
    """The table of the groups of users that became worse, or a note that none were judged."""
    lines = lines_of_groups(pairs)
    judged = any(pair.old and pair.old["slices"] and pair.new["slices"] for pair in pairs)
    if lines or (pairs and not judged):
        yield Sheet(
            "On whom: the groups of users that became worse most, where both runs asked the same users",
            ("promise", "group", "then", "now", "worse by", "users"),
            lines,
            [] if judged else [NO_GROUPS],
            wordy=2,
        )


def _spent(old: Document, new: Document, *, same: bool) -> Sheet:
    """The table of calls, costs and time of both runs; of one run if both are the same."""
    documents = [new] if same else [old, new]
    calls = [document["calls"] for document in documents]
    tokens = [spent["prompt_tokens"] + spent["completion_tokens"] for spent in calls]
    rows = [["calls made", *(f"{spent['made']:,}" for spent in calls)]]
    if any(tokens):
        rows.append(["tokens", *(f"{count:,}" for count in tokens)])
        rows.append(["cost", *(cost(spent) or "not known" for spent in calls)])
    seconds = [str(document["time"].get("seconds", "")) for document in documents]
    rows.append(["seconds", *seconds])
    columns = ("", "both") if same else ("", "then", "now")
    return Sheet("What they took", columns, rows)
