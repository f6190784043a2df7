"""A promise about what a recommender does not read is kept,
and the run says that this means nothing.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import record_of

READERS = r"""
import re
from random import Random
from pytest_recsys_mt import Completion, Recommendation


def scores(request, seed):
    draws = Random(repr(seed))
    return {item: draws.random() for item in sorted(item.id for item in request.candidates)}


def best(request, scored):
    return Recommendation(tuple(sorted(scored, key=scored.get)[: request.k]))


def items_of(request):
    return sorted(rating.item.id for rating in request.history)


def stars_of(request):
    return [(rating.item.id, request.scale.unit(rating.value)) for rating in request.history]


class Chosen:
    deterministic = True
    fingerprint = "1"

    def recommend(self, requests):
        return [best(each, scores(each, items_of(each))) for each in requests]


class Frank(Chosen):
    ignores = ("ratings",)


class Misspelt(Chosen):
    ignores = ("rating",)


class Warm:
    def recommend(self, requests):
        return [best(each, self.scored(each)) for each in requests]

    def scored(self, request):
        noise = scores(request, (request.user, request.replicate, request.scale, stars_of(request)))
        return {item: score + 0.2 * noise[item] for item, score in scores(request, items_of(request)).items()}


class Parrot:
    deterministic = True
    fingerprint = "1"
    film = re.compile(r"^\d+\. (.+? \(\d{4}\))", re.MULTILINE)

    def complete(self, prompts):
        return [Completion(self.say(prompt.messages[-1].content)) for prompt in prompts]

    def say(self, text):
        films = sorted(set(self.film.findall(text)))
        return chr(10).join(f"{n}. {film}" for n, film in enumerate(films, 1))
"""

TESTS = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import not_worse, same_ranking
from pytest_recsys_mt.relations import scale_ratings, shift_ratings, shuffle_candidates, truncate_history


@metamorphic(scale_ratings(2), shift_ratings(1), shuffle_candidates)
def test_the_scale_is_irrelevant(source, followup):
    assert same_ranking(source, followup, margin=0.05)
"""

