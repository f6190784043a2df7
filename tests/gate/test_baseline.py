"""A run against an earlier record: what regressed, what
may be compared, and how a run ends.
"""

import fnmatch
import json
from typing import Any

import pytest

from pytest_recsys_mt import PolicyError
from tests.gate.conftest import Run
from tests.support.gate import read

AGAINST = "--recsys-baseline=old.json"


def changes(record: dict[str, Any]) -> dict[str, str]:
    (comparison,) = record["gate"]["comparisons"]
    return {
        each["relation"] or "answers": each["change"] for each in comparison["results"]
    }


def test_the_record_holds_the_value_of_every_user_in_one_line(
    run: Run,
    project: pytest.Pytester,
) -> None:
    _, record = run(share=0.3)
    rows = {row["relation"]: row for row in record["results"]}
    row = rows["scale_ratings(2)"]
    assert len(row["per_user"]) == row["users"] == 20, "which settled it"
    mean = sum(row["per_user"].values()) / 20
    assert mean == pytest.approx(row["estimate"], abs=1e-6)
    assert row["reach"] == [0.0, 1.0]
    assert rows["add_spaces(0.1)"]["per_user"] == {}
    lines = (project.path / "now.json").read_text(encoding="utf-8").splitlines()
    assert sum('"per_user": {' in line for line in lines) == len(rows)
    assert max(map(len, lines)) > 200


def test_the_same_again_is_unchanged_and_passes(
    run: Run,
    baseline: dict[str, Any],
) -> None:
    result, record = run(AGAINST)
    assert result.ret == pytest.ExitCode.OK
    assert record["gate"]["status"] == "passed"
    assert changes(record) == {
        "scale_ratings(2)": "unchanged",
        "reorder_history": "unchanged",
        "add_spaces(0.1)": "ungated",
        "answers": "unchanged",
    }
    result.stdout.fnmatch_lines(
        [
            "*toys:Toy against toys:Toy of old.json*",
            "3 unchanged, 1 ungated",
            "gate: passed*",
        ],
    )


def test_what_became_worse_fails_the_run_though_every_test_passes(
    run: Run,
    baseline: dict[str, Any],
) -> None:
    result, record = run(AGAINST, share=0.6)
    result.assert_outcomes(passed=3, skipped=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = next(
        each
        for each in record["gate"]["comparisons"][0]["results"]
        if each["change"] == "regressed"
    )
    assert found["relation"] == "scale_ratings(2)"
    assert found["interval"][0] > found["margin"] == 0.1
    assert found["p_holm"] <= 0.05
    assert record["gate"]["reasons"] == [f"regressed: {found['nodeid']}"]
    result.stdout.fnmatch_lines(["scale_ratings(2) REGRESSED *0.1*20", "gate: failed*"])
    assert all(len(line) <= 80 for line in result.stdout.lines if "REGRESSED" in line)


def test_what_became_better_is_improved(run: Run) -> None:
    run(share=0.6, json="old.json")
    result, record = run(AGAINST)
    assert result.ret == pytest.ExitCode.OK
    assert changes(record)["scale_ratings(2)"] == "improved"


def test_a_change_that_is_not_clear_fails_unless_the_policy_passes_it_over(
    run: Run,
    baseline: dict[str, Any],
    project: pytest.Pytester,
) -> None:
    result, record = run(AGAINST, share=0.3)
    assert changes(record)["scale_ratings(2)"] == "inconclusive"
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (project.path / "recsys.toml").write_text('[gate]\ninconclusive = "skip"\n')
    result, record = run(AGAINST, share=0.3)
    assert changes(record)["scale_ratings(2)"] == "inconclusive"
    assert result.ret == pytest.ExitCode.OK


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--recsys-seed=1"], "other seed: 0 in the baseline, 1 in this run"),
        (["--recsys-users=50"], "other users: "),
        (["--recsys-k=5"], "other --recsys-k: 10 in the baseline, 5 in this run"),
        (["-k", "scale"], "this run lacks release/test_toys.py::test_answers, "),
    ],
)
def test_a_run_of_something_else_is_refused_with_the_digests(
    run: Run,
    baseline: dict[str, Any],
    arguments: list[str],
    told: str,
) -> None:
    result, record = run(AGAINST, *arguments)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    refused = record["gate"]["comparisons"][0]["refused"]
    assert any(told in reason for reason in refused)
    result.stdout.fnmatch_lines(["*refused: other *"])
    digest = record["digests"]["users"]
    assert (digest == baseline["digests"]["users"]) == (arguments[0] == "-k")


def test_values_by_another_rule_of_what_a_user_has_are_refused(
    run: Run,
    baseline: dict[str, Any],
    project: pytest.Pytester,
) -> None:
    del baseline["settings"]["past"]
    (project.path / "old.json").write_text(json.dumps(baseline))
    _, record = run(AGAINST)
    assert record["gate"]["comparisons"][0]["refused"] == [
        "other past of users: none in the baseline, whole in this run",
    ]


