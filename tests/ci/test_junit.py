"""The JUnit file as GitLab, Jenkins and the reporters of GitHub Actions read it."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.plugin.conftest import TOYS, record_of
from tests.support.report import sentence

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import at_least, same_ranking
from pytest_recsys_mt.relations import add_spaces, reorder_history, scale_ratings

@metamorphic(scale_ratings(2), reorder_history, add_spaces(0.1))
def test_ranking(source, followup):
    assert same_ranking(source, followup, margin=0.2)

@metamorphic(reorder_history)
def test_two_verdicts(source, followup):
    assert same_ranking(source, followup, margin=0.2)
    assert same_ranking(source, followup, similarity="overlap", margin=0.2)

def test_hits(recsys):
    assert at_least(recsys.run(), "hit@10", 0.99)
"""
Junit = Callable[..., tuple[ElementTree.Element, dict[str, Any]]]


@pytest.fixture
def junit(pytester: pytest.Pytester) -> Junit:
    """Run a project of two models; gives the file's first suite, and the record."""
    pytester.makepyfile(toys=TOYS, **{"release/test_toys": TEST})
    pytester.syspathinsert()

    def execute(*arguments: str) -> tuple[ElementTree.Element, dict[str, Any]]:
        pytester.runpytest_inprocess(
            "-p", "no:cacheprovider", "--recsys-users=30", "--recsys-shrink=0", "--recsys-model=toys:ScaleSensitive",
            "--recsys-model=toys:Faithful", "--junitxml=junit.xml", "--recsys-json=record.json",
            *arguments,
        )  # fmt: skip
        root = ElementTree.parse(pytester.path / "junit.xml").getroot()
        suites = root.findall("testsuite")
        assert (root.tag, len(suites)) == ("testsuites", 1)
        return suites[0], record_of(pytester.path / "record.json")

    return execute


def properties(element: ElementTree.Element) -> dict[str, str]:
    """As Jenkins reads them: a map, so that a second one
    of a name would hide the first.
    """
    holders = element.findall("properties")
    assert len(holders) <= 1
    found = [
        (each.get("name", ""), each.get("value", ""))
        for holder in holders
        for each in holder
    ]
    assert len(dict(found)) == len(found), "names are unique"
    return dict(found)


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_every_consumer_finds_what_it_looks_for(junit: Junit, family: str) -> None:
    suite, record = junit("-o", f"junit_family={family}")
    cases = suite.findall("testcase")

    # GitLab tells test cases apart by class name and name, Jenkins by both inside a
    # suite.
    names = [(case.get("classname"), case.get("name")) for case in cases]
    assert len(set(names)) == len(names) == 10
    assert all(classname and name for classname, name in names)

    # All of them count the children, and the totals of the suite must agree.
    counted = {
        tag: len(suite.findall(f"testcase/{tag}"))
        for tag in ("failure", "error", "skipped")
    }
    assert {"failures": counted["failure"], "errors": counted["error"]} == {
        key: int(suite.get(key, "")) for key in ("failures", "errors")
    }
    assert (int(suite.get("tests", "")), int(suite.get("skipped", ""))) == (
        10,
        counted["skipped"],
    )
    assert all(float(case.get("time", "")) >= 0 for case in cases)

    # GitLab and the reporters of GitHub Actions show the text of a failure, and its
    # message as title.
    for failure in suite.iterfind("testcase/failure"):
        first = str(failure.get("message")).splitlines()[0]
        assert " is violated: the " in first or " is inconclusive: the " in first
        assert (failure.text or "").strip()

    # system-out is a direct child, once, and speaks first to people and then to
    # programs.
    by_node = {row["nodeid"].rpartition("::")[2]: row for row in record["results"]}
    for case in cases:
        (output,) = case.findall("system-out")
        told, facts = str(output.text).splitlines()[-2:]
        row = by_node[case.get("name", "")]
        assert told == sentence(row)
        assert json.loads(facts)["recsys-mt"]["status"] == row["status"]

    # Jenkins keeps properties of suites, and of cases where the schema of the family
    # knows them.
    assert properties(suite)["recsys_mt.gate"] == "failed"
    assert properties(suite)["recsys_mt.data_digest"] == record["data_digest"]
    for case in cases:
        found = properties(case)
        assert bool(found) == (family == "xunit1")
        if found and "two_verdicts" in case.get("name", ""):
            assert found["recsys_mt.oracle"] == "same_ranking:rbo"
            assert found["recsys_mt.oracle.2"] == "same_ranking:overlap"


