"""`recsys-mt comment` keeps one comment on a pull request
up to date, and says where it cannot.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.ci.github import TOKEN, GitHub
from tests.report.records import document, holds, row
from tests.support.cli import main

MORE: dict[str, Any] = {"against": "", "attempts": 1, "reproduce": ""}
MARK = "<!-- recsys-mt run -->\n"


def write(path: Path, *rows: dict[str, Any], status: str = "passed") -> Path:
    made = document(*rows, readings={})
    made["gate"] |= {
        "status": status,
        "sentence": f"gate: {status}",
        "comparisons": [],
        "reasons": [],
    }
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return write(tmp_path / "record.json", holds(0, **MORE))


@pytest.fixture(autouse=True)
def _job(github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**github.variables(tmp_path), "GITHUB_TOKEN": TOKEN}.items():
        monkeypatch.setenv(name, value)


def test_the_second_run_changes_the_comment_of_the_first(
    github: GitHub,
    record: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for number in range(150):
        github.add(f"comment {number}")
    assert main(["comment", str(record)]) == 0
    assert main(["comment", str(write(record, row(1, **MORE), status="failed"))]) == 0
    (comment,) = github.comments[150:]
    assert comment["body"].startswith(f"{MARK}## recsys-mt: gate failed\n")
    assert "**violated** shuffle(1) is violated" in comment["body"]
    page = "https://github.com/shop/ranker/actions/runs/55"
    assert f"Commit 0123456789ab, [the whole run]({page})" in comment["body"]
    url = comment["html_url"]
    assert capsys.readouterr().out == (
        f"recsys-mt: wrote the comment {url}\nrecsys-mt: changed the comment {url}\n"
    )


def test_runs_of_two_names_have_a_comment_each(github: GitHub, record: Path) -> None:
    for name in ("4a", "b_", "4a"):
        assert main(["comment", str(record), f"--name={name}"]) == 0
    marks = [comment["body"].splitlines()[0] for comment in github.comments]
    assert marks == ["<!-- recsys-mt 4a -->", "<!-- recsys-mt b_ -->"]


def test_a_mark_that_somebody_planted_in_a_comment_of_theirs_is_not_ours(
    github: GitHub,
    record: Path,
) -> None:
    planted = github.add(f"{MARK}the gate passed, believe me")
    github.add(f"A bot quotes it: {MARK}", "Bot")
    assert main(["comment", str(record)]) == 0
    assert planted["body"] == f"{MARK}the gate passed, believe me"
    assert len(github.comments) == 3


@pytest.mark.parametrize(
    "case",
    ["a fork", "no token", "a wrong token", "GitHub is down", "nobody"],
)
def test_where_no_comment_can_be_written_a_line_says_why(
    case: str, github: GitHub, record: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    if case == "a fork":
        github.writable = False
    elif case == "GitHub is down":
        github.status = 503
    elif case == "nobody":
        monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    else:
        monkeypatch.setenv("GITHUB_TOKEN", "" if case == "no token" else "ghs_other")
    assert main(["comment", str(record)]) == 0
    (said,) = capsys.readouterr().out.splitlines()
    assert said.startswith("recsys-mt: no comment on the pull request: ")
    if case == "GitHub is down":
        assert said.endswith(
            "/issues/7/comments?per_page=100&page=1 was answered with HTTP 503",
        )
    elif case == "nobody":
        assert said.endswith("was not answered: ConnectError")
    else:
        assert (
            "On a pull request from a fork no job's token may; else give the job the permission"
            in said
        )
        assert {"a fork": "HTTP 403", "no token": "GITHUB_TOKEN is empty", "a wrong token": "HTTP 401"}[case] in said  # fmt: skip
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == f"\n{said}.\n"
    assert github.comments == []
    assert "ghs_" not in said


def test_a_job_for_no_pull_request_writes_none(
    github: GitHub, record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    github.variables(tmp_path, {"ref": "refs/heads/main"})
    assert main(["comment", str(record)]) == 0
    monkeypatch.delenv("GITHUB_EVENT_PATH")
    assert main(["comment", str(record)]) == 0
    said = "recsys-mt: no comment, as this job belongs to no pull request\n"
    assert capsys.readouterr().out == said * 2
    assert github.comments == []


def test_a_run_without_a_record_does_not_leave_the_verdict_of_the_last_one(
    github: GitHub,
    record: Path,
) -> None:
    assert main(["comment", str(record)]) == 0
    record.unlink()
    assert main(["comment", str(record)]) == 0
    (comment,) = github.comments
    assert "gate passed" not in comment["body"]
    assert (
        "## recsys-mt: no result\n\nThe run ended before it wrote a record"
        in comment["body"]
    )


@pytest.mark.parametrize("text", ["no", "{}", '{"schema": "recsys-mt/9"}'])
def test_a_file_that_is_no_record_is_an_error(
    github: GitHub,
    record: Path,
    text: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    record.write_text(text, encoding="utf-8")
    assert main(["comment", str(record)]) == 2
    assert str(record) in capsys.readouterr().err
    assert github.comments == []


def test_a_long_run_fits_and_its_elements_are_closed(
    github: GitHub,
    record: Path,
) -> None:
    rows = [
        holds(number, **{**MORE, "suite": f"suite {number} {'x' * 2000}"})
        for number in range(80)
    ]
    assert main(["comment", str(write(record, *rows))]) == 0
    (comment,) = github.comments
    body = comment["body"]
    assert 50_000 < len(body) <= 65_536
    assert body.count("<details>") == body.count("</details>") > 10
    assert "(The summary of the run has the rest.)" in body


def test_no_text_of_a_run_names_a_person_or_an_issue(
    github: GitHub,
    record: Path,
) -> None:
    bad = row(1, **{**MORE, "reason": "@octocat and #12 of hit@10"})
    assert main(["comment", str(write(record, bad))]) == 0
    (comment,) = github.comments
    assert "octocat" in comment["body"]
    assert "&#64;octocat" not in comment["body"]
    assert "&#35;12" not in comment["body"]


@pytest.mark.parametrize("name", ["a b", "--x", "-->", ""])
def test_a_name_that_could_end_the_mark_is_refused(
    name: str,
    record: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["comment", str(record), f"--name={name}"])
    assert "is not a word of letters, digits and _" in capsys.readouterr().err
