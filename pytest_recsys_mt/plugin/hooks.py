"""The pytest hooks and the fixtures.

Every pytest run of an environment imports this module, so it imports nothing heavy. A
hook imports the modules that it needs when the first recommender test comes.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest

from pytest_recsys_mt.plugin import plain_imports  # noqa: F401 - decides how the modules below are imported

# isort: split
from pytest_recsys_mt.llm import prompt_texts
from pytest_recsys_mt.metamorphic import MARK
from pytest_recsys_mt.plugin import collection, misspelt, state
from pytest_recsys_mt.plugin.ending import begin_junit, begun_record, never_ended
from pytest_recsys_mt.plugin.finishing import (  # noqa: F401 - pytest takes its hooks from this module
    pytest_sessionfinish,
    pytest_terminal_summary,
    pytest_testnodedown,
)
from pytest_recsys_mt.plugin.reports import Reported, safe, say_collected
from pytest_recsys_mt.plugin.resolving import add_options, settings_of
from pytest_recsys_mt.plugin.running import (  # noqa: F401 - pytest takes its hooks from this module
    pytest_fixture_setup,
    pytest_json_runtest_metadata,
    pytest_pyfunc_call,
    pytest_runtest_makereport,
    pytest_runtest_protocol,
    pytest_runtest_setup,
    pytest_warning_recorded,
)
from pytest_recsys_mt.safety.files import RUNS

pytest_plugins = ("pytest_recsys_mt.plugin.fixtures", "pytest_recsys_mt.plugin.naming")

MARKS = (
    f"{MARK}(*transformations): set by @metamorphic; one test per transformation",
    (
        "recsys_design(users, history, candidates, k, replicates, rated_above, prompt, "
        "training_history, initialisation, recall, refits, fold): how requests of this test are made, instead of "
        "the options (--recsys-prompt wins over a prompt)"
    ),
    f"{collection.THOROUGH}: it makes many calls; see --recsys-effort",
    f"{collection.QUICK}(*names): it runs with --recsys-effort=quick; for these transformations only, if named",
    "recsys_ahead: its body may run before its turn, while others wait for answers; it changes nothing that they see",
    "recsys_once: its body runs in its turn, though the ini key recsys_ahead or a mark of its class or module wants it ahead",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    add_options(parser)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    parser: pytest.Parser,
    args: list[str],
) -> Generator[None, None, None]:
    """Name the nearest option to a misspelt one, when the
    options of all plugins are known.
    """
    yield
    misspelt.check_options(parser, args)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, object, object]:
    """Turn workers off for listing and planning, which
    need the collection in this process.
    """
    runs_no_test = config.getoption("recsys_list") or config.getoption("recsys_plan")
    if runs_no_test and config.pluginmanager.hasplugin("xdist"):
        config.option.numprocesses = None
        config.option.dist = "no"
        config.option.tx = []
    try:
        return (yield)
    except pytest.UsageError as error:
        error.args = safe(error.args)
        raise


@pytest.hookimpl(tryfirst=True)
def pytest_internalerror(excrepr: Any) -> None:
    """Take keys out of the error of a hook, as of a `conftest.py`,
    before it is shown.
    """
    safe(excrepr)


def pytest_configure(config: pytest.Config) -> None:
    """Resolve the settings; a bad value ends the run here."""
    misspelt.check_ini(config)
    misspelt.check_environment()
    settings = settings_of(config)
    prompt_texts.use(settings.prompts)
    config.stash[state.SETTINGS] = settings
    config.stash[state.STARTED] = time.time()
    config.stash[state.PROBLEMS] = []
    config.stash[state.RUN_NAMES] = set()
    config.stash[state.AGAIN] = []
    config.stash[state.LOADED] = {}
    _register_showing(config)
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    from pytest_recsys_mt.plugin.preflight import preflight

    config.stash[state.BASELINE] = preflight(config, settings)
    config.stash[state.UNENDED] = settings.json is not None and never_ended(
        settings.json,
    )
    has_kept_runs = os.path.isdir(config.rootpath / RUNS)
    if settings.plan:
        from pytest_recsys_mt.plugin.planning import Planning

        config.pluginmanager.register(
            Planning(state.run_of(config)),
            "recsys_mt_planning",
        )
    elif settings.keep != "no" and settings.wrapper is None and has_kept_runs:
        from pytest_recsys_mt.plugin.earlier import Earlier

        config.pluginmanager.register(Earlier(config), state.EARLIER)
    on_worker = hasattr(config, "workerinput")
    if settings.json or settings.html or config.getoption("xmlpath", None):
        from pytest_recsys_mt.plugin.interruptions import Interruptions

        interruptions = Interruptions(worker=on_worker)
        config.stash[state.INTERRUPTIONS] = interruptions
        interruptions.take()
    if not on_worker:
        reported = Reported()
        config.stash[state.REPORTED] = reported
        config.pluginmanager.register(reported, "recsys_mt_reported")


def _register_showing(config: pytest.Config) -> None:
    from pytest_recsys_mt.calls.progress import Progress
    from pytest_recsys_mt.plugin.showing import Showing

    progress = Progress()
    showing = Showing(config, progress)
    config.stash[state.PROGRESS] = progress
    config.stash[state.SHOWING] = showing
    config.pluginmanager.register(showing, "recsys_mt_showing")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Restore the signal handlers and the texts of prompts from before the run."""
    if state.SETTINGS in config.stash:
        prompt_texts.leave()
    if state.INTERRUPTIONS in config.stash:
        config.stash[state.INTERRUPTIONS].give_back()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test per recommender and transformation."""
    settings = metafunc.config.stash[state.SETTINGS]
    if "recsys_model" in metafunc.fixturenames:
        # Session scope orders the tests so that each recommender is fitted once.
        ids = collection.model_ids(settings.models)
        metafunc.parametrize(
            "recsys_model",
            settings.models,
            indirect=True,
            ids=ids,
            scope="session",
        )
    metafunc.config.stash[state.PROBLEMS] += collection.parametrize_transformations(
        metafunc,
    )


@pytest.hookimpl(
    trylast=True,
)  # after -k and -m, so that only tests that they select count as left out
def pytest_collection_modifyitems(
    config: pytest.Config,
    items: list[pytest.Item],
) -> None:
    """End the run if the tests are faulty; leave out tests above the wanted effort."""
    problems = config.stash[state.PROBLEMS]
    settings = config.stash[state.SETTINGS]
    if not settings.list:
        _leave_out(config, items)
    problems += misspelt.wrong_marks(config, items)
    if settings.models_given:
        problems += collection.named_twice(items)
    if settings.policy is not None:
        collection.expect_known(items, settings.policy)
    if problems:
        distinct_problems = dict.fromkeys(problems)
        _refuse(config, items, "recsys-mt: " + "\n".join(distinct_problems))


def _leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests above the wanted effort, and report how many there are."""
    effort = config.stash[state.SETTINGS].effort
    left_out = collection.left_out(items, effort, collection.named_files(config))
    if not left_out:
        return
    config.hook.pytest_deselected(items=left_out)
    config.stash[state.LEFT_OUT] = len(left_out)
    if hasattr(config, "workerinput"):
        config.workeroutput[state.LEFT_OUT_KEY] = len(left_out)  # type: ignore[attr-defined]


