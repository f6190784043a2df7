"""The earlier record that a run is compared with: checks that it is valid and comparable."""

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

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

_INDIFFERENT = {"alpha", "error_limit", "inconclusive", "missed_limit", "mode", "past", "slices"}
"""Recorded settings that are no options, or that no value of a user depends on."""


PROMPTS = ("--recsys-prompt", "--recsys-prompts")
"""What may differ between two records: whether another prompt is worse is what a comparison is made for."""


def options_of(document: Facts) -> dict[str, object]:
    """The options of a record that the values of users depend on, as they are typed."""
    return {
        typed(name.replace("_", "-")): value
        for name, value in document["settings"].items()
        if name not in _INDIFFERENT
    }


def read(path: Path) -> Document:
    """The record in a file, if a run can be compared with it.

    Raises:
        PolicyError: If the file cannot be read, is not a record, or is the record of a partial or empty run.
    """
    found = record_in(path)
    changed = [str(each["reason"]) for each in found.get("drift", []) if each["drifted"]]
    if changed:
        told = one_line("; ".join(changed))
        raise PolicyError(f"it does not identify one model: {told}; make a new one")
    if incomplete := found["gate"]["incomplete"]:
        told = one_line("; ".join(map(str, incomplete)))
        raise PolicyError(
            f"it is the record of a partial run, which is not a baseline: {told}; make one of a whole run"
        )
    return found


def document_in(path: Path, without: Collection[str] = ()) -> dict[str, Any]:
    """What a file of a known schema holds, whole or damaged; `without` as `reading.parsed` takes it.

    Raises:
        PolicyError: If the file cannot be read or is not a record.
    """
    kept = _remedy_of_packed(path)
    try:
        found = decoded(path, without)
    except OSError as error:
        remedy = kept or f"make one with --recsys-json={path!s}"
        if path.is_dir() and not kept:
            remedy = f"name the records in it, such as {path!s}/*.json"
        raise PolicyError(f"it cannot be read: {error.strerror or error}; {remedy}") from error
    except (ValueError, RecursionError):
        found = None
    schema = found.get("schema") if isinstance(found, dict) else None
    if str(schema).startswith("recsys-mt/") and schema not in READABLE:
        raise PolicyError(
            f"its schema is {_short(schema)}, and this version reads {', '.join(sorted(READABLE))}; install "
            f"the version that wrote it, or a later one"
        )
    if not isinstance(found, dict) or schema not in READABLE:
        raise PolicyError(f"it is not a record; {kept or 'name a file that --recsys-json wrote'}")
    return found


def record_in(path: Path, without: Collection[str] = ()) -> Document:
    """The record in a file, of a whole or a partial run; `without` as `reading.parsed` takes it.

    Raises:
        PolicyError: As `document_in`, or if it is a damaged one.
    """
    found = document_in(path, without)
    gate, digests = found.get("gate"), found.get("digests")
    if not isinstance(gate, dict) or "incomplete" not in gate or not isinstance(digests, dict):
        raise PolicyError(
            "it is the record of an older version, without the values of users; make a new one with "
            "--recsys-json"
        )
    if fault := _fault(found):
        raise PolicyError(
            f"it is a damaged record: {fault}; --recsys-json does not write this, so the file was changed "
            f"later or is of an older version: make a new one with --recsys-json={path!s}"
        )
    return cast("Document", found)


def _remedy_of_packed(path: Path) -> str:
    """What to do about a packed record that cannot be read; empty for any other file.

    Only a kept run has a folder of its own. Any other file may lie in the folder of a project.
    """
    if path.suffix != ".gz":
        return ""
    folder = path.absolute().parent
    is_kept = path.name == RECORD and folder.name.isdecimal()
    if is_kept and folder.parent.parts[-len(RUNS.parts) :] == RUNS.parts:
        return f"remove the folder of this kept run, {str(folder)!r}"
    return f"name another record, or remove the file {str(path)!r}"


def decoded(path: Path, without: Collection[str] = ()) -> Any:
    """What a file of JSON holds; `without` as `reading.parsed` takes it.

    Raises:
        OSError: If it cannot be read.
        ValueError, RecursionError: If it is not JSON.
    """
    return parsed(content_of(path, MOST_DATA).decode("utf-8"), without)


