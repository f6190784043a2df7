"""The earlier record that a run is compared with:
checks that it is valid and comparable.
"""

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pytest_recsys_mt.gate.damaged_lists import fault_of_lists
from pytest_recsys_mt.gate.document import Document, Facts, Row
from pytest_recsys_mt.gate.nodeids import addresses
from pytest_recsys_mt.gate.reading import parsed
from pytest_recsys_mt.safety.errors import PolicyError
from pytest_recsys_mt.safety.files import MOST_DATA, RECORD, RUNS, content_of
from pytest_recsys_mt.safety.numbers import Numbers
from pytest_recsys_mt.safety.redaction import shortened
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.wording import typed

READABLE = ("recsys-mt/1", "recsys-mt/2")
"""The schemas that this version reads."""

_INDIFFERENT = {
    "alpha",
    "error_limit",
    "inconclusive",
    "missed_limit",
    "mode",
    "past",
    "slices",
}
"""Recorded settings that are no options, or that no value of a user depends on."""

PROMPTS = ("--recsys-prompt", "--recsys-prompts")
"""The options that may differ between two records: a
comparison is made to see whether another prompt is worse.
"""


def options_of(document: Facts) -> dict[str, object]:
    """The options of a record that the values of users depend on, as they are typed."""
    options = {}
    for name, value in document["settings"].items():
        if name not in _INDIFFERENT:
            option = typed(name.replace("_", "-"))
            options[option] = value
    return options


def read(path: Path) -> Document:
    """The record in a file, if a run can be compared with it.

    Raises:
        PolicyError: If the file cannot be read, is not a record, or is the record of a
            partial or empty run.
    """
    found = record_in(path)
    drifted = [model for model in found.get("drift", []) if model["drifted"]]
    changed = [str(model["reason"]) for model in drifted]
    if changed:
        changes = one_line("; ".join(changed))
        raise PolicyError(f"it does not identify one model: {changes}; make a new one")
    incomplete = found["gate"]["incomplete"]
    if incomplete:
        reasons = one_line("; ".join(map(str, incomplete)))
        raise PolicyError(
            f"it is the record of a partial run, which is not a baseline: {reasons}; make one of a whole run",
        )
    return found


def document_in(path: Path, without: Collection[str] = ()) -> dict[str, Any]:
    """The content of a file of a known schema, whole or damaged; `without` as
    `reading.parsed` takes it.

    Raises:
        PolicyError: If the file cannot be read or is not a record.
    """
    packed_remedy = _remedy_of_packed(path)
    try:
        found = decoded(path, without)
    except OSError as error:
        if packed_remedy:
            remedy = packed_remedy
        elif path.is_dir():
            remedy = f"name the records in it, such as {path!s}/*.json"
        else:
            remedy = f"make one with --recsys-json={path!s}"
        raise PolicyError(
            f"it cannot be read: {error.strerror or error}; {remedy}",
        ) from error
    except (ValueError, RecursionError):
        found = None
    schema = found.get("schema") if isinstance(found, dict) else None
    is_readable = schema in READABLE
    if str(schema).startswith("recsys-mt/") and not is_readable:
        raise PolicyError(
            f"its schema is {_short(schema)}, and this version reads {', '.join(sorted(READABLE))}; install "
            f"the version that wrote it, or a later one",
        )
    if not isinstance(found, dict) or not is_readable:
        remedy = packed_remedy or "name a file that --recsys-json wrote"
        raise PolicyError(f"it is not a record; {remedy}")
    return found


def record_in(path: Path, without: Collection[str] = ()) -> Document:
    """The record in a file, of a whole or a partial run; `without` as `reading.parsed`
    takes it.

    Raises:
        PolicyError: As `document_in`, or if it is a damaged one.
    """
    found = document_in(path, without)
    gate = found.get("gate")
    has_gate = isinstance(gate, dict) and "incomplete" in gate
    if not has_gate or not isinstance(found.get("digests"), dict):
        raise PolicyError(
            "it is the record of an older version, without the values of users; make a new one with "
            "--recsys-json",
        )
    fault = _fault(found)
    if fault:
        raise PolicyError(
            f"it is a damaged record: {fault}; --recsys-json does not write this, so the file was changed "
            f"later or is of an older version: make a new one with --recsys-json={path!s}",
        )
    return cast("Document", found)


