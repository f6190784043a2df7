"""What a run says as a whole: one sentence, the same
everywhere, and the exit code with it.
"""

from typing import Any
from xml.etree import ElementTree

import pytest

from tests.gate.conftest import Run
from tests.support.gate import KINDS, Decision, Gate, state_of_test
from tests.support.report import in_markdown
from tests.support.report_html import render

WORKERS = pytest.mark.parametrize(
    "workers",
    [[], ["-n", "2"]],
    ids=["one process", "two workers"],
)


def row(number: int, status: str, outcome: str, **more: Any) -> Any:
    return {
        "nodeid": f"t.py::test_x[toy-r{number}]", "suite": "s", "model": "toy", "relation": f"r{number}",
        "oracle": "o", "status": status, "outcome": outcome, "expected": "holds", "reason": "",
        "allowed": "at most", "per_user": {}, "reach": None, **more,
    }  # fmt: skip


def decided(*rows: Any, **found: list[str]) -> Decision:
    standing = [each["nodeid"] for each in rows if each["status"] == "violated"]
    document: Any = {"results": rows, "models": ["toy"]}
    return Gate().decide(document, standing, found)  # type: ignore[arg-type]


def test_every_reason_is_in_the_sentence_and_only_the_first_names() -> None:
    gate = decided(
        *(row(number, "violated", "failed") for number in range(5)),
        row(5, "inconclusive", "failed"),
        row(6, "error", "failed", reason="429 rate\nlimit"),
        row(7, "holds", "failed", expected="violated"),
        row(8, "holds", "failed"),
        partial=["a worker died"],
    )
    assert gate["sentence"] == (
        "gate: failed; 5 violated (r0; r1; r2; 2 more); 1 in error (r6: 429 rate limit); 1 inconclusive "
        "(r5); 1 failed for a reason other than a verdict (r8); 1 known to be violated, now fixed (r7); the "
        "run is partial: a worker died"
    )
    assert len(gate["reasons"]) == 10
    assert gate["status"] == "failed"


def test_the_numbers_of_the_sentence_add_up_where_names_repeat() -> None:
    same = [
        row(0, "violated", "failed", nodeid=f"t{model}.py::test_x")
        for model in range(2)
    ]
    gate = decided(
        *same,
        *(row(number, "violated", "failed") for number in range(1, 5)),
    )
    assert gate["sentence"] == "gate: failed; 6 violated (r0, 2 times; r1; r2; 2 more)"


def test_a_test_of_several_verdicts_fails_for_the_one_that_does_not_hold() -> None:
    test = {"nodeid": "t.py::test_two[toy]"}
    for better in ("holds", "inconclusive", "error"):
        for order in (1, -1):
            rows = [
                row(1, better, "failed", **test),
                row(2, "violated", "failed", **test),
            ][::order]
            gate = decided(*rows)
            assert gate["reasons"] == ["violated: t.py::test_two[toy]"]
            assert gate["sentence"].startswith("gate: failed; 1 violated (r2)")
            assert state_of_test(rows) == "violated"


@pytest.mark.parametrize("kind", KINDS)
def test_a_reason_of_any_kind_fails_the_gate_and_is_told(kind: str) -> None:
    gate = decided(row(1, "holds", "passed"), **{kind: ["because of this"]})
    assert gate["status"] == "failed"
    assert "because of this" in gate["sentence"]


def test_a_verdict_on_several_models_together_is_not_missed_in_a_comparison() -> None:
    """It has no value a user, in the baseline or now; a model
    of which nothing compares is missed.
    """
    facts: dict[str, Any] = {
        "per_user": {},
        "reach": None,
        "allowed": None,
        "suite": "arena",
    }
    own = row(1, "holds", "passed", **facts) | {
        "per_user": {"u1": 0.0, "u2": 0.0},
        "reach": [-1.0, 1.0],
        "allowed": "at most",
    }
    league = row(2, "holds", "passed", **facts) | {"model": "toy, other"}
    document: Any = {
        "results": [own, league],
        "models": ["toy", "toy, other"],
        "digests": {},
        "settings": {},
    }
    gate = Gate(configured=True, baseline=("old.json", document))
    assert gate.decide(document, [], {})["status"] == "passed"
    refused = row(3, "not-applicable", "skipped", **facts) | {"model": "other"}
    document = {**document, "results": [own, refused], "models": ["toy", "other"]}
    decided = Gate(configured=True, baseline=("old.json", document)).decide(
        document, [], {}
    )
    assert "no verdict on other could be compared" in decided["sentence"]


def test_a_run_that_passes_says_what_it_passed_over() -> None:
    gate = decided(
        row(1, "holds", "passed"),
        row(2, "inconclusive", "skipped"),
        row(3, "not-applicable", "skipped"),
        row(4, "violated", "passed", expected="violated"),
    )
    assert gate["sentence"] == (
        "gate: passed; 1 held; 1 known to be violated; 1 inconclusive and skipped; 1 not applicable"
    )