def test_a_gate_that_was_asked_for_is_a_case_of_its_own(
    junit: Junit,
    pytester: pytest.Pytester,
) -> None:
    (pytester.path / "recsys.toml").write_text("")
    suite, record = junit()
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    gate = cases["gate"]
    assert gate.get("classname") == "recsys_mt"
    failure = gate.find("failure")
    assert failure is not None
    assert str(failure.text).splitlines() == record["gate"]["reasons"]
    assert int(suite.get("tests", "")) == len(cases) == 11
    assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))


@pytest.mark.slow  # plugin/test_reports compares the JUnit file of workers, too
def test_two_workers_write_the_same_file(
    junit: Junit,
    pytester: pytest.Pytester,
) -> None:
    (pytester.path / "recsys.toml").write_text("")

    def facts(*arguments: str) -> tuple[Any, ...]:
        suite, record = junit(*arguments)
        cases = {
            (case.get("classname"), case.get("name")): sorted(
                (
                    child.tag,
                    child.get("message") or "",
                    "" if child.tag == "failure" else child.text,
                )
                for child in case
            )
            for case in suite.iter("testcase")
        }
        del record["time"], record["drift"], record["calls"]["again"]
        del record["calls"]["unknown_cost"], record["calls"]["attempts"]  # of those too
        record["calls"]["by"] = [
            row for row in record["calls"]["by"] if row["purpose"] != "again"
        ]
        return cases, properties(suite), record

    assert facts() == facts("-n", "2")


def test_the_step_summary_is_markdown_that_no_text_can_break(
    junit: Junit,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = pytester.path / "summary.md"
    path.write_text("of another step\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    _, record = junit()
    text = path.read_text(encoding="utf-8")
    assert text.startswith("of another step\n## recsys-mt: gate failed\n")
    lines = text.splitlines()
    rows = [line for line in lines if line.startswith("|")]
    counts = Counter(row["status"] for row in record["results"])
    bad = [
        line for line in lines if line.startswith(("* **violated**", "* inconclusive"))
    ]
    assert len(bad) == counts["violated"] + counts["inconclusive"] > 0
    assert (
        lines.index("### What does not hold")
        < lines.index(bad[0])
        < text.index("<details>")
    )
    assert (
        sum(int(found) for found in re.findall(r": (\d+) hold</summary>", text))
        == counts["holds"]
    )
    # What holds is folded: tables inside details.
    assert all(line.count("|") == 6 for line in rows)
    folded = text.partition("### What does not hold")[2].count("\n|")
    assert folded == counts["holds"] + 2 * text.count("hold</summary>") < len(rows)
    (unfit,) = [line for line in lines if "not applicable: needs a text model" in line][
        :1
    ]
    assert "reads no text" in unfit


@pytest.mark.slow  # starts workers
def test_workers_add_nothing_of_their_own_to_the_step_summary(
    junit: Junit,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    junit("-n", "2", "-k", "hits")
    assert path.read_text(encoding="utf-8").count("## recsys-mt: gate") == 1


def test_markup_in_texts_stays_text() -> None:
    from tests.support.report import in_markdown

    assert in_markdown("a|b\n<script> [x](http://y) @team #1 `c`") == (
        "a&#124;b &lt;script> &#91;x&#93;(http://y) &#64;\u200bteam &#35;\u200b1 &#96;c&#96;"
    )


@pytest.mark.parametrize("prefix", ["", "nightly."])
def test_suites_have_one_name_wherever_they_are_installed(prefix: str) -> None:
    from tests.support.report import _name_ours

    place = "venv/lib/python3.11/site-packages/"
    for where in (f".{place}", f"../../{place}", ""):
        path = f"{where}pytest_recsys_mt/suites/arena/test_judge.py"
        name = f"{prefix}{path.removesuffix('.py').replace('/', '.')}"
        case = ElementTree.Element("testcase", classname=name, file=path)
        skipped = ElementTree.SubElement(case, "skipped")
        skipped.text = f"/home/me/{path}:11: needs a judge"
        _name_ours(case, prefix)
        assert case.attrib == {
            "classname": f"{prefix}pytest_recsys_mt.suites.arena.test_judge",
            "file": "pytest_recsys_mt/suites/arena/test_judge.py",
        }
        assert (
            skipped.text
            == "pytest_recsys_mt/suites/arena/test_judge.py:11: needs a judge"
        )
    own = ElementTree.Element(
        "testcase",
        classname="tests.test_mine",
        file="tests/test_mine.py",
    )
    _name_ours(own, prefix)
    assert own.attrib == {"classname": "tests.test_mine", "file": "tests/test_mine.py"}
