"""The record, the JUnit file and the summary: the same facts, the same under xdist."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.plugin.conftest import ON_WORKERS_TOO, Run, record_of
from tests.support.report import sentence

TEST = """
import pytest
from pytest_recsys_mt import expect_violated, metamorphic
from pytest_recsys_mt.oracles import complete_list, same_ranking
from pytest_recsys_mt.relations import add_spaces, reorder_history, scale_ratings, shift_ratings

@metamorphic(scale_ratings(2), reorder_history, add_spaces(0.1))
def test_ranking(source, followup):
    assert same_ranking(source, followup, margin=0.2)

@metamorphic(shift_ratings(1))
def test_known(source, followup):
    assert expect_violated(same_ranking(source, followup, margin=0.2))

@metamorphic(reorder_history)
def test_two_verdicts(source, followup):
    assert same_ranking(source, followup, margin=0.2)
    assert same_ranking(source, followup, similarity="overlap", margin=0.2)

@metamorphic(reorder_history)
def test_crash(source, followup):
    raise ValueError("my own mistake")

def test_answers(recsys):
    assert complete_list(recsys.run(), margin=0.2)
"""
KEYS = {
    "nodeid", "suite", "relation", "model", "oracle", "status", "outcome", "estimate", "interval",
    "floor", "agreement", "margin", "p_value", "p_holm", "p_bh", "users", "not_applicable",
    "errors", "looks", "examples",
}  # fmt: skip


@pytest.fixture
def files(project: pytest.Pytester) -> tuple[Path, Path]:
    project.makepyfile(**{"suites/metamorphic/test_toys": TEST})
    return project.path / "out" / "record.json", project.path / "junit.xml"


def run_all(
    run: Run,
    files: tuple[Path, Path],
    *more: str,
) -> tuple[dict[str, Any], pytest.RunResult]:
    record, junit = files
    result = run(
        "--recsys-model=toys:ScaleSensitive",
        f"--recsys-json={record}",
        f"--junitxml={junit}",
        *more,
    )
    return record_of(record), result


def test_the_record_has_a_row_for_every_verdict_and_every_relation_without_one(
    run: Run,
    files: tuple[Path, Path],
) -> None:
    record, result = run_all(run, files)
    result.assert_outcomes(passed=4, failed=2, skipped=1)
    assert record["schema"] == "recsys-mt/2"
    assert (
        record["calls"]["planned"] == 2 * record["calls"]["made"] > 0
    )  # 20 of 40 users suffice
    rows = {
        (row["nodeid"].rpartition("::")[2], row["oracle"]): row
        for row in record["results"]
    }
    assert len(rows) == len(record["results"]) == 8
    assert all(row.keys() >= KEYS for row in rows.values())
    model = "toys-ScaleSensitive"
    statuses = {key: (row["status"], row["outcome"]) for key, row in rows.items()}
    assert statuses == {
        (f"test_ranking[{model}-scale_ratings-2]", "same_ranking:rbo"): (
            "violated",
            "failed",
        ),
        (f"test_ranking[{model}-reorder_history]", "same_ranking:rbo"): (
            "holds",
            "passed",
        ),
        (f"test_ranking[{model}-add_spaces-0.1]", ""): ("not-applicable", "skipped"),
        (f"test_known[{model}-shift_ratings-1]", "same_ranking:rbo"): (
            "violated",
            "passed",
        ),
        (f"test_two_verdicts[{model}-reorder_history]", "same_ranking:rbo"): (
            "holds",
            "passed",
        ),
        (f"test_two_verdicts[{model}-reorder_history]", "same_ranking:overlap"): (
            "holds",
            "passed",
        ),
        (f"test_crash[{model}-reorder_history]", ""): ("error", "failed"),
        (f"test_answers[{model}]", "complete_list"): ("holds", "passed"),
    }
    assert record["gate"]["status"] == "failed"
    assert [each.rpartition("::")[2] for each in record["gate"]["violated"]] == [
        f"test_ranking[{model}-scale_ratings-2]",
    ]
    skipped = rows[(f"test_ranking[{model}-add_spaces-0.1]", "")]
    assert "reads no text" in skipped["reason"]
    assert (
        "my own mistake" in rows[(f"test_crash[{model}-reorder_history]", "")]["reason"]
    )
    violated = rows[(f"test_ranking[{model}-scale_ratings-2]", "same_ranking:rbo")]
    assert violated["p_value"] <= violated["p_bh"] <= violated["p_holm"] <= 0.05
    assert violated["examples"][0]["source"] != violated["examples"][0]["followup"]
    assert violated["suite"] == "metamorphic"


def test_record_and_junit_are_the_same_on_two_workers(project: pytest.Pytester) -> None:
    project.makepyfile(**{"suites/metamorphic/test_toys": TEST})
    records, cases = [], []
    for workers in ([], ["-n", "2"]):
        record, junit = project.path / "record.json", project.path / "junit.xml"
        project.runpytest_inprocess(
            "--recsys-model=toys:ScaleSensitive", "--recsys-model=toys:Noisy", "--recsys-users=30",
            f"--recsys-json={record}", f"--junitxml={junit}", "--recsys-shrink=0", *workers,
        )  # fmt: skip
        records.append(record_of(record))
        cases.append(
            {
                (case.get("classname"), case.get("name")): [
                    (part.tag, part.get("message"), part.text)
                    for part in case
                    if part.tag != "failure"
                ]
                for case in ElementTree.parse(junit).iter("testcase")
            },
        )
    for found in records:
        # When what was asked is all that no second run repeats.
        assert found.pop("time")["seconds"] > 0
        assert not any(drift["drifted"] for drift in found.pop("drift"))
        assert found["calls"].pop("again") > 0
    assert records[0] == records[1]
    assert len(records[0]["data_digest"]) == 64
    assert len(records[0]["results"]) == 16
    assert cases[0] == cases[1]


def test_junit_carries_the_facts_for_every_reader(
    run: Run,
    files: tuple[Path, Path],
) -> None:
    record, _ = run_all(run, files)
    cases = {
        case.get("name"): case for case in ElementTree.parse(files[1]).iter("testcase")
    }
    failed = cases["test_ranking[toys-ScaleSensitive-scale_ratings-2]"]
    failure = failed.find("failure")
    assert failure is not None
    first = str(failure.get("message")).splitlines()[0]
    (row,) = [
        row
        for row in record["results"]
        if row["nodeid"].endswith("Sensitive-scale_ratings-2]")
    ]
    assert first == sentence(row)
    assert first.startswith(
        "scale_ratings(2) is violated: the loss of agreement beyond noise is ",
    )
    for case, status in ((failed, "violated"), (
        cases["test_ranking[toys-ScaleSensitive-reorder_history]"], "holds",
    )):  # fmt: skip
        output = case.find("system-out")
        assert output is not None
        lines = str(output.text).splitlines()
        assert lines[0].startswith(
            ("scale_ratings(2) is violated: ", "reorder_history holds: "),
        )
        facts = json.loads(lines[1])["recsys-mt"]
        assert facts["status"] == status
        assert facts["margin"] == 0.2
        assert case.find("properties") is None, "the default family xunit2 allows none"


def test_junit_properties_where_the_family_allows_them(
    run: Run,
    files: tuple[Path, Path],
) -> None:
    run_all(run, files, "-o", "junit_family=xunit1")
    cases = {
        case.get("name"): case for case in ElementTree.parse(files[1]).iter("testcase")
    }
    properties = cases["test_ranking[toys-ScaleSensitive-scale_ratings-2]"].find(
        "properties",
    )
    assert properties is not None
    found = {each.get("name"): each.get("value") for each in properties}
    assert found["recsys_mt.status"] == "violated"


def test_runs_without_recommender_tests_print_and_write_nothing(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile("def test_plain(): pass")
    result = run()
    result.assert_outcomes(passed=1)
    assert not [line for line in result.stdout.lines if "recsys-mt:" in line]


def test_an_empty_run_is_recorded_and_does_not_pass_the_gate(
    project: pytest.Pytester,
) -> None:
    path = project.path / "record.json"
    project.makepyfile("def test_plain(): pass")
    result = project.runpytest_inprocess(f"--recsys-json={path}")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    record = record_of(path)
    assert record["results"] == []
    assert record["gate"]["status"] == "failed"


@ON_WORKERS_TOO
def test_texts_of_others_harm_neither_workers_nor_readers(
    run: Run,
    project: pytest.Pytester,
) -> None:
    """A lone surrogate ends an xdist session, an escape
    reaches the terminal, a NUL breaks XML.
    """
    project.makepyfile(
        nasty="""
        from pytest_recsys_mt import Recommendation
        from toys import by_id

        NASTY = "\\ud800\\x1b[31m\\x00]]>\\u202e::set-output"

        class Nasty:
            deterministic = True

            def recommend(self, requests):
                if len(requests) == 1 and requests[0].user.endswith("1"):
                    raise RuntimeError(NASTY)
                if len(requests) > 1:
                    raise RuntimeError("not as a batch")
                shown = by_id(requests[0])[:3] + [NASTY]
                return [Recommendation(tuple(shown[:: -1 if requests[0].scale.high > 5 else 1]))]
        """,
        test_nasty="""
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking
        from pytest_recsys_mt.relations import scale_ratings

        @metamorphic(scale_ratings(2))
        def test_it(source, followup):
            assert same_ranking(source, followup, margin=0.1)
        """,
    )
    record, junit = project.path / "record.json", project.path / "junit.xml"
    result = run(
        "--recsys-model=nasty:Nasty", f"--recsys-json={record}", f"--junitxml={junit}",
        "-o", "recsys_error_limit=0.5",
    )  # fmt: skip
    result.assert_outcomes(failed=1)
    (row,) = record_of(record)["results"]
    assert row["status"] == "violated"
    assert row["errors"] > 0
    ElementTree.parse(junit)
    for text in (result.stdout.str(), record.read_text(), junit.read_text()):
        assert not set("\ud800\x1b\x00\u202e") & set(text)
        assert "\\ud800" not in text


def test_the_fault_of_one_answer_is_shown_by_itself_under_its_oracle(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        test_it="""
        from pytest_recsys_mt.oracles import no_repeats
        from pytest_recsys_mt.relations import reorder_history

        def test_source(recsys):
            assert no_repeats(recsys.run(), margin=0.001)

        def test_followup(recsys):
            assert no_repeats(recsys.run(reorder_history), margin=0.001)
        """,
    )
    result = project.runpytest_inprocess(
        "--recsys-model=toys:Faithful",
        "--recsys-users=12",
    )
    result.stdout.fnmatch_lines(
        ["*recsys-mt: no_repeats -*", "user *", "    answer", "  1 *"],
    )
    result.stdout.fnmatch_lines(
        ["*recsys-mt: reorder_history -*", "to see * in full (*"],
    )
    result.stdout.no_fnmatch_line("*source  *follow-up*")


def test_an_error_before_any_verdict_is_told_without_its_module(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(test_it=TEST)
    path = project.path / "record.json"
    project.runpytest_inprocess(
        "--recsys-model=openai:none", "--recsys-mode=replay", "-k", "test_ranking and scale",
        f"--recsys-json={path}",
    )  # fmt: skip
    (row,) = record_of(path)["results"]
    assert row["reason"].startswith("MissingAnswerError: ")


def test_bounds_without_a_proof_are_marked_in_the_table_and_in_the_record(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        test_it="""
        from pytest_recsys_mt.oracles import at_least, complete_list

        def test_much_is_shown(recsys):
            assert at_least(recsys.run(), "item_coverage", 0.01)

        def test_answers(recsys):
            assert complete_list(recsys.run(), margin=0.2)
        """,
    )
    result = run(
        "--recsys-model=toys:Faithful",
        "--recsys-json=record.json",
        "--recsys-users=60",
        "-v",
    )
    result.stdout.re_match_lines(
        [r"much_is_shown +holds +~0\.\d+ \[0\.\d+, 0\.\d+\] .*"],
    )
    result.stdout.fnmatch_lines(
        ["~ approximate: bounds whose error rate is not proven"],
    )
    rows = record_of(project.path / "record.json")["results"]
    assert {row["oracle"]: row["approximate"] for row in rows} == {
        "at_least:item_coverage": True,
        "complete_list": False,
    }
