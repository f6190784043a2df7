"""``recsys-mt compare``: what became worse between two
runs, or two models of one, and on whom.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gate.conftest import TOYS
from tests.support.cli import main
from tests.support.report import PullRequest, text_of

TESTS = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings, shuffle_candidates

@metamorphic(scale_ratings(2), shuffle_candidates)
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.05)
"""
RUN = ("-p", "no:cacheprovider", "--recsys-users=80", "--recsys-shrink=0", "--recsys-keep=baseline")  # fmt: skip


@pytest.fixture
def run(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., None]:
    pytester.makepyfile(toys=TOYS, test_it=TESTS)
    (pytester.path / "pytest.ini").write_text("[pytest]\n")

    def run(share: float, *arguments: str) -> None:
        monkeypatch.setenv("SHARE", str(share))
        model = (
            ()
            if any("--recsys-model" in each for each in arguments)
            else ("--recsys-model=toys.py:Toy",)
        )
        pytester.runpytest_inprocess(*RUN, *model, *arguments)

    return run


@pytest.fixture
def compare(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def compare(*arguments: str) -> tuple[int, str]:
        capsys.readouterr()
        status = main(["compare", *arguments])
        return status, "".join(capsys.readouterr())

    return compare


def test_it_says_what_became_worse_and_on_whom(
    run: Callable[..., None],
    compare: Callable[..., tuple[int, str]],
    pytester: pytest.Pytester,
) -> None:
    run(0)
    run(0.6, "--recsys-slices=activity")
    run(0.6, "--recsys-slices=activity")
    status, text = compare("1", "2")
    lines = text.splitlines()
    assert status == 1
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].startswith("run 1 (toys.py:Toy, ")
    (worse,) = (line.split() for line in lines if line.startswith("scale_ratings(2)"))
    assert worse[1:3] == ["REGRESSED", "0.000"]
    assert worse[3] == worse[4]  # from 0 to as much worse
    (same,) = (line.split() for line in lines if line.startswith("shuffle_candidates"))
    assert same[1:5] == ["unchanged", "0.000", "0.000", "0.000"]
    assert "1 regressed, 1 unchanged" in text
    users = [line for line in lines if line.startswith("  user ")]
    assert len(users) == 5
    assert all("scale_ratings(2): 0.000 then, " in line for line in users)
    other, alike = (text.count(f"    then{each}, to the ") for each in ("", " and now"))
    assert other + alike == 5
    assert text.count("    now, to the ") == other > 0
    assert "scale_ratings(2): holds then, violated now" in text
    # Groups need those of both runs.
    assert "--recsys-slices=activity,genre" in text
    status, text = compare("2", "3")
    assert status == 0
    assert "--recsys-slices" not in text
    # Without names: the latest, and the one before of the same model and data.
    assert compare()[1].splitlines()[0] == text.splitlines()[0]
    run(0, "--recsys-slices=activity")
    status, text = compare("4", "2")
    assert status == 1
    groups = (
        text.partition("On whom")[2].partition("The users whose")[0].splitlines()[3:]
    )
    assert next(line.split()[1:4] for line in groups if line) == [
        "users",
        "of",
        "activity",
    ]