def _refuse(config: pytest.Config, items: list[pytest.Item], problem: str) -> None:
    """End the run with a usage error."""
    if not hasattr(config, "workerinput"):
        raise pytest.UsageError(problem)
    # A UsageError on a worker would reach the user as an internal error of xdist.
    config.workeroutput[state.PROBLEMS_KEY] = problem  # type: ignore[attr-defined]
    items.clear()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Report to the controller, if any, which tests send requests, then check the
    objects that they use.

    The order matters, as making a recommender may end the process.
    """
    config = session.config
    settings = config.stash[state.SETTINGS]
    runs_no_test = settings.list or state.runs_nothing(config) or session.testsfailed
    asking_tests = sum(collection.sends_requests(item) for item in session.items)
    if asking_tests and not runs_no_test:
        # Before anything makes the run, which takes the settings as they are then.
        config.stash[state.SETTINGS] = replace(settings, family=asking_tests)
    say_collected(
        session,
        lambda: pytest_report_collectionfinish(config, session.items),
    )
    if asking_tests:
        from pytest_recsys_mt.plugin.logs import log_without_keys

        log_without_keys(config)
    if runs_no_test or not asking_tests:
        return
    from pytest_recsys_mt.plugin.preflight import check_used

    config.stash[state.SHOWING].begin()
    begin_junit(config)
    try:
        with begun_record(config):
            check_used(state.run_of(config), session.items)
    except pytest.UsageError as error:
        _refuse(config, session.items, str(error))
    # Modules and data stay until the end, so no garbage collection need look at them.
    gc.freeze()


def pytest_report_collectionfinish(
    config: pytest.Config,
    items: list[pytest.Item],
) -> str | None:
    """Note before the first call which limits the sampled users are too few to show."""
    settings = config.stash[state.SETTINGS]
    if settings.list or config.option.collectonly:
        return None
    if not any(
        collection.sends_requests(item) and state.is_shipped(item) for item in items
    ):
        return None
    users, smallest_shown = state.run_of(config).shows
    if smallest_shown <= state.SMALLEST:
        return None
    return (
        f"{users} users are too few for some limits below {smallest_shown:.2f}: such tests of the suites are left out, "
        f"unless they are violated"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """With --recsys-list, list the relations instead of running them; those of the
    package in a folder without tests.
    """
    config = session.config
    if not config.stash[state.SETTINGS].list:
        return None
    from pytest_recsys_mt.report.relation_list import list_relations

    if not session.items and config.args_source is not config.ArgsSource.ARGS:
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line("no test is here; these are in the package:")
        config.option.pyargs = True
        session.perform_collect(["pytest_recsys_mt.suites"])
    list_relations(config, session.items)
    return True
