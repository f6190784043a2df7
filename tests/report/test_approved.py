"""Whole reports as they are read, compared with approved ones.

The approved reports are in `approved/`. A change of their wording is made there,
and reviewed as a diff: `pytest tests/report/test_approved.py --force-regen` writes them.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_regressions.file_regression import FileRegressionFixture

from tests.gate.conftest import TOYS
from tests.journeys.pages import FOREIGN
from tests.report.test_page import Page

TESTS = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import complete_list, same_ranking
from pytest_recsys_mt.relations import scale_ratings, shuffle_candidates

@metamorphic(scale_ratings(2), shuffle_candidates)
def test_ranking(source, followup):
    assert same_ranking(source, followup, margin=0.05)

def test_lists(recsys):
    assert complete_list(recsys.run())
"""
APPROVED = Path(__file__).parent / "approved"
RUN = (
    *("-m", "pytest", "-p", "no:cacheprovider"),
    *("--recsys-model=toys.py:Toy", "--recsys-users=80", "--recsys-keep=baseline"),
    *("--recsys-json=run.json", "--recsys-html=run.html", "--junit-xml=junit.xml"),
)
CHANGING = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?"), "DATE"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "DAY"),
    # The line is as wide as the terminal, whatever the seconds.
    (re.compile(r"(?m)^=+ (.*) in \d+\.\d\ds( .*)? =+$"), r"=== \1 in SECONDS ==="),
    (re.compile(r'time="[\d.]+"'), 'time="SECONDS"'),
    (re.compile(r'hostname="[^"]+"'), 'hostname="HOST"'),
    (re.compile(r"\b\d+(\.\d+)? s\b"), "SECONDS"),
    # The end of a comparison, whose columns are as wide as the seconds.
    (re.compile(r"(?s)\n(## )?What they took\n.*"), "\n"),
    (re.compile(r"(?<![.\d])\b(?=\w*[a-f])[0-9a-f]{12,64}\b"), "DIGEST"),
    (
        re.compile(r"(?m)^(platform|plugins|rootdir|configfile): ?.*$|^platform .*$"),
        r"",
    ),
)
"""What differs from run to run or from machine to machine."""


def test_reports_are_the_approved_ones(
    tmp_path: Path,
    file_regression: FileRegressionFixture,
    subtests: pytest.Subtests,
) -> None:
    folder = tmp_path / "shop"
    for name, report in reports(folder).items():
        with subtests.test(name):
            file_regression.check(
                stable(report.replace(str(folder), "FOLDER")),
                fullpath=APPROVED / name,
                extension="",
            )


def reports(folder: Path) -> dict[str, str]:
    """The reports of two kept runs, of a sound recommender and of one that breaks a
    promise, by their names.
    """
    folder.mkdir()
    (folder / "toys.py").write_text(TOYS)
    (folder / "test_toys.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    output(folder, *RUN, SHARE="0")
    summary = folder / "summary.md"
    terminal = output(folder, *RUN, SHARE="0.6", GITHUB_STEP_SUMMARY=str(summary))
    page = Page((folder / "run.html").read_text())
    texts = [" ".join(text.split()) for text in page.texts]
    shown = "\n".join(text for text in texts if text)
    found = {
        "terminal.txt": terminal,
        "junit.xml": (folder / "junit.xml").read_text().replace("><", ">\n<"),
        # What follows shows the requests in full, versions, settings and the machine.
        "page.txt": shown.partition("\nTranscript")[0],
        "summary.md": summary.read_text(),
        "comparison.txt": recsys_mt(folder, "compare", "1", "2"),
        "monitor.txt": recsys_mt(folder, "monitor"),
        "runs.txt": recsys_mt(folder, "runs"),
    }
    recsys_mt(folder, "compare", "1", "2", "-o", "comparison.md")
    found["comparison.md"] = (folder / "comparison.md").read_text()
    return found


def stable(report: str) -> str:
    """A report without what changes from run to run."""
    for pattern, name in CHANGING:
        report = pattern.sub(name, report)
    lines = [line.rstrip() for line in report.splitlines()]
    return "\n".join(lines).strip() + "\n"


def output(folder: Path, *arguments: str, **environment: str) -> str:
    """What a command prints in a terminal of 80 columns."""
    own = {
        name: value
        for name, value in os.environ.items()
        if name == "PYTHONPATH" or not FOREIGN.fullmatch(name)
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**own, "COLUMNS": "80", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def recsys_mt(folder: Path, *arguments: str) -> str:
    """What a command of ours prints."""
    started = "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())"
    return output(folder, "-c", started, *arguments)
