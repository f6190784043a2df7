"""What recsys.toml may say, and what it does."""

from pathlib import Path

import pytest

from pytest_recsys_mt import PolicyError
from tests.gate.conftest import Run
from tests.support.gate import MARGIN, Store, load

KNOWN = '[[known]]\nrelation = "scale*"\nreason = "ticket 7"\nuntil = {}\n'


def policy(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "recsys.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_empty_policy_is_the_defaults(tmp_path: Path) -> None:
    found = load(policy(tmp_path, ""))
    assert (found.margin, found.alpha, found.inconclusive, found.rules) == (
        MARGIN,
        None,
        None,
        (),
    )


def test_the_first_rule_that_fits_counts(tmp_path: Path) -> None:
    text = """
    [[gate.rules]]
    suite = "release"
    relation = "add_*"
    gates = false
    reason = "not promised"
    [[gate.rules]]
    relation = "*"
    margin = 0.3
    """
    found = load(policy(tmp_path, text))
    row = {
        "nodeid": "t.py::test_x[m-r]",
        "suite": "release",
        "relation": "add_spaces(0.1)",
    }
    assert not found.rule(row).gates
    assert found.rule({**row, "suite": "other"}).margin == 0.3
    assert found.rule({**row, "relation": "typos(0.1)"}).margin == 0.3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[gate", "is not TOML"),
        (
            "[gates]",
            "the file has no 'gates'; it has gate, known; did you mean 'gate'?",
        ),
        ("gate = 3", "gate is 3; it must be a table"),
        ("[gate]\nalpha = 0", "alpha is 0; it must be a number between 0 and 0.5"),
        ("[gate]\nalpha = 0.5", "alpha is 0.5"),
        (
            '[gate]\nvacuous = "fail"',
            "vacuous is 'fail'; it must be 'allow' or 'refuse'",
        ),
        (
            '[[gate.rules]]\nsuite = "x"\nvacuous = true',
            "vacuous is True; it must be 'allow' or",
        ),
        ("[gate]\nmargin = -1", "margin is -1; it must be a number from 0"),
        ("[gate]\nmargin = true", "margin is True"),
        ("[gate]\nsuspicious = nan", "suspicious is nan"),
        (
            '[gate]\ninconclusive = "pass"',
            "inconclusive is 'pass'; it must be 'fail' or 'skip'",
        ),
        ("[gate]\nrules = 3", "written as [[gate.rules]]"),
        ("[[gate.rules]]\ngates = true", "does not say what it applies to"),
        ('[[gate.rules]]\nrelation = "x"\ngates = false', "a text that says why"),
        ('[[gate.rules]]\nrelation = ""', "relation is ''"),
        ('[[gate.rules]]\nrelations = "x"', "did you mean 'relation'?"),
        (
            '[[known]]\nrelation = "x"\nreason = "y"',
            "until is None; it must be the last day",
        ),
        ('[[known]]\nrelation = "x"\nuntil = 2030-01-01', "reason is None"),
        ('[[known]]\nmetric = "x"', "has no 'metric'"),
        (KNOWN.format("2030-01-01T00:00:00"), "it must be the last day"),
    ],
)
def test_a_policy_that_means_nothing_says_why(
    tmp_path: Path,
    text: str,
    told: str,
) -> None:
    path = policy(tmp_path, text)
    with pytest.raises(PolicyError) as error:
        load(path)
    assert told in str(error.value)
    assert str(path) in str(error.value)


def test_a_bad_policy_ends_the_run_before_it_begins(
    run: Run,
    project: pytest.Pytester,
) -> None:
    policy(project.path, "[gate]\nmargn = 1")
    result, _ = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--recsys-policy: *did you mean 'margin'?*"])
    result, _ = run("--recsys-policy=missing.toml")
    result.stderr.fnmatch_lines(["*the policy 'missing.toml' cannot be read*"])


def test_the_option_may_not_contradict_the_policy(
    run: Run,
    project: pytest.Pytester,
) -> None:
    policy(project.path, '[gate]\ninconclusive = "skip"')
    result, _ = run("--recsys-inconclusive=fail")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*contradicts*recsys.toml*'skip'*"])


STRICT = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings

@metamorphic(scale_ratings(2), reorder_history)
def test_ranking(source, followup):
    assert same_ranking(source, followup, margin=0.1)
