"""Who follows one test through the code opens few files."""

import os
import subprocess
import sys
from pathlib import Path

MOST = 60
"""Files of ours whose functions the call of one metamorphic test enters."""

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import shift_ratings

@metamorphic(shift_ratings(1))
def test_shift(source, followup):
    assert same_ranking(source, followup)
"""
COUNTER = """
import sys
import threading
from pathlib import Path

import pytest

import pytest_recsys_mt

PLACES = {str(each.resolve()) for each in Path(pytest_recsys_mt.__file__).parent.iterdir()}
entered = set()


def count(frame, event, argument):
    if event == "call" and frame.f_code.co_name != "<module>":
        entered.add(frame.f_code.co_filename)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    sys.setprofile(count)
    threading.setprofile(count)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def pytest_unconfigure():
    files = {str(Path(name).resolve()) for name in entered}
    for name in sorted(files):
        if any(name.startswith(place) for place in PLACES):
            print("entered", name)
"""


def test_the_call_of_a_test_enters_few_files(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(TEST)
    (tmp_path / "counter.py").write_text(COUNTER)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    own = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path[1:]])}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "counter"),
            *("-p", "no:cacheprovider", "--recsys-model=itemknn"),
            f"--recsys-cache={tmp_path / 'answers'}",
        ],
        cwd=tmp_path,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=True,
    )
    files = [line for line in done.stdout.splitlines() if line.startswith("entered ")]
    assert len(files) > MOST // 2, done.stdout
    assert len(files) <= MOST, "\n".join(files)
