"""What every test needs: a cache of its own, and no answers from earlier runs."""

import contextlib
import gc
import importlib
import importlib.metadata
import os
import signal
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# What is imported and collected lives as long as the process. To search it for garbage
# would take a tenth of the time.
gc.disable()

# There are as many workers as cores. If each computed on all of them, they would wait
# for each other: torch and BLAS then take twice the time. What a test starts inherits
# it; NumPy reads it when it is imported, below.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# No test is timed: a machine may be ten times slower. Tests that say no number draw few
# examples, and many with --slow.
settings.register_profile("few", deadline=None, max_examples=20)
settings.register_profile("many", deadline=None, max_examples=200)
settings.load_profile("few")

# pytester forgets every module that a run inside this process imported, and numpy
# cannot be imported twice: so all that such runs import is imported before them.
for _name in (
    "calls.progress", "datasets.dataset", "datasets.making", "datasets.summary", "engine.counterexample", "engine.run",
    "engine.schedule", "engine.shrinking", "llm.api.openai_model", "llm.recommender", "oracles", "plugin.begun",
    "plugin.interruptions", "plugin.planning", "plugin.preflight", "plugin.reproduce", "plugin.shrinking",
    "recommenders", "recommenders.knn", "relations", "report.other_reporters", "report.planned", "report.raising",
    "report.relation_list", "report.sections", "report.terminal",
):  # fmt: skip
    importlib.import_module(f"pytest_recsys_mt.{_name}")
for _name in (
    "email.feedparser", "email.parser", "filelock", "pandas.core.methods.to_dict", "scipy.special", "scipy.sparse",
    "scipy.stats",
):  # fmt: skip
    importlib.import_module(_name)
with contextlib.suppress(ImportError):  # of the extra html
    importlib.import_module("jinja2")

# A run reads once what is installed, and the data; a thousand runs inside tests need
# not each.
_Installed = importlib.metadata.Distribution
for _name in ("metadata", "entry_points", "files"):
    setattr(_Installed, _name, property(cache(getattr(_Installed, _name).fget)))
_within = cache(lambda folder: list(_Installed.discover(path=[folder])))


def _distributions(**where: Any) -> Iterator[importlib.metadata.Distribution]:
    for folder in where.get("path", sys.path):
        yield from (
            _within(folder)
            if "-packages" in folder
            else _Installed.discover(path=[folder])
        )


importlib.metadata.distributions = _distributions
_loading = importlib.import_module("pytest_recsys_mt.datasets.loading")
_loading.load_mini = cache(_loading.load_mini)  # type: ignore[attr-defined]
_redaction = importlib.import_module("pytest_recsys_mt.safety.redaction")

# Whoever started this in the background of a shell let it ignore Ctrl-C, and so would
# all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


SLOW = {
    test: why
    for why, tests in tomllib.loads(
        Path(__file__).with_name("slow.toml").read_text(),
    ).items()
    for test in tests
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slow",
        action="store_true",
        help="run the tests marked slow too",
    )


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("many" if config.getoption("--slow") else "few")


def pytest_collection_modifyitems(
    config: pytest.Config,
    items: list[pytest.Item],
) -> None:
    if config.getoption("--slow"):
        return
    on_workers = set[Path]()
    for item in items:
        if why := SLOW.get(item.nodeid):
            item.add_marker(pytest.mark.skip(reason=f"{why}; run it with --slow"))
        elif item.get_closest_marker("slow") is not None:
            item.add_marker(
                pytest.mark.skip(reason="of the slow set; run it with --slow"),
            )
        elif "two workers" in item.name:
            # What workers change is shown once a folder, and in tests of nothing else:
            # each further one costs seconds.
            if item.path.parent in on_workers:
                item.add_marker(
                    pytest.mark.skip(reason="once more on workers; run it with --slow"),
                )
            on_workers.add(item.path.parent)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 10, 100)


_numbers = count()


@pytest.fixture(autouse=True)
def _own_cache(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Made only by the tests that keep something there.
    own = tmp_path_factory.getbasetemp() / "caches" / str(next(_numbers))
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    # What tests before this one left in the process: the name of a key's variable, and
    # the suites of a run inside it.
    _redaction._known.clear()
    _redaction._read.clear()
    sys.modules.pop("suites", None)


@pytest.fixture
def pytester(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> pytest.Pytester:
    """As pytest's; a run of this repository's suites keeps nothing in the repository.

    Else what a test finds depends on the tests before it: a run begins with what failed
    in the one before.
    """
    suites = str(Path(__file__).resolve().parents[1] / "suites")
    for name in ("runpytest_inprocess", "runpytest_subprocess"):
        run = getattr(pytester, name)

        def apart(*given: Any, run: Callable[..., Any] = run, **more: Any) -> Any:
            keep = ["--recsys-keep=no"] * any(
                str(each).startswith(suites) for each in given
            )
            return run(*given, *keep, **more)

        monkeypatch.setattr(pytester, name, apart)
    return pytester