def _remedy_of_packed(path: Path) -> str:
    """The advice on a packed record that cannot be read; empty for any other file.

    Only a kept run has a folder of its own. Any other file may lie in the folder of a
    project.
    """
    if path.suffix != ".gz":
        return ""
    folder = path.absolute().parent
    is_kept = path.name == RECORD and folder.name.isdecimal()
    if is_kept and folder.parent.parts[-len(RUNS.parts) :] == RUNS.parts:
        return f"remove the folder of this kept run, {str(folder)!r}"
    return f"name another record, or remove the file {str(path)!r}"


def decoded(path: Path, without: Collection[str] = ()) -> Any:
    """The content of a file of JSON; `without` as `reading.parsed` takes it.

    Raises:
        OSError: If it cannot be read.
        ValueError, RecursionError: If it is not JSON.
    """
    return parsed(content_of(path, MOST_DATA).decode("utf-8"), without)


def _fault(document: Mapping[str, Any]) -> str:
    """The damage of a record, which is untrusted; empty if there is none."""
    for name, kind in (("models", list), ("results", list), ("settings", dict)):
        value = document.get(name)
        if not isinstance(value, kind):
            return f"{name!r} is {_short(value)}, not a {kind.__name__}"
    drift = document.get("drift", [])
    if not isinstance(drift, list) or not all(map(_is_drift, drift)):
        return f"'drift' is {_short(drift)}, not a list of what was found of each model"
    incomplete = document["gate"]["incomplete"]
    if not isinstance(incomplete, list):
        return f"'incomplete' of the gate is {_short(incomplete)}, not a list"
    for model in document["models"]:
        if not isinstance(model, str):
            return f"'models' holds {_short(model)}, which is not a text"
    for number, row in enumerate(document["results"], 1):
        if not isinstance(row, dict):
            return f"row {number} of 'results': it is not an object"
        fault = _fault_of_row(row)
        if fault:
            nodeid = row.get("nodeid")
            named = f" ({one_line(nodeid)})" if isinstance(nodeid, str) else ""
            return f"row {number} of 'results'{named}: {fault}"
    return fault_of_lists(document)


def _is_drift(value: object) -> bool:
    """Whether it is the finding on one model, as a record holds it."""
    return isinstance(value, dict) and {"drifted", "reason"} <= value.keys()


def _fault_of_row(row: Mapping[str, Any]) -> str:
    """The damage of a row; empty if there is none."""
    for name in ("nodeid", "model", "oracle", "relation", "status", "reason"):
        value = row.get(name)
        if not isinstance(value, str):
            return f"{name!r} is {_short(value)}, not a text"
    values = row.get("per_user")
    reach = row.get("reach")
    if not isinstance(values, Mapping):
        return f"'per_user' is {_short(values)}, not an object"
    if "allowed" not in row:
        return "'allowed' is missing"
    if reach is None:
        return (
            "'per_user' has values, and 'reach' does not say what they can be"
            if values
            else ""
        )
    is_pair = isinstance(reach, list) and len(reach) == 2
    if not is_pair or not all(map(is_number, reach)):
        return f"'reach' is {_short(reach)}, not two numbers"
    low, high = reach
    return _fault_of_values(values, low, high)


def _fault_of_values(values: Mapping[str, Any], low: float, high: float) -> str:
    """The value of a user that does not lie in the range of a row; empty if all do."""
    # Older records rounded to six digits, so a value may lie outside by that much.
    least = low - 1e-5
    most = high + 1e-5
    if isinstance(values, Numbers):
        # All at once first, which is faster than one by one.
        numbers = values.values_in_order
        if least <= min(numbers) and max(numbers) <= most:
            return ""
    for user, value in values.items():
        if not is_number(value) or not least <= value <= most:
            return (
                f"'per_user' of {one_line(user)!r} is {_short(value)}, not a number from {low:g} to {high:g}, "
                f"its 'reach'"
            )
    return ""