Run = Callable[..., tuple[pytest.RunResult, dict[str, Any]]]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Run the tests above; returns the result and the record."""
    pytester.makepyfile(readers=READERS, test_scale=TESTS)
    pytester.syspathinsert()

    def execute(*arguments: str) -> tuple[pytest.RunResult, dict[str, Any]]:
        result = pytester.runpytest_inprocess(
            "-p", "no:cacheprovider", "--recsys-users=70", "--recsys-json=record.json",
            "--recsys-cache=answers", *arguments,
        )  # fmt: skip
        path = pytester.path / "record.json"
        return result, record_of(path) if path.exists() else {}

    return execute


def vacuous(record: dict[str, Any]) -> dict[tuple[str, str], str]:
    """What each row says, by model and relation."""
    rows = record["results"]
    assert {row["status"] for row in rows} == {"holds"}
    return {(row["model"], row["relation"]): row["vacuous"] for row in rows}


RATINGS = {
    "scale_ratings(2)": "ratings",
    "shift_ratings(1)": "ratings",
    "shuffle_candidates": "",
}
NOTHING = dict.fromkeys(RATINGS, "")
SCALE = ("-k", "scale_ratings")


def of(model: str, expected: dict[str, str]) -> dict[tuple[str, str], str]:
    return {(model, relation): aspect for relation, aspect in expected.items()}


def test_every_report_says_what_is_not_read(
    run: Run,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    result, record = run(
        "--recsys-model=readers:Chosen",
        "-v",
        "--junitxml=junit.xml",
        "--recsys-html=report.html",
    )
    assert vacuous(record) == of("readers:Chosen", RATINGS)
    unread = record["results"][0]["details"]["unread"]
    assert (unread["relation"], unread["users"], unread["below"]) == (
        "invert_ratings",
        59,
        0.05,
    )
    result.stdout.re_match_lines_random(
        [
            r"scale_ratings\(2\) +holds vacuously .*",
            r"shuffle_candidates +holds +0.*",
            r".* 3 hold \(2 vacuously\)",
            r"2 hold vacuously: readers:Chosen does not read ratings \(scale_ratings\(2\),",
            r"calls: .*",
            r".*121 more, sent or cached, to",
            r"gate: passed; 3 held \(2 vacuously\)",
        ],
    )
    # 59 users under invert_ratings and level_ratings each, and 20 under
    # swap_candidates, which is clear at the first step.
    assert record["calls"]["controls"] == 59 + 59 + 3
    said = "it does not read ratings (invert_ratings: the share of users whose answer changes is below"
    assert said in Path("junit.xml").read_text()
    assert '"vacuous": "ratings"' in Path("junit.xml").read_text()
    assert said in Path("report.html").read_text()
    assert "3 hold (2 vacuously)" in Path("report.html").read_text()
    assert "2 hold vacuously" in Path("summary.md").read_text()


@pytest.mark.slow
def test_models_of_one_run_are_told_apart_by_workers_too(run: Run) -> None:
    models = {"itemknn": NOTHING, "mostpop": RATINGS, "readers:Warm": RATINGS}
    result, record = run(
        *(f"--recsys-model={model}" for model in models),
        "-n",
        "2",
        "--recsys-users=120",
    )
    assert vacuous(record) == {
        k: v for m, e in models.items() for k, v in of(m, e).items()
    }
    result.stdout.re_match_lines_random([r".*readers:Warm does not read ratings.*"])


def test_a_declaration_is_taken_at_its_word(run: Run) -> None:
    _, record = run(
        "--recsys-model=readers:Frank",
        "--recsys-users=30",
        "--recsys-alpha=0.3",
    )
    assert vacuous(record) == of("readers:Frank", RATINGS)
    assert record["results"][0]["details"]["unread"] == {"declared": True}
    assert record["calls"]["controls"] == 3, "of swap_candidates"


def test_a_wrong_declaration_names_the_choices(run: Run) -> None:
    result, _ = run("--recsys-model=readers:Misspelt")
    result.stderr.re_match_lines_random(
        [r".*\.ignores holds 'rating'; the parts of a request are 'ratings', .*"],
    )
    assert result.ret


def test_the_suite_finds_who_ignores_ratings_silently(run: Run) -> None:
    suite = Path(__file__).parents[2] / "suites" / "metamorphic" / "test_ratings.py"
    models = ["--recsys-model=readers:Chosen", "--recsys-model=readers:Frank"]
    _, record = run(str(suite), *models, "-k", "opposite")
    rows = {row["model"]: row for row in record["results"]}
    assert rows["readers:Chosen"]["status"] == "violated"
    assert rows["readers:Frank"]["status"] == "not-applicable"
    assert "declares that it does not read ratings" in rows["readers:Frank"]["reason"]


def test_a_replay_says_what_is_recorded_and_asks_nothing(run: Run) -> None:
    model, replay = "--recsys-model=readers:Chosen", "--recsys-mode=replay"
    run(model, "-orecsys_controls=0", *SCALE)
    _, record = run(model, replay, *SCALE)
    assert vacuous(record) == {("readers:Chosen", "scale_ratings(2)"): ""}
    run(model, *SCALE)
    _, record = run(model, replay, *SCALE)
    assert vacuous(record) == {("readers:Chosen", "scale_ratings(2)"): "ratings"}
    assert record["calls"]["made"] == 0


@pytest.mark.slow
def test_a_text_model_is_asked_only_if_the_user_says_so(run: Run) -> None:
    model = "--recsys-model=readers:Parrot"
    _, record = run(model, *SCALE)
    assert vacuous(record) == {("readers:Parrot", "scale_ratings(2)"): ""}
    assert record["calls"]["controls"] == 0
    run(model, "-orecsys_controls=200", *SCALE)
    _, record = run(model, *SCALE)
    assert vacuous(record) == {("readers:Parrot", "scale_ratings(2)"): "ratings"}


@pytest.mark.slow
def test_a_limit_of_calls_leaves_no_room_for_controls(run: Run) -> None:
    model = "--recsys-model=readers:Chosen"
    _, record = run(model, "--recsys-max-calls=5000", *SCALE)
    assert {row["vacuous"] for row in record["results"]} == {""}
    _, record = run(
        model,
        "--recsys-max-calls=145",
        "-orecsys_controls=100",
        "--recsys-cache=fresh",
        *SCALE,
    )
    assert [(row["status"], row["vacuous"]) for row in record["results"]] == [
        ("holds", ""),
    ]


def test_a_plan_counts_controls_apart(run: Run) -> None:
    result, _ = run("--recsys-model=readers:Chosen", "--recsys-plan")
    text = re.sub(r"\s+", " ", result.stdout.str())
    assert "280 calls planned" in text
    assert "118 controls; " in text
    assert "at most 838 calls, " in text


def test_a_gate_may_refuse_it(run: Run) -> None:
    rule = '[gate]\nvacuous = "refuse"\n[[gate.rules]]\nrelation = "shift*"\nvacuous = "allow"\n'
    Path("recsys.toml").write_text(rule)
    result, record = run("--recsys-model=readers:Frank")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert (
        "1 kept vacuously (scale_ratings(2): it does not read"
        in record["gate"]["sentence"]
    )
    (reason,) = record["gate"]["reasons"]
    assert reason.startswith("vacuous: test_scale.py::")
    result, record = run("--recsys-model=readers:Frank", "-k", "shift")
    assert (result.ret, record["gate"]["status"]) == (pytest.ExitCode.OK, "passed")
