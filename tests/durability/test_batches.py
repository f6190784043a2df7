"""The Batch API: calls go out as files, answers come in as
files, verdicts are those of a live run.
"""

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.requests import Request, Scale
from tests.durability.project import CALLS, Counting, Project, question
from tests.support.calls import Call, RecommenderSubject, batch_files, write_batch
from tests.support.cli import main
from tests.support.recommenders import resolve

Line = dict[str, Any]


def lines_of(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def process(batch: Path, url: str, output: Path) -> list[Line]:
    """Do what the Batch API does: put each request to the
    endpoint, and note what it says.
    """
    done = []
    for line in lines_of(batch):
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        asked = urllib.request.Request(
            url + line["url"].removeprefix("/v1"),
            json.dumps(line["body"]).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(asked) as response:
            body = json.load(response)
        answered = {"status_code": 200, "request_id": "r", "body": body}
        done.append(
            {
                "id": "b",
                "custom_id": line["custom_id"],
                "response": answered,
                "error": None,
            },
        )
    output.write_text("\n".join(map(json.dumps, reversed(done))))
    return done


def test_a_batch_gives_the_verdicts_of_a_live_run(
    project: Project,
    counting: Counting,
    tmp_path: Path,
    pytester: pytest.Pytester,
) -> None:
    batch, output = tmp_path / "batch.jsonl", tmp_path / "output.jsonl"
    code, printed = project.run_here(
        pytester,
        "--recsys-plan",
        f"-orecsys_batch={batch}",
    )
    assert code == 0, printed
    assert not counting.asked
    assert f"{CALLS} calls written to {batch}" in printed
    process(batch, counting.server.url, output)
    arguments = ["batch", "import", str(output), "--batch", str(batch)]
    assert main([*arguments, "--cache", str(project.cache)]) == 0
    by_batch = {question(line["body"]) for line in lines_of(batch)}
    counting.asked.clear()
    project.run_here(pytester, "--recsys-mode=replay")
    replayed = project.found()
    assert replayed["calls"]["cached"] == CALLS
    assert not counting.asked
    live = Project(tmp_path / "live" / project.folder.name, counting.server.url)
    live.run_here(pytester)
    assert live.found()["results"] == replayed["results"]
    assert set(counting.asked) == by_batch, "a batch asks what a live run asks"


def test_a_batch_needs_a_plan(project: Project, pytester: pytest.Pytester) -> None:
    code, printed = project.run_here(pytester, "-orecsys_batch=b.jsonl")
    assert code == 4
    assert "add --recsys-plan" in printed


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[tuple[Any, Call]]]:
    """Three calls to each of two models."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    from pytest_recsys_mt.datasets import load
    from tests.support.calls import subject

    found: dict[str, list[tuple[Any, Call]]] = {}
    for name in ("openai:one?max_tokens=9", "openai:two"):
        wrapped = subject(resolve(name), name, "person")
        wrapped.fit(load("mini"), 0)
        requests = [
            Request("u", (), Scale(), None, 3, replicate=number) for number in range(3)
        ]
        found[name] = [
            (wrapped, wrapped.call(request, repeat=False)) for request in requests
        ]
    return found


def test_a_file_holds_one_model_and_no_more_than_the_api_takes(
    planned: dict[str, list[tuple[Any, Call]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batch_files, "MOST_REQUESTS", 2)
    files = write_batch(tmp_path / "b.jsonl", planned)
    assert [path.name for path in files] == [
        "b.jsonl",
        "b-2.jsonl",
        "b-3.jsonl",
        "b-4.jsonl",
    ]
    bodies = [[line["body"] for line in lines_of(path)] for path in files]
    assert [[body["model"] for body in part] for part in bodies] == [
        ["one"] * 2, ["one"], ["two"] * 2, ["two"],
    ]  # fmt: skip
    assert bodies[0][0]["max_tokens"] == 9
    assert len(lines_of(tmp_path / "b.calls.jsonl")) == 6
    monkeypatch.setattr(batch_files, "MOST_BYTES", 10)
    assert len(write_batch(tmp_path / "c.jsonl", planned)) == 6


FAULTS: dict[str, tuple[Callable[[Line], Any], str]] = {
    "failed": (lambda line: {**line, "response": None, "error": {"message": "expired"}}, "expired"),
    "400": (
        lambda line: {
            **line, "response": {"status_code": 400, "body": {"error": {"message": "no\x1b[31m seed"}}},
        },
        "HTTP 400: no seed",
    ),
    "empty": (lambda line: {**line, "response": {"status_code": 200, "body": {}}}, "no choices"),
    "blank": (
        lambda line: {
            **line,
            "response": {
                "status_code": 200,
                "body": {"choices": [{"message": {"role": "assistant", "content": " \n"}}]},
            },
        },
        "wrote nothing",
    ),
    "stranger": (lambda line: {**line, "custom_id": "0" * 64}, "of no call of this batch"),
    "number": (lambda line: 5, "custom_id None is of no call"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failed_line_is_reported_and_never_cached(
    planned: dict[str, list[tuple[Any, Call]]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    fault: str,
) -> None:
    batch, output, cache = (
        tmp_path / name for name in ("b.jsonl", "out.jsonl", "cache")
    )
    write_batch(batch, planned)
    body = {"choices": [{"message": {"role": "assistant", "content": "1. Heat"}}]}
    done: list[Any] = [
        {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}}
        for line in lines_of(batch)
    ]
    change, reason = FAULTS[fault]
    done[1] = change(done[1])
    output.write_text("\n".join(map(json.dumps, done)))
    arguments = [
        "batch",
        "import",
        str(output),
        "--batch",
        str(batch),
        "--cache",
        str(cache),
    ]
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert f"{output}:2: " in printed.err
    assert reason in printed.err
    assert "\x1b" not in printed.err
    assert "2 answers added" in printed.out


def test_altered_calls_are_refused(
    planned: dict[str, list[tuple[Any, Call]]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    batch = tmp_path / "b.jsonl"
    write_batch(batch, planned)
    calls = tmp_path / "b.calls.jsonl"
    calls.write_text(calls.read_text().replace('"one"', '"uno"'))
    arguments = [
        "batch",
        "import",
        str(batch),
        "--batch",
        str(batch),
        "--cache",
        str(tmp_path),
    ]
    assert main(arguments) == 2
    assert "b.calls.jsonl:1: this call was altered" in capsys.readouterr().err


def test_what_has_no_chat_completions_has_no_batch(tmp_path: Path) -> None:
    recommender = RecommenderSubject(resolve("mostpop"), "mostpop")  # type: ignore[arg-type]
    call = recommender.call(Request("u", (), Scale(), None, 3), repeat=False)
    with pytest.raises(
        RecommenderError,
        match="mostpop is not asked by Chat Completions",
    ):
        write_batch(tmp_path / "b.jsonl", {"mostpop": [(recommender, call)]})
    assert not list(tmp_path.iterdir())