def is_number(value: object) -> bool:
    """Whether a value of a record, which is untrusted, is a finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # JSON has integers of any size
        return False


def digest_of(values: Iterable[str]) -> str:
    """SHA-256 of some texts in their order, in hexadecimal."""
    return hashlib.sha256(json.dumps(list(values)).encode()).hexdigest()


def differences(old: Facts, new: Facts) -> list[str]:
    """Why two records cannot be compared, one sentence each,
    with the digests; empty if they can.
    """
    found = other_questions(old, new, "the baseline", "this run")
    if addresses(old["results"]) != addresses(new["results"]):
        found.append(_other_tests(old, new))
    return found


def other_questions(old: Facts, new: Facts, old_name: str, new_name: str) -> list[str]:
    """How the unchanged requests of two records differ, one sentence each; empty if they
    do not.

    Args:
        old: One record.
        new: The other one.
        old_name: What sentences call it.
        new_name: What they call the other one.
    """
    facts: list[tuple[str, object, object]] = [
        ("data", old.get("data_digest"), new.get("data_digest")),
        ("seed", old.get("seed"), new.get("seed")),
    ]
    # Tests send different requests, so other tests have other digests of them.
    if addresses(old["results"]) == addresses(new["results"]):
        facts.append(
            ("users", old["digests"].get("users"), new["digests"].get("users")),
        )
    facts.append(
        ("past of users", old["settings"].get("past"), new["settings"].get("past")),
    )
    old_options = options_of(old)
    for name, value in options_of(new).items():
        # Earlier versions recorded fewer.
        if name in old_options and name not in PROMPTS:
            facts.append((name, old_options[name], value))
    return [
        f"other {name}: {_short(was)} in {old_name}, {_short(now)} in {new_name}"
        for name, was, now in facts
        if was != now
    ]


def _other_tests(old: Facts, new: Facts) -> str:
    """Which tests each of two records lacks, with the digests of both suites."""
    old_tests = set(addresses(old["results"]))
    new_tests = set(addresses(new["results"]))
    lacking = _some(old_tests - new_tests)
    added = _some(new_tests - old_tests)
    differences = []
    if lacking:
        differences.append(f"this run lacks {lacking}")
    if added:
        differences.append(f"the baseline lacks {added}")
    was = _short(old["digests"].get("suite"))
    now = _short(new["digests"].get("suite"))
    return f"other tests: {was} in the baseline, {now} in this run; {'; '.join(differences)}"


def prompts_of(document: Facts) -> str:
    """The prompts of a record, as they are typed, with the digest of a
    file of prompts, or of the words of the papers.
    """
    given = options_of(document)
    texts = given.get("--recsys-prompts")
    if isinstance(texts, dict):
        digest = texts.get("sha256")
        of_papers = bool(texts.get("papers_of"))
        given["--recsys-prompts"] = f"paper ({_short(digest)})" if of_papers else digest
    named = [name for name in PROMPTS if given.get(name)]
    return ", ".join(f"{name}={_short(given[name])}" for name in named)


def nearest(
    baselines: Sequence[tuple[str, Document]],
    document: Facts,
) -> tuple[str, Document]:
    """The baseline that a run is compared with: that with the most tests in common,
    then of the same models.
    """
    tests = set(addresses(document["results"]))
    models = set(document["models"])

    def common(baseline: tuple[str, Document]) -> tuple[float, int]:
        """The share of all tests that are in both, and the number of
        models that are.
        """
        _, other = baseline
        other_tests = set(addresses(other["results"]))
        share = len(tests & other_tests) / max(len(tests | other_tests), 1)
        return share, len(models.intersection(other["models"]))

    return max(baselines, key=common)


def rows_of(document: Facts, model: str) -> list[Row]:
    """The rows of one model, and those of no model."""
    return [row for row in document["results"] if row["model"] in (model, "")]


def counterpart(document: Facts, model: str) -> str:
    """The model of the baseline that a model of this run is compared with.

    Raises:
        PolicyError: If the baseline has several models, and none has this name.
    """
    models = document["models"]
    if model in models:
        return model
    if len(models) == 1:
        return models[0]
    raise PolicyError(
        f"the baseline is of {one_line(', '.join(models))}, not of {model}; make one of a single "
        f"model",
    )


def _short(value: object) -> str:
    """A value of a record, which is untrusted, in few characters."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return shortened(one_line(", ".join(value)), 60) or "none"
    text = "none" if value is None else one_line(str(value))
    return text if len(text) <= 24 else text[:12]


def _some(names: set[str]) -> str:
    """The first names, and how many others there are."""
    shown = [one_line(name) for name in sorted(names)[:3]]
    listed = ", ".join(shown)
    left = len(names) - len(shown)
    return f"{listed} and {left} more" if left else listed
