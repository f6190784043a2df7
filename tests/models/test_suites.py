"""The metamorphic suite on a real small language model, in this process and behind a
real server.

Nothing is said about the model's verdicts, which are its own; all about what is asked
and reported.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.models import servers
from tests.plugin.conftest import record_of

pytestmark = [pytest.mark.model, pytest.mark.slow]

SUITE = Path(__file__).resolve().parents[2] / "suites" / "metamorphic"
USERS, REPLICATES = 3, 2
SETTINGS = (
    f"--recsys-users={USERS}", "--recsys-history=5", "--recsys-candidates=8", "--recsys-k=5",
    "-p", "no:cacheprovider", "-o", "recsys_missed_limit=0.5",
)  # fmt: skip
ANSWERS = {"no_repeats", "only_candidates", "complete_list"}
MADE = USERS * REPLICATES
"""Calls of one side of a relation."""

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Run relations of the suite in a pytest of its own; gives the record."""

    def execute(spec: str, relations: str, *more: str) -> dict[str, Any]:
        path = pytester.path / "record.json"
        pytester.runpytest_subprocess(
            *(SUITE / f"test_{name}.py" for name in ("answers", "candidates", "prompt", "ratings")),
            "-k", relations, f"--recsys-model={spec}", f"--recsys-json={path}", *SETTINGS,
            f"--recsys-cache={pytester.path / 'answers'}", *more,
        )  # fmt: skip
        return record_of(path)

    return execute


def assert_real(record: dict[str, Any], relations: set[str], sides: int) -> None:
    """The first run asked what theory says, and every row can be judged by its reader."""
    calls = record["calls"]
    assert calls["planned"] == calls["made"] == MADE * sides
    assert calls["failed"] == 0
    # Prompts hold 13 titles and the task, answers at most 60 tokens.
    sent = calls["made"] + calls["again"]
    assert 150 < calls["prompt_tokens"] / sent < 600
    assert 5 < calls["completion_tokens"] / sent <= 60
    rows = {row["relation"] or row["oracle"]: row for row in record["results"]}
    assert rows.keys() == relations
    for row in rows.values():
        # So few users cannot show some limits.
        assert row["status"] in ("holds", "violated", "inconclusive", "not-applicable")
        # This model repeats the candidates of one user, which is no list of its own and
        # is left unread.
        assert USERS - 1 <= row["users"] <= USERS
        assert len(row["examples"]) <= USERS
    shown = [
        title
        for row in rows.values()
        for one in row["examples"]
        for title in one["source"]
    ]
    assert any(title.endswith(")") for title in shown)  # "Heat (1995)"
    assert not [title for title in shown if title.startswith("unknown:")]


def assert_repeated(again: dict[str, Any], first: dict[str, Any]) -> None:
    """A later run made no call and says the same."""
    assert again["calls"]["made"] == again["calls"]["failed"] == 0
    assert again["calls"]["cached"] == first["calls"]["made"]
    assert again["results"] == first["results"]


def test_in_this_process(
    run: Run,
    smollm_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(
        "OMP_NUM_THREADS",
        "1",
    )  # more wait for each other on a busy machine
    spec = f"hf:{smollm_folder}?temperature=0&max_tokens=60&device=cpu"
    relations = "random_words or test_answers and not seed"
    first = run(spec, relations)
    assert_real(first, {"random_words(rate=0.19)", *ANSWERS}, sides=2)
    assert_repeated(run(spec, relations), first)


def test_behind_a_server_on_two_workers(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = "openai:smollm2?temperature=0&max_tokens=60&concurrency=2"
    relations = "paraphrase_task or test_answers and not seed"
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    with servers.llamacpp_server() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        first = run(spec, relations, "-n", "2")
    assert_real(first, {"paraphrase_task", *ANSWERS}, sides=2)
    # Now nobody answers at that address any more.
    assert_repeated(run(spec, relations), first)
    assert_repeated(run(spec, relations, "--recsys-mode=replay", "-n", "2"), first)