def _fault(document: Mapping[str, Any]) -> str:
    for name, kind in (("models", list), ("results", list), ("settings", dict)):
        if not isinstance(document.get(name), kind):
            return f"{name!r} is {_short(document.get(name))}, not a {kind.__name__}"
    drift = document.get("drift", [])
    if not isinstance(drift, list) or not all(
        isinstance(each, dict) and {"drifted", "reason"} <= each.keys() for each in drift
    ):
        return f"'drift' is {_short(drift)}, not a list of what was found of each model"
    if not isinstance(document["gate"]["incomplete"], list):
        return f"'incomplete' of the gate is {_short(document['gate']['incomplete'])}, not a list"
    for model in document["models"]:
        if not isinstance(model, str):
            return f"'models' holds {_short(model)}, which is not a text"
    for number, row in enumerate(document["results"], 1):
        fault = _fault_of_row(row) if isinstance(row, dict) else "it is not an object"
        if fault:
            named = row.get("nodeid") if isinstance(row, dict) else None
            told = f" ({one_line(named)})" if isinstance(named, str) else ""
            return f"row {number} of 'results'{told}: {fault}"
    return ""


def _fault_of_row(row: Mapping[str, Any]) -> str:
    for name in ("nodeid", "model", "oracle", "relation", "status", "reason"):
        if not isinstance(row.get(name), str):
            return f"{name!r} is {_short(row.get(name))}, not a text"
    values, reach = row.get("per_user"), row.get("reach")
    if not isinstance(values, Mapping):
        return f"'per_user' is {_short(values)}, not an object"
    if "allowed" not in row:
        return "'allowed' is missing"
    if reach is None:
        return "'per_user' has values, and 'reach' does not say what they can be" if values else ""
    if not (isinstance(reach, list) and len(reach) == 2 and all(map(is_number, reach))):
        return f"'reach' is {_short(reach)}, not two numbers"
    low, high = reach
    # Older records rounded to six digits, so a value may lie outside by that much.
    least, most = low - 1e-5, high + 1e-5
    if isinstance(values, Numbers):
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
    """Why two records cannot be compared, one sentence each, with the digests; empty if they can."""
    found, before = [], options_of(old)
    tests = [addresses(document["results"]) for document in (old, new)]
    for name, was, now in (
        ("data", old.get("data_digest"), new.get("data_digest")),
        ("seed", old.get("seed"), new.get("seed")),
        # Tests ask users different things, so other tests have other requests.
        *[("users", old["digests"].get("users"), new["digests"].get("users"))]
        * (tests[0] == tests[1]),
        ("past of users", old["settings"].get("past"), new["settings"].get("past")),
        # Earlier versions recorded fewer.
        *(
            (name, before[name], value)
            for name, value in options_of(new).items()
            if name in before and name not in PROMPTS
        ),
    ):
        if was != now:
            found.append(f"other {name}: {_short(was)} in the baseline, {_short(now)} in this run")
    was, now = map(set, tests)
    if was != now:
        lacking, added = _some(was - now), _some(now - was)
        told = [f"this run lacks {lacking}"] * bool(lacking)
        told += [f"the baseline lacks {added}"] * bool(added)
        digests = [_short(document["digests"].get("suite")) for document in (old, new)]
        found.append(
            f"other tests: {digests[0]} in the baseline, {digests[1]} in this run; {'; '.join(told)}"
        )
    return found


def prompts_of(document: Facts) -> str:
    """The prompts of a record, as they are typed, with the digest of a file of prompts."""
    given = options_of(document)
    texts = given.get("--recsys-prompts")
    if isinstance(texts, dict):
        given["--recsys-prompts"] = texts.get("sha256")
    return ", ".join(f"{name}={_short(given[name])}" for name in PROMPTS if given.get(name))


def nearest(baselines: Sequence[tuple[str, Document]], document: Facts) -> tuple[str, Document]:
    """The baseline that a run is compared with: that with the most tests in common, then of the same models."""
    tests, models = set(addresses(document["results"])), set(document["models"])

    def common(baseline: tuple[str, Document]) -> tuple[float, int]:
        theirs = set(addresses(baseline[1]["results"]))
        shared = len(tests & theirs) / max(len(tests | theirs), 1)
        return shared, len(models.intersection(baseline[1]["models"]))

    return max(baselines, key=common)


def rows_of(document: Facts, model: str) -> list[Row]:
    """The rows of one model."""
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
        f"model"
    )


def _short(value: object) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return shortened(one_line(", ".join(value)), 60) or "none"
    text = "none" if value is None else one_line(str(value))
    return text if len(text) <= 24 else text[:12]


def _some(names: set[str]) -> str:
    shown = [one_line(name) for name in sorted(names)[:3]]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return ", ".join(shown) + more
