"""From the records of all runs to the matrix and the score."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from pytest_recsys_mt.faults import Dose
from pytest_recsys_mt.faults.adequacy.document import (
    SCHEMA,
    Adequacy,
    Cell,
    Difference,
    Fate,
    Remedy,
    Score,
    Trial,
)
from pytest_recsys_mt.faults.adequacy.listening import PARTLY
from pytest_recsys_mt.faults.adequacy.running import CLAIM, Run

DRIFT = "(at the end of the run) answers do not change while we ask"
"""Stands for a test: the check that every run makes at its end."""

NOISE = 0.01
"""Chance that a fault which changes no more than noise
counts as one that changes answers.
"""

CONFIDENCE = 0.95


def adequacy(
    arguments: Sequence[str],
    baseline: Run,
    runs: Sequence[tuple[Dose, Run]],
    seconds: float,
) -> Adequacy:
    """The whole document."""
    record = baseline.record or {}
    tests, left_out = _tests(baseline)
    models = list(record["models"])
    asked = {
        model: [test for test in tests if _model(record, test) in (model, "")]
        for model in models
    }
    trials = [
        trial(dose, run, model, asked[model], baseline)
        for model in models
        for dose, run in runs
    ]
    return {
        "schema": SCHEMA,
        "version": version("pytest-recsys-mt"),
        "arguments": list(arguments),
        "data": record["data"],
        "seed": record["seed"],
        "users": record["settings"]["users"],
        "tests": tests,
        "partly": [test for test in tests if baseline.outcomes.get(test) == PARTLY],
        "left_out": left_out,
        "failing": [test for test in left_out if baseline.outcomes[test] == "failed"],
        "scores": [score(model, trials) for model in models],
        "trials": trials,
        "seconds": round(seconds, 1),
    }


def trial(
    dose: Dose,
    run: Run,
    model: str,
    tests: Sequence[str],
    baseline: Run,
) -> Trial:
    """The result for one fault in one recommender."""
    record, sound = run.record or {}, baseline.record or {}
    cells: dict[str, Cell] = {}
    for test in tests:
        cell = _drift(record, model) if test == DRIFT else _cell(run, test, baseline)
        if cell is not None:
            cells[test] = cell
    found = next(
        (each for each in record.get("planted", ()) if each["model"] == model),
        None,
    )
    difference = found and _difference(found)
    fate, reason = _fate(dose, run, difference, cells)
    if fate == "equivalent" and found and "elsewhere" in found:
        elsewhere = _difference(found["elsewhere"])
        if not _alike(elsewhere):
            fate, reason = "survived", "it shows only where no test looks"
            difference = elsewhere
    return {
        "fault": dose.spec,
        "name": dose.name,
        "strength": dose.strength,
        "model": model,
        "does": dose.does,
        "fate": fate,
        "reason": reason,
        "cells": cells,
        "difference": difference,
        "remedy": _remedy(dose, tests, sound),
        "made": record.get("calls", {}).get("made", 0),
        "seconds": round(run.seconds, 1),
    }


def _remedy(
    dose: Dose,
    tests: Sequence[str],
    baseline: Mapping[str, Any],
) -> Remedy | None:
    cure = dose.kind.cure
    if cure is None:
        return None
    oracle = cure.relation.partition(" under ")[0]
    asked = [
        row["nodeid"]
        for row in baseline["results"]
        if row["oracle"].partition(":")[0] == oracle
        and row["relation"] in (cure.change, oracle)
        and row["nodeid"] in tests
    ]
    promised = getattr(cure.transformation(), "promised", "")
    return {
        "relation": cure.relation,
        "code": cure.code,
        "promised": promised,
        "asked": asked,
    }


def score(model: str, trials: Iterable[Trial]) -> Score:
    """The score of the suite on one recommender."""
    own = [each for each in trials if each["model"] == model]
    fates = [each["fate"] for each in own]
    killed = fates.count("killed")
    faults = killed + fates.count("survived") + fates.count("unclear")
    alike = [each for each in own if each["fate"] == "equivalent"]
    return {
        "model": model,
        "killed": killed,
        "faults": faults,
        "share": killed / faults if faults else None,
        "interval": clopper_pearson(killed, faults) if faults else None,
        "confidence": CONFIDENCE,
        "equivalent": len(alike),
        "equivalent_killed": sum("killed" in each["cells"].values() for each in alike),
        "not_planted": fates.count("not planted"),
    }


def clopper_pearson(hits: int, of: int, confidence: float = CONFIDENCE) -> list[float]:
    """Exact bounds of a share: Clopper and Pearson 1934, Biometrika 26(4)."""
    from scipy.stats import binomtest

    found = binomtest(hits, of).proportion_ci(confidence, method="exact")
    return [float(found.low), float(found.high)]


def _tests(baseline: Run) -> tuple[list[str], dict[str, str]]:
    record = baseline.record or {}
    passed = [
        test
        for test, outcome in baseline.outcomes.items()
        if outcome in ("passed", PARTLY)
    ]
    if not any(each["drifted"] for each in record.get("drift", ())):
        passed.append(DRIFT)
    reasons = {
        row["nodeid"]: row["reason"] for row in record["results"] if row["reason"]
    }
    return passed, {
        test: reasons.get(test) or outcome or "did not run"
        for test, outcome in baseline.outcomes.items()
        if outcome not in ("passed", PARTLY)
    }


def _model(record: Mapping[str, Any], test: str) -> str:
    models = {row["model"] for row in record["results"] if row["nodeid"] == test}
    return models.pop() if len(models) == 1 else ""


def _cell(run: Run, test: str, baseline: Run) -> Cell | None:
    outcome = run.outcomes.get(test)
    if outcome is None:
        return None
    found = _claims(run, test)
    if baseline.outcomes[test] == PARTLY:
        held = {
            claim
            for claim, status in _claims(baseline, test).items()
            if status == "holds"
        }
        broken = any(found.get(claim) == "violated" for claim in held)
        kept = all(found.get(claim) == "holds" for claim in held)
        return "killed" if broken else "survived" if kept else "unclear"
    if outcome == "passed":
        return "survived"
    # Answers in which nothing is recommended allow no verdict; failed calls would say
    # nothing of the fault.
    unusable = "error" in found.values() and not (run.record or {})["calls"]["failed"]
    if outcome == "failed" and ("violated" in found.values() or not found or unusable):
        return "killed"
    return "unclear"


def _claims(run: Run, test: str) -> dict[tuple[object, ...], str]:
    found: dict[tuple[object, ...], str] = {}
    counts: Counter[tuple[object, ...]] = Counter()
    for row in (run.record or {"results": ()})["results"]:
        if row["nodeid"] == test:
            claim = tuple(row[key] for key in CLAIM)
            found[*claim, counts[claim]] = row["status"]
            counts[claim] += 1
    return found


def _drift(record: Mapping[str, Any], model: str) -> Cell | None:
    found = [
        each["drifted"] for each in record.get("drift", ()) if each["model"] == model
    ]
    if not found:
        return None
    return "killed" if any(found) else "survived"


def _difference(found: Mapping[str, Any]) -> Difference:
    p_value: float | None = None
    if not found["exact"]:
        from scipy.stats import wilcoxon

        beyond = [each for each in found["beyond_noise"] if each]
        p_value = (
            float(wilcoxon(beyond, alternative="greater").pvalue)
            if len(beyond) > 1
            else 1.0
        )
    return {
        "answers": found["answers"],
        "differing": found["differing"],
        "lost": found["lost"] / found["answers"] if found["answers"] else 0.0,
        "users": len(found["users"]),
        "hit": len(found["hit"]),
        "p_value": p_value,
    }


def _alike(difference: Difference) -> str:
    """Why the answers count as those of the sound recommender; empty if they do not."""
    if not difference["differing"]:
        return f"none of {difference['answers']:,} answers differs"
    p_value = difference["p_value"]
    if p_value is not None and p_value > NOISE:
        return f"its answers differ no more than those of the recommender itself (p={p_value:.2g})"
    return ""


def _fate(
    dose: Dose,
    run: Run,
    difference: Difference | None,
    cells: Mapping[str, Cell],
) -> tuple[Fate, str]:
    if run.record is None:
        return "not planted", f"its run gave no record; pytest said: {run.said}"
    if run.record["settings"]["fault"] != dose.spec:
        return "not planted", "the option -o recsys_fault did not reach its run"
    if difference is None or not difference["answers"]:
        failed = [
            row["reason"] for row in run.record["results"] if row["status"] == "error"
        ]
        why = failed[0] if failed else "the tests ask the recommender in another way"
        return "not planted", f"no answer passed through it: {why}"
    if reason := _alike(difference):
        return "equivalent", reason
    if "killed" in cells.values():
        return "killed", ""
    if "unclear" in cells.values() or not cells:
        return "unclear", "no test failed for it, and some could not tell"
    return "survived", ""