def test_other_data_are_refused(
    run: Run,
    baseline: dict[str, Any],
    project: pytest.Pytester,
) -> None:
    path = project.path / "old.json"
    other = {**baseline, "data_digest": "0" * 64}
    path.write_text(json.dumps(other), encoding="utf-8")
    result, record = run(AGAINST)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (refused,) = record["gate"]["comparisons"][0]["refused"]
    mine = record["data_digest"][:12]
    assert refused == f"other data: 000000000000 in the baseline, {mine} in this run"


def test_a_run_with_more_tests_than_the_baseline_is_refused(
    run: Run,
    project: pytest.Pytester,
) -> None:
    run("-k", "scale or answers", json="old.json")
    _, record = run(AGAINST)
    assert "the baseline lacks" in record["gate"]["comparisons"][0]["refused"][0]


def test_a_partial_run_does_not_pass_and_is_no_baseline(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(**{"release/test_a": "def test_it(recsys): assert False"})
    _, record = run("-x")
    (reason,) = [each for each in record["gate"]["incomplete"] if "stopped" in each]
    assert "stopping after 1 failures" in reason
    assert record["gate"]["status"] == "failed"
    refused, _ = run("--recsys-baseline=now.json", json="later.json")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*now.json': it is the record of a partial run*"])


def test_a_run_that_a_limit_ended_is_partial(run: Run) -> None:
    _, record = run("--recsys-max-calls=30")
    assert any("were not asked" in each for each in record["gate"]["incomplete"])


def test_an_empty_run_does_not_pass_and_is_no_baseline(
    run: Run,
    baseline: dict[str, Any],
) -> None:
    result, record = run(AGAINST, "-k", "nothing_of_that_name")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert record["gate"]["incomplete"] == ["no test made a verdict on a recommender"]
    refused, _ = run("--recsys-baseline=now.json", json="later.json")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "it cannot be read"),
        ("{", "it is not a record"),
        (
            '{"schema": "recsys-mt/1", "gate": {"status": "passed"}}',
            "of an older version",
        ),
    ],
)
def test_a_file_that_is_no_baseline_ends_the_run_before_it_begins(
    run: Run,
    project: pytest.Pytester,
    text: str | None,
    told: str,
) -> None:
    if text is not None:
        (project.path / "old.json").write_text(text, encoding="utf-8")
    result, record = run(AGAINST)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--recsys-baseline='old.json': *{told}*"])
    assert record == {}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"per_user": {"u1": "0.5"}},
            "'per_user' of 'u1' is 0.5, not a number from 0 to 1",
        ),
        ({"per_user": {"u1": float("nan")}}, "'per_user' of 'u1' is nan, not a number"),
        (
            {"per_user": {"u1": 10**400}},
            "'per_user' of 'u1' is 100000000000, not a number",
        ),
        (
            {"per_user": {"u1": 7.0}},
            "'per_user' of 'u1' is 7.0, not a number from 0 to 1",
        ),
        ({"per_user": [0.5]}, "'per_user' is [0.5], not an object"),
        ({"reach": [0.0]}, "'reach' is [0.0], not two numbers"),
        ({"reach": None}, "'per_user' has values, and 'reach' does not say"),
        ({"status": None}, "'status' is none, not a text"),
        ({"nodeid": 3}, "'nodeid' is 3, not a text"),
    ],
)
def test_a_damaged_record_is_no_baseline_and_says_what_is_wrong_with_it(
    baseline: dict[str, Any],
    project: pytest.Pytester,
    change: dict[str, Any],
    told: str,
) -> None:
    first, second, *others = baseline["results"]
    path = project.path / "old.json"
    rows = [
        first,
        {**second, "reach": [0, 1], "per_user": {"u1": 1}, **change},
        *others,
    ]
    path.write_text(json.dumps({**baseline, "results": rows}))
    with pytest.raises(PolicyError) as error:
        read(path)
    where = "" if "nodeid" in change else f" ({second['nodeid']})"
    assert f"it is a damaged record: row 2 of 'results'{where}: {told}" in str(
        error.value,
    )
    assert "make a new one with --recsys-json" in str(error.value)


def test_a_record_of_answers_that_changed_is_no_baseline(
    baseline: dict[str, Any],
    project: pytest.Pytester,
) -> None:
    path = project.path / "old.json"
    drift = [{"drifted": True, "reason": "answers changed while we asked toy"}]
    path.write_text(json.dumps({**baseline, "drift": drift}))
    with pytest.raises(
        PolicyError,
        match="it does not identify one model: answers changed",
    ):
        read(path)
    path.write_text(json.dumps({**baseline, "drift": [None]}))
    with pytest.raises(PolicyError, match="'drift' is"):
        read(path)