def test_names_of_files_models_days_and_what_is_accepted(
    run: Callable[..., None],
    compare: Callable[..., tuple[int, str]],
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(0, "--recsys-json=one.json")
    run(0, "--recsys-model=toys.py:Worse", "--recsys-keep=yes")
    assert main(["runs", "accept", "1"]) == 0
    day = json.loads((pytester.path / "one.json").read_text())["time"]["started"][:10]
    _, text = compare("one.json", "2")
    said = text.partition("\n")[2]
    assert "toys.py:Worse against toys.py:Toy of one.json" in said
    for names in (("accepted", "toys.py:Worse"), ("1", day), ("toys.py:Toy", "2")):
        assert compare(*names)[1].partition("\nWhat they took")[0].partition("\n")[
            2
        ] == (said.partition("\nWhat they took")[0].replace("one.json", "run 1"))
    other = json.loads((pytester.path / "one.json").read_text())
    for row in other["results"]:
        row["oracle"] = "another"
    for nothing in (other, {**other, "models": []}):
        (pytester.path / "other.json").write_text(json.dumps(nothing))
        code, text = compare("one.json", "other.json")
        assert (code, "nothing is compared" in " ".join(text.split())) == (2, True)
    with pytest.raises(SystemExit):
        compare("9", "1")
    assert "there is no run 9; those from 1 to 2" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        compare("9" * 5000, "1")
    assert "...9" in (error := capsys.readouterr().err)
    assert len(error) < 500
    with pytest.raises(SystemExit):
        compare("nobody", "1")
    assert (
        "there is no file 'nobody', and no kept run of such" in capsys.readouterr().err
    )
    status, text = compare("2")
    assert (status, "no other kept run has the same models, data and seed" in text) == (
        2,
        True,
    )


def test_the_models_of_one_run(
    run: Callable[..., None],
    compare: Callable[..., tuple[int, str]],
) -> None:
    run(
        0.5,
        "--recsys-model=toys.py:Toy",
        "--recsys-model=toys.py:Worse",
        "--recsys-model=itemknn",
    )
    _, text = compare("1")
    assert "toys.py:Worse against toys.py:Toy of the same run" in text
    assert "itemknn against toys.py:Toy of the same run" in text
    assert "both" in text.partition("What they took")[2]
    run(
        0.5,
        "--recsys-model=toys.py:Toy",
        "--recsys-model=toys.py:Worse",
        "--recsys-model=itemknn",
    )
    assert compare("1", "1")[1].partition("\n")[2] == text.partition("\n")[2]
    assert compare("1")[1].startswith("run 1 (toys.py:Toy, toys.py:Worse, itemknn,")
    assert "itemknn against itemknn of run 1" in compare("1")[1]


def test_what_cannot_be_compared_says_why_and_other_tests_are_counted(
    run: Callable[..., None],
    compare: Callable[..., tuple[int, str]],
) -> None:
    run(0)
    run(0, "--recsys-seed=1")
    run(0, "-k", "scale")
    status, text = compare("1", "2")
    assert status == 2
    assert "cannot be compared: other seed: 0 in the baseline, 1 in this run" in text
    status, text = compare("1", "3")
    assert status == 0
    assert "tests of one run alone: 1 then, 0 now" in text
    assert "shuffle_candidates" not in text
    run(0, "-k", "shuffle")
    status, text = compare("3", "4")
    assert status == 2
    assert "no test is in both runs: 1 then, 1 now" in text


def test_as_markdown_and_as_a_page(
    run: Callable[..., None],
    compare: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    run(0)
    run(0.6)
    assert compare("-o", "c.md") == (1, "comparison written to c.md\n")
    text = Path("c.md").read_text()
    assert (
        "| promise | change | then | now | worse by &#91;bounds&#93; | margin | users |"
        in text
    )
    assert (
        "| scale&#95;ratings(2) | REGRESSED |" in text
        or "| scale_ratings(2) | REGRESSED |" in text
    )
    assert compare("1", "2", "-o", "c.html")[0] == 1
    page = Path("c.html").read_text()
    assert '<span class="badge change-regressed">' in page
    assert "scale_ratings(2)" in page
    status, text = compare("1", "2", "-o", "c.pdf")
    assert (status, "no known ending" in text) == (2, True)


def test_the_comment_on_a_pull_request_says_what_became_worse(
    run: Callable[..., None],
) -> None:
    run(0, "--recsys-json=old.json")
    run(0.6, "--recsys-json=new.json")
    job = PullRequest("", 1, "", "end")
    told = text_of(Path("new.json"), "mark", job, "1")
    assert "\n## What changed: run 1 (toys.py:Toy" in told
    assert "\n| scale&#95;ratings(2) | REGRESSED | 0.000 |" in told.replace(
        "scale_",
        "scale&#95;",
    )
    assert told.count("scale_ratings(2): 0.000 then") == 5
    assert text_of(Path("new.json"), "mark", job, "old.json") == told.replace(
        "run 1",
        "old.json",
    )
    unknown = text_of(Path("new.json"), "mark", job, "nobody")
    assert "What changed is not known: there is no file 'nobody'" in unknown
    assert unknown.endswith("end\n")


def test_a_run_that_did_not_end_is_worse_than_one_that_did(
    run: Callable[..., None],
    compare: Callable[..., tuple[int, str]],
) -> None:
    run(0)
    run(0, "--recsys-max-calls=1")
    status, text = compare("1", "2")
    assert status == 1
    assert "the later run is partial: 2 verdicts lack users" in " ".join(text.split())
    status, text = compare("2", "1")
    assert (status, "no test was judged in both runs" in " ".join(text.split())) == (
        2,
        True,
    )


def test_three_records_are_too_many(compare: Callable[..., tuple[int, str]]) -> None:
    with pytest.raises(SystemExit):
        compare("a.json", "b.json", "c.json")


@pytest.mark.parametrize("name", ["results", "calls", "time", "settings"])
def test_a_damaged_record_is_an_error(
    run: Callable[..., None],
    compare: Callable[..., tuple[int, str]],
    name: str,
    pytester: pytest.Pytester,
) -> None:
    run(0, "--recsys-json=one.json")
    document = json.loads((pytester.path / "one.json").read_text())
    (pytester.path / "two.json").write_text(json.dumps({**document, name: [{}]}))
    for names in (("one.json", "two.json"), ("two.json", "one.json")):
        status, text = compare(*names)
        assert status == 2
        assert "recsys-mt: " in text
