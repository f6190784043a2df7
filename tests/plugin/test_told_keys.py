"""Keys that leave a run by ways which are no report of a
test: its log, its warnings, errors of hooks.
"""

import pytest

KEY = "9fK2/4bTz+81Qm7x3LwR"
LOGS = """
import logging
import os

def test_it(recsys):
    logging.getLogger("shop").error("sent %s, and café", os.environ["SHOP_TOKEN"])
"""
WARNS = """
import os
import warnings

class Expires(UserWarning):
    def __init__(self, key):
        self.key = key

    def __str__(self):
        return f"{self.key} expires soon"

def test_it(recsys):
    warnings.warn(Expires(os.environ["SHOP_TOKEN"]))
"""
FAILS = """
import os

def pytest_configure(config):
    raise RuntimeError(f"no access with {os.environ['SHOP_TOKEN']}")
"""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", KEY)


def test_the_log_of_a_run_holds_no_key(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        LOGS,
        test_broken="1 / 0",
    )  # of which the run says so, and goes on
    done = pytester.runpytest_inprocess(
        "--log-file=log.txt",
        "--log-cli-level=INFO",
        "--continue-on-collection-errors",
    )
    written = (pytester.path / "log.txt").read_text(encoding="utf-8")
    for text in (written, done.stdout.str()):
        assert "sent [SHOP_TOKEN], and café" in text
        assert KEY not in text


def test_a_warning_that_writes_what_it_keeps_holds_no_key(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(WARNS)
    done = pytester.runpytest_inprocess("-Wdefault")
    told = done.stdout.str() + done.stderr.str()
    assert "[SHOP_TOKEN] expires soon" in told
    assert KEY not in told


def test_an_error_of_a_hook_holds_no_key(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(FAILS)
    pytester.makepyfile("def test_it(recsys): pass")
    done = pytester.runpytest_subprocess()
    told = done.stdout.str() + done.stderr.str()
    assert "no access with [SHOP_TOKEN]" in told
    assert KEY not in told