def test_terminal_junit_step_summary_html_and_record_say_the_same(
    run: Run,
    baseline: dict[str, Any],
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    summary = project.path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result, record = run(
        "--recsys-baseline=old.json",
        "--junitxml=junit.xml",
        share=0.6,
    )
    sentence = record["gate"]["sentence"]
    assert sentence.startswith("gate: failed; 1 regressed (scale_ratings(2)); ")
    assert sentence in " ".join(result.stdout.str().split())
    assert f"\n{in_markdown(sentence)}\n" in summary.read_text(encoding="utf-8")
    assert f">{sentence}</p>" in render(record)
    suite = next(ElementTree.parse(project.path / "junit.xml").iter("testsuite"))
    found = {each.get("name"): each.get("value") for each in suite.iter("property")}
    assert found["recsys_mt.gate.sentence"] == sentence
    (case,) = (each for each in suite.iter("testcase") if each.get("name") == "gate")
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == sentence


@WORKERS
def test_a_run_in_which_nothing_could_be_judged_fails_and_says_why(
    run: Run,
    project: pytest.Pytester,
    workers: list[str],
) -> None:
    result, record = run(*workers, "-k", "add_spaces", "--junitxml=junit.xml")
    result.assert_outcomes(skipped=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    sentence = record["gate"]["sentence"]
    cause = "needs a text model, and toys:Toy reads no text (1)"
    assert sentence == f"gate: failed; nothing could be judged: {cause}"
    case = ElementTree.parse(project.path / "junit.xml").find(
        ".//testcase[@name='gate']/failure",
    )
    assert case is not None, "a reader of the file alone must see that the run failed"
    assert case.get("message") == sentence


def test_inconclusive_verdicts_alone_judge_nothing_though_they_may_be_skipped(
    run: Run,
) -> None:
    skipping = ["--recsys-inconclusive=skip", "-k", "scale"]
    result, record = run(*skipping, "--recsys-users=2", share=1.0)
    result.assert_outcomes(skipped=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert (
        record["gate"]["sentence"]
        == "gate: failed; nothing could be judged: inconclusive (1)"
    )
    result, record = run(*skipping, share=0.3)
    assert (result.ret, record["gate"]["status"]) == (pytest.ExitCode.OK, "passed")


@WORKERS
def test_a_few_chosen_tests_pass(run: Run, workers: list[str]) -> None:
    result, record = run(*workers, "-k", "scale or add_spaces")
    result.assert_outcomes(passed=1, skipped=1)
    assert (result.ret, record["gate"]["status"]) == (pytest.ExitCode.OK, "passed")


def test_a_failure_of_another_test_is_none_of_the_gate(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(test_plain="def test_it(): assert False")
    result, record = run()
    result.assert_outcomes(passed=3, skipped=1, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert (
        record["gate"]["sentence"]
        == "gate: passed; 3 held (2 vacuously); 1 not applicable"
    )


PLAIN = "def test_it(): pass"
PROPERTY = "def test_it(recsys): assert recsys.design.k == 10"


@pytest.mark.parametrize("test", [PLAIN, PROPERTY], ids=["plain", "property"])
@pytest.mark.parametrize(
    "workers",
    [[], ["-n", "2"]],
    ids=["one process", "two workers"],
)
def test_what_judges_no_recommender_is_not_touched(
    project: pytest.Pytester,
    test: str,
    workers: list[str],
) -> None:
    """Also where the ini file asks every run for a record, or holds it to a policy."""
    project.makeini(
        "[pytest]\naddopts = --recsys-json=record.json --recsys-policy=recsys.toml",
    )
    (project.path / "recsys.toml").write_text("")
    path = project.makepyfile(test_plain=test)
    result = project.runpytest_inprocess("-p", "no:cacheprovider", path, *workers)
    assert result.ret == pytest.ExitCode.OK
    assert "gate:" not in result.stdout.str()
    assert not (project.path / "record.json").exists()


@pytest.mark.parametrize("option", ["--collect-only", "--recsys-list", "--recsys-plan"])
def test_what_runs_no_test_makes_no_gate(
    run: Run,
    project: pytest.Pytester,
    baseline: dict[str, Any],
    option: str,
) -> None:
    result, record = run(option, "--recsys-baseline=old.json")
    assert result.ret == pytest.ExitCode.OK
    assert "gate:" not in result.stdout.str()
    assert "gate" not in record


@WORKERS
def test_models_are_compared_with_the_one_that_is_given_first(
    run: Run,
    workers: list[str],
) -> None:
    both = ["--recsys-model=toys:Worse", "--recsys-model=toys:Toy"]
    result, record = run(*both, *workers, model="")
    assert record["models"] == ["toys:Worse", "toys:Toy"]
    (comparison,) = record["gate"]["comparisons"]
    assert (comparison["model"], comparison["against"]) == ("toys:Toy", "toys:Worse")
    changes = {each["relation"]: each["change"] for each in comparison["results"]}
    assert changes["scale_ratings(2)"] == "improved"
    result.stdout.fnmatch_lines(["*toys:Toy against toys:Worse of this run*"])


def test_a_league_beside_its_members_is_not_compared_with_one_of_them() -> None:
    rows = [
        row(1, "holds", "passed"),
        row(
            2,
            "holds",
            "passed",
            model="b",
            nodeid="t.py::test_x[b-r1]",
            relation="r1",
        ),
        row(3, "holds", "passed", model="b, toy", nodeid="t.py::test_league"),
    ]
    document: Any = {"results": rows, "models": ["toy", "b", "b, toy"]}
    (comparison,) = Gate(configured=True).decide(document, [], {})["comparisons"]
    assert comparison["model"] == "b"