def test_a_step_summary_that_cannot_be_written_is_said_and_loses_nothing(
    run: Run,
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(
        "GITHUB_STEP_SUMMARY",
        str(project.path / "nowhere" / "summary.md"),
    )
    result, record = run()
    assert result.ret == pytest.ExitCode.OK
    assert record["gate"]["status"] == "passed"
    result.stdout.fnmatch_lines(["recsys-mt: GITHUB_STEP_SUMMARY=*", "gate: passed*"])


def test_texts_of_a_baseline_do_not_reach_the_terminal_as_they_are(
    run: Run,
    baseline: dict[str, Any],
    project: pytest.Pytester,
) -> None:
    path = project.path / "old.json"
    path.write_text(json.dumps({**baseline, "data_digest": "\x1b[31m\nred"}))
    result, _ = run(AGAINST)
    assert "\x1b[31m" not in result.stdout.str()
    result.stdout.fnmatch_lines(["*other data: red in the baseline*"])


def test_another_model_is_compared_with_the_only_one_of_the_baseline(
    run: Run,
    baseline: dict[str, Any],
) -> None:
    result, record = run(AGAINST, model="toys:Worse", share=0.6)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert changes(record)["scale_ratings(2)"] == "regressed"


def test_two_models_of_one_run_are_compared_side_by_side(
    run: Run,
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    summary = project.path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    both = ["--recsys-model=toys:Toy", "--recsys-model=toys:Worse"]
    result, record = run(*both, "--recsys-keep=baseline", model="")
    assert result.ret == pytest.ExitCode.OK, "nobody asked for a gate"
    assert changes(record)["scale_ratings(2)"] == "regressed"
    result.stdout.fnmatch_lines(["*toys:Worse against toys:Toy of this run*"])
    told = "it does not gate unless a policy (recsys.toml) applies; a comparison with a baseline gates"
    assert told in " ".join(result.stdout.str().split())
    assert f": {told}.\n" in summary.read_text(encoding="utf-8")


def test_users_of_both_runs_are_compared_whoever_stopped_first(
    run: Run,
    project: pytest.Pytester,
) -> None:
    _, record = run(model="toys:Noisy", json="old.json")
    early = next(
        row for row in record["results"] if row["relation"] == "scale_ratings(2)"
    )
    _, compared = run(AGAINST, model="toys:Noisy")
    told = {
        each["relation"]: each for each in compared["gate"]["comparisons"][0]["results"]
    }
    assert told["scale_ratings(2)"]["change"] == "unchanged"
    now = next(
        row for row in compared["results"] if row["relation"] == "scale_ratings(2)"
    )
    assert list(now["per_user"])[: early["users"]] == list(early["per_user"]), (
        "as they were drawn"
    )
    assert now["users"] == 60
    (project.path / "recsys.toml").write_text("")
    _, record = run(model="toys:Noisy", json="old.json")
    result, compared = run(AGAINST, model="toys:Noisy")
    assert changes(compared)["scale_ratings(2)"] == "unchanged"
    assert result.ret == pytest.ExitCode.OK


def test_a_record_of_the_first_schema_is_compared_where_it_has_the_values(
    run: Run,
    baseline: dict[str, Any],
    project: pytest.Pytester,
) -> None:
    path = project.path / "old.json"
    old = {**baseline, "schema": "recsys-mt/1"}
    for row in old["results"]:
        if row["relation"] == "scale_ratings(2)":
            row["per_user"] = {}
    path.write_text(json.dumps(old))
    _, compared = run(AGAINST)
    told = {
        each["relation"]: each for each in compared["gate"]["comparisons"][0]["results"]
    }
    assert told["reorder_history"]["change"] == "unchanged"
    assert told["scale_ratings(2)"]["change"] == "ungated"
    assert (
        "records of that version have no values" in told["scale_ratings(2)"]["reason"]
    )


@pytest.mark.slow  # test_policy has a gate on workers, and plugin/test_reports their record
def test_two_workers_say_the_same(run: Run, baseline: dict[str, Any]) -> None:
    _, alone = run(AGAINST, share=0.6)
    result, together = run(AGAINST, "-n", "2", share=0.6)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert together["gate"] == alone["gate"]
    assert together["digests"] == alone["digests"]


def test_a_baseline_that_stopped_early_says_what_ends_that(
    run: Run,
    project: pytest.Pytester,
) -> None:
    run(json="old.json")
    _, record = run("--recsys-baseline=old.json", share=0.25)
    changes = record["gate"]["comparisons"][0]["results"]
    (unclear,) = (each for each in changes if each["change"] == "inconclusive")
    assert unclear["early"]
    assert unclear["reason"].endswith(
        "the run it is compared with stopped at 20 users, when its verdict was clear",
    )
    told = "the baseline stopped after 20 users*--recsys-keep=baseline --recsys-json=*old.json*"
    assert fnmatch.fnmatch(record["gate"]["sentence"], f"*{told}")
    run("--recsys-keep=baseline", json="old.json")
    _, record = run("--recsys-baseline=old.json", share=0.25)
    assert not any(
        each["early"] for each in record["gate"]["comparisons"][0]["results"]
    )