"""


@pytest.fixture
def strict(project: pytest.Pytester) -> pytest.Pytester:
    """The project with a test that a list turned round violates."""
    (project.path / "release" / "test_toys.py").write_text(STRICT, encoding="utf-8")
    return project


@pytest.mark.parametrize(
    "workers",
    [[], ["-n", "2"]],
    ids=["one process", "two workers"],
)
def test_a_known_violation_passes_until_its_last_day(
    run: Run,
    strict: pytest.Pytester,
    workers: list[str],
) -> None:
    policy(strict.path, KNOWN.format("9999-01-01"))
    result, record = run(*workers, share=1.0)
    (kept,) = Store.of(strict.path).runs()
    assert kept.head["counts"] == {"holds": 1, "violated": 1}
    result.assert_outcomes(passed=1, xfailed=1)
    assert (result.ret, record["gate"]["status"]) == (pytest.ExitCode.OK, "passed")
    result.stdout.fnmatch_lines(
        [
            "known  *",
            "*scale_ratings(2) is violated, as its test expects: *",
            "gate: passed; 1 held (1 vacuously); 1 known to be violated",
        ],
    )


def test_a_known_violation_beside_other_verdicts_is_one_truth_in_every_channel(
    run: Run,
    strict: pytest.Pytester,
) -> None:
    """One test, three verdicts: what holds beside a known
    violation, or in its place, is not fixed.
    """
    several = STRICT.replace(
        "    assert",
        "    same_ranking(source, followup, margin=0.95)\n    assert",
    )
    unasked = several.replace(
        "    assert",
        "    raise ValueError('no network')\n    assert",
    )
    policy(strict.path, KNOWN.format("9999-01-01"))
    for text, said in (
        (several, "gate: passed; 3 held (2 vacuously); 1 known to be violated"),
        (unasked, "gate: passed; 2 held (1 vacuously)"),
    ):
        (strict.path / "release" / "test_toys.py").write_text(
            text.replace(", reorder_history)", ")") if text is unasked else text,
            encoding="utf-8",
        )
        result, record = run("--recsys-html=page.html", share=0.4)
        known = [row for row in record["results"] if row["outcome"] == "xfailed"]
        assert {row["status"] for row in known if row["expected"] == "violated"} <= {
            "violated",
        }
        page = (strict.path / "page.html").read_text(encoding="utf-8")
        assert "May be released" in page
        assert "badge state-fixed" not in page
        assert "FIXED  " not in result.stdout.str()
        assert said.partition(";")[0] in result.stdout.str()


def test_a_known_violation_that_is_fixed_fails(
    run: Run,
    strict: pytest.Pytester,
) -> None:
    policy(strict.path, KNOWN.format("9999-01-01"))
    result, record = run()
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    (reason,) = record["gate"]["reasons"]
    assert reason.startswith("fixed, so remove the expectation: ")
    result.stdout.fnmatch_lines(
        ["gate: failed; 1 known to be violated, now fixed (scale_ratings(2))"],
    )
    result.stdout.fnmatch_lines(
        ["FIXED  *", "*scale_ratings(2) holds, though its test expects a violation: *"],
    )


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_known_violation_that_expired_fails(
    run: Run,
    strict: pytest.Pytester,
    share: float,
) -> None:
    policy(strict.path, KNOWN.format("2026-01-31"))
    result, record = run(share=share)
    result.assert_outcomes(passed=2 if share == 0 else 1, failed=0 if share == 0 else 1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    told = "the known violation of relation = 'scale*' expired on 2026-01-31"
    assert told in record["gate"]["reasons"]


def test_an_error_is_no_known_violation(run: Run, strict: pytest.Pytester) -> None:
    policy(strict.path, KNOWN.format("9999-01-01"))
    strict.makepyfile(
        toys="class Toy:\n    def recommend(self, requests): raise OSError('down')",
    )
    result, record = run()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert any(reason.startswith("error: ") for reason in record["gate"]["reasons"])


@pytest.mark.parametrize(
    "workers",
    [[], ["-n", "2"]],
    ids=["one process", "two workers"],
)
def test_what_does_not_gate_is_told_and_fails_nothing(
    run: Run,
    strict: pytest.Pytester,
    workers: list[str],
) -> None:
    rule = (
        '[[gate.rules]]\nrelation = "scale*"\ngates = false\nreason = "not promised"\n'
    )
    policy(strict.path, rule)
    result, record = run(*workers, share=1.0)
    (kept,) = Store.of(strict.path).runs()
    assert kept.head["counts"] == {"holds": 1, "violated": 1}
    result.assert_outcomes(passed=1, xfailed=1)
    assert result.ret == pytest.ExitCode.OK
    (ungated,) = record["gate"]["ungated"]
    assert ungated["reason"] == "not promised"
    result.stdout.fnmatch_lines(
        ["VIOLATED *", "    scale_ratings(2) is violated: *", "gate: passed*"],
    )
    policy(strict.path, rule.replace("scale*", "*"))
    result, record = run(share=1.0)
    (reason,) = record["gate"]["reasons"]
    assert reason == "nothing that gates was judged: does not gate: not promised (2)"
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_code_that_breaks_fails_even_where_nothing_gates(
    run: Run,
    strict: pytest.Pytester,
) -> None:
    policy(
        strict.path,
        '[[gate.rules]]\nrelation = "*"\ngates = false\nreason = "no"\n',
    )
    path = strict.path / "release" / "test_toys.py"
    path.write_text(
        STRICT.replace("assert same_ranking(", "same_ranking(")
        + "    raise ValueError('mine')\n",
    )
    result, _ = run(share=1.0)
    result.assert_outcomes(failed=2)


def test_a_policy_in_the_folder_does_not_fail_runs_without_recommenders(
    project: pytest.Pytester,
) -> None:
    policy(project.path, "")
    path = project.makepyfile(test_plain="def test_it(): pass")
    assert project.runpytest_inprocess(path).ret == pytest.ExitCode.OK
    asked = project.runpytest_inprocess(path, "--recsys-policy=recsys.toml")
    assert asked.ret == pytest.ExitCode.TESTS_FAILED
    asked.stdout.fnmatch_lines(
        ["gate: failed*", "*no test made a verdict on a recommender*"],
    )
