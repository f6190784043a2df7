"""What pytest-html, Allure and pytest-json-report show
of a verdict, in their real versions.
"""

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.ci.test_junit import TEST
from tests.plugin.conftest import TOYS

PACKAGES = ("pytest-html", "allure-pytest", "pytest-json-report")
ARGUMENTS = (
    "-p",
    "no:cacheprovider",
    "--recsys-users=30",
    "--recsys-model=toys:ScaleSensitive",
)
HOLDS = "reorder_history holds: the loss of agreement beyond noise is 0.000 ("
VIOLATED = "scale_ratings(2) is violated: the loss of agreement beyond noise is 1.000 ("


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(toys=TOYS, test_toys=TEST)
    pytester.syspathinsert()
    return pytester


def test_a_passed_test_has_its_verdicts_as_sections_and_a_failed_one_has_them_once(
    project: pytest.Pytester,
) -> None:
    shown = project.runpytest_inprocess(*ARGUMENTS, "-rP").stdout.str()
    assert shown.count("--- recsys-mt: reorder_history ---") == 3
    assert f"\n{HOLDS}" in shown
    assert shown.count("--- recsys-mt: scale_ratings(2) ---") == 1


@pytest.fixture(scope="module")
def reporters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the reporters, which nothing but these tests loads."""
    folder = tmp_path_factory.mktemp("reporters")
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--target",
        str(folder),
        "--no-deps",
    ]
    needs = ["allure-python-commons", "pytest-metadata"]
    done = subprocess.run(
        [*command, *PACKAGES, *needs],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.skip(
            f"pip cannot install {', '.join(PACKAGES)}: {done.stderr.strip()[-300:]}",
        )
    return folder


def run(project: pytest.Pytester, reporters: Path, *arguments: str) -> None:
    path = os.pathsep.join(
        [str(reporters), str(project.path), os.environ.get("PYTHONPATH", "")],
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *ARGUMENTS, *arguments],
        cwd=project.path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "workers",
    [(), ("-n", "2")],
    ids=["one process", "two workers"],
)
def test_each_reporter_shows_the_verdict(
    workers: tuple[str, ...],
    project: pytest.Pytester,
    reporters: Path,
) -> None:
    run(
        project, reporters, *workers, "--html=page.html", "--alluredir=allure", "--json-report",
        "--json-report-file=report.json",
    )  # fmt: skip

    # pytest-html: the log below each test.
    page = (project.path / "page.html").read_text(encoding="utf-8")
    found = re.search(r'data-jsonblob="(.*?)"', page, re.DOTALL)
    assert found is not None
    logs = {
        name.partition("[")[2]: html.unescape(tests[-1]["log"])
        for name, tests in json.loads(html.unescape(found[1]))["tests"].items()
    }
    assert HOLDS in logs["toys-ScaleSensitive-reorder_history]"]
    assert VIOLATED in " ".join(logs["toys-ScaleSensitive-scale_ratings-2]"].split())

    # pytest-json-report: the metadata of each test.
    report = json.loads((project.path / "report.json").read_text(encoding="utf-8"))
    kept = {test["nodeid"].partition("::")[2]: test for test in report["tests"]}
    (bad,) = kept["test_ranking[toys-ScaleSensitive-scale_ratings-2]"]["metadata"][
        "recsys_mt"
    ]
    assert facts_are_violated(bad)
    two = kept["test_two_verdicts[toys-ScaleSensitive-reorder_history]"]["metadata"][
        "recsys_mt"
    ]
    assert [each["oracle"] for each in two] == [
        "same_ranking:rbo",
        "same_ranking:overlap",
    ]

    # Allure: an attachment of each test.
    attached = {}
    for path in (project.path / "allure").glob("*-result.json"):
        result = json.loads(path.read_text(encoding="utf-8"))
        own = [
            each
            for each in result.get("attachments", ())
            if each["name"] == "recsys-mt"
        ]
        if own:
            (source,) = own
            text = (path.parent / source["source"]).read_text(encoding="utf-8")
            attached[result["name"]] = json.loads(text)
    assert facts_are_violated(
        attached["test_ranking[toys-ScaleSensitive-scale_ratings-2]"][0],
    )
    assert (
        attached["test_ranking[toys-ScaleSensitive-reorder_history]"][0]["status"]
        == "holds"
    )


def facts_are_violated(facts: dict[str, Any]) -> bool:
    """Whether a reporter has what a reader needs: what
    was judged, how, and how sure it is.
    """
    return bool(
        facts["sentence"].startswith(VIOLATED)
        and (facts["relation"], facts["status"]) == ("scale_ratings(2)", "violated")
        and facts["estimate"] == facts["interval"][1] == 1
        and facts["p_value"] < 0.001,
    )
