"""Checks, before collection, that the objects that the command line names exist."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_recsys_mt.engine.settings import ACCEPTED, Settings, suite_options
from pytest_recsys_mt.plugin.items import parameters_of
from pytest_recsys_mt.plugin.output_files import check_outputs
from pytest_recsys_mt.requests.abilities import check_declared, identity_of, method_of
from pytest_recsys_mt.safety.errors import PolicyError, RecommenderError, RecsysError
from pytest_recsys_mt.safety.redaction import shown
from pytest_recsys_mt.verdict.wording import typed

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.run import Run
    from pytest_recsys_mt.gate.document import Document

NAMED = ("model", "against", "recall", "sampler", "profiler", "data", "prompt")
"""Options of the core that name something which must exist, as specs of suites do."""


@contextlib.contextmanager
def named(option: str, value: object) -> Iterator[None]:
    """Turn a failure inside into a usage error that names the option to blame.

    Args:
        option: The name of the option.
        value: Its value, as the error shows it.
    """
    try:
        yield
    except (OSError, RecsysError) as error:
        raise pytest.UsageError(f"{typed(option)}={value!r}: {error}") from error


def preflight(config: pytest.Config, settings: Settings) -> list[tuple[str, Document]]:
    """Check the objects that the command line names, before any test is collected.

    Args:
        config: The configuration of the pytest run.
        settings: The settings of the run.

    Returns:
        The records to compare with, each with its name.

    Raises:
        pytest.UsageError: Something named does not exist, or cannot be used.
    """
    check_outputs(settings, config.getoption("xmlpath", None))
    if hasattr(
        config,
        "workerinput",
    ):  # the controller has checked the rest, and reports it better
        return []
    baselines: list[tuple[str, Document]] = []
    if settings.baseline is not None:
        with named("baseline", str(settings.baseline)):
            baselines = _baselines(config, settings.baseline)
    if settings.html is not None:
        from pytest_recsys_mt.report.html import require_html

        with named("html", str(settings.html)):
            require_html()
    if settings.log:
        from pytest_recsys_mt.report.trackers import require

        with named("log", ",".join(settings.log)):
            require(settings.log)
    if settings.prices or settings.every_limit.usd is not None:
        check_prices(settings)
    if settings.executor == "ray" and settings.mode != "replay":
        from pytest_recsys_mt.calls.remote import require_ray

        try:
            require_ray()
        except RecsysError as error:
            raise pytest.UsageError(
                f"recsys_executor={settings.executor}: {error}",
            ) from error
    specs_of_suites = [option.name for option in suite_options() if option.verbs]
    if any(_is_typed(config, name) for name in (*NAMED, *specs_of_suites)):
        from pytest_recsys_mt.plugin.ending import begun_record

        with begun_record(config, restore=True):
            check_named(config, settings)
    return baselines


def _baselines(config: pytest.Config, given: Path) -> list[tuple[str, Document]]:
    """The records that ``--recsys-baseline`` names, each with its name."""
    from pytest_recsys_mt.gate.baseline import read
    from pytest_recsys_mt.gate.store import Store

    if given == ACCEPTED:
        return Store.of(config.rootpath).baselines()
    # The option may stand without a value, and then takes the path of tests that
    # follows it.
    if os.path.isdir(given) or given.suffix == ".py":
        raise PolicyError(
            f"that is no record; for the accepted run write --recsys-baseline={ACCEPTED}, or put the option last",
        )
    return [(str(given), read(given))]


def _dollars(settings: Settings) -> str:
    """The limit of a run in USD, or that of a day, as it was given."""
    if settings.limits.usd is not None:
        return f"--recsys-max-usd={settings.limits.usd}"
    return f"{typed('usd-a-day')}={settings.daily.usd}"


def check_prices(settings: Settings) -> None:
    """Check that the price file can be read, and that a limit on the
    cost can be kept.
    """
    from pytest_recsys_mt.calls.prices import Prices
    from pytest_recsys_mt.recommenders import resolve

    with named("prices", ", ".join(map(str, settings.prices))):
        prices = Prices.load(settings.prices)
    limits = settings.every_limit
    if limits.usd is None or not limits.every_price or settings.plan or settings.list:
        return
    for _, spec, verbs in _specs(settings):
        if spec.startswith("hf:"):
            continue  # free, so its files need not be read
        try:
            recommender = resolve(spec, verbs=verbs)
            identity = identity_of(recommender)
        except RecsysError:
            continue  # reported where the recommender is looked up
        if _does_more(recommender, verbs):
            continue  # its calls for a suite are not counted
        if prices.of(spec, identity or {"recommender": spec}) is None:
            raise pytest.UsageError(
                f"the price of {shown(spec)!r} is not known, so {_dollars(settings)} "
                f"cannot limit its cost; give the price in a TOML file: --recsys-prices=FILE",
            )


def _does_more(made: object, verbs: Sequence[str]) -> bool:
    """Whether an object has a method of a suite, which returns
    neither lists nor texts.
    """
    from pytest_recsys_mt.recommenders.own_objects import VERBS, name_of

    return any(
        callable(getattr(made, name_of(verb), None))
        for verb in verbs
        if verb not in VERBS
    )


def check_named(config: pytest.Config, settings: Settings) -> None:
    """Check that the named recommenders, judge, profiler, dataset and prompt exist.

    `check_used` looks up the objects that the ini file names: other runs in the same
    project need not pay for it.
    """
    for option, spec, verbs in _specs(settings):
        if _is_typed(config, option):
            _check_recommender(config, settings, option, spec, verbs)
    if config.getoption("recsys_data") is not None:
        _check_data(config, settings.data)
    if config.getoption("recsys_prompt") is not None:
        check_prompt(settings)
    if settings.prompts is not None:
        from pytest_recsys_mt.llm.prompts import own_templates

        with named("prompts", str(settings.prompts)):
            own_templates(settings.prompts)


def _check_recommender(
    config: pytest.Config,
    settings: Settings,
    option: str,
    spec: str,
    verbs: Sequence[str],
) -> None:
    from pytest_recsys_mt.recommenders.own_objects import RECOMMENDS
    from pytest_recsys_mt.recommenders.registry import BUILT_IN, resolve

    if spec in BUILT_IN and verbs is RECOMMENDS:  # known without importing it
        return
    with named(option, shown(spec)):
        recommender = resolve(spec, exact=settings.exact, verbs=verbs)
        if not config.option.collectonly:
            require_key(settings, spec, recommender)


def _check_data(config: pytest.Config, data: str) -> None:
    from pytest_recsys_mt import datasets

    with named("data", data):
        name, _ = datasets.named(data)
        is_missing = name is None and datasets.place(data)[0] is None
    if is_missing and datasets.place_of_code(data) is None:
        raise pytest.UsageError(f"--recsys-data={data!r}: {datasets.unknown(data)}")
    if name is not None and config.getoption("dist", "no") != "no":
        with named("data", data):  # here, not once per worker
            datasets.obtained(name)


def _is_typed(config: pytest.Config, name: str) -> bool:
    """Whether the command line gives an option, by its switch or with ``-o``."""
    key = f"recsys_{name.replace('-', '_')}"
    if config.getoption(key) is not None:
        return True
    overrides = config.getoption("override_ini", None) or ()
    return any(override.startswith(f"{key}=") for override in overrides)


def check_prompt(settings: Settings) -> None:
    """Check that the prompt exists."""
    from pytest_recsys_mt.llm.prompts import template

    if settings.prompt is not None:
        with named("prompt", settings.prompt):
            template(settings.prompt)


def require_key(settings: Settings, spec: str, recommender: object) -> None:
    """Check that a recommender has the key that its server wants, if requests will be
    sent.

    Answers in the cache need no key; whether a run sends no other requests is not known
    before it.
    """
    require = method_of(recommender, "require_key")
    asks = settings.mode != "replay" and not settings.plan and not settings.list
    # The machines of a Ray cluster have their own keys.
    if require is None or not asks or settings.executor == "ray":
        return
    try:
        require()
    except RecommenderError as error:
        if settings.mode != "refresh" and _has_answers(
            settings.cache,
            identity_of(recommender),
        ):
            return
        if ":" in spec:
            raise
        raise RecommenderError(
            f"no recommender has this name, so it counts as a chat model; {error}",
        ) from error


def _has_answers(folder: Path, identity: Mapping[str, object] | None) -> bool:
    from pytest_recsys_mt.calls.cache import AnswerCache

    with contextlib.closing(AnswerCache(folder, write=False)) as cache:
        for _, kept in cache.rows():
            if (
                kept is not None and kept.call.get("model") == identity
            ):  # None is a damaged row
                return True
    return False


def check_used(run: Run, items: Sequence[pytest.Item]) -> None:
    """Check that the recommenders, the data and the cache of the selected tests are
    available.

    Each is looked up once, before the first test, instead of by every test that needs
    it. The run keeps them for the tests.
    """
    check_not_forked(items)
    settings = run.settings
    used = {parameters_of(item).get("recsys_model") for item in items}
    for spec in settings.models:
        if spec not in used:
            continue
        with named("model", shown(spec)):
            recommender = run.recommenders.recommender(spec)
            check_declared(recommender)
            identity_of(
                recommender,
            )  # a local model names its files, which requires its libraries
            require_key(settings, spec, recommender)
    check_prompt(settings)
    with named("data", settings.data):
        run.dataset  # noqa: B018 - loading it is the check
    try:
        run.require_attributes()
    except RecsysError as error:
        raise pytest.UsageError(str(error)) from error
    with named("cache", str(settings.cache)):
        run.cache  # noqa: B018 - likewise


def check_not_forked(items: Sequence[pytest.Item]) -> None:
    """Refuse pytest-forked, which runs a test in a process that takes its verdicts and
    its bill with it when it ends.

    Raises:
        pytest.UsageError: With ``--forked``, or if one of the tests has the mark of
            that plugin.
    """
    for item in items:
        if item.config.getoption("forked", False) or item.get_closest_marker("forked"):
            raise pytest.UsageError(
                f"{item.nodeid} would run in a process of its own (pytest-forked), and its verdicts and what its calls "
                f"cost would be lost with that process: leave --forked out, or the mark; -n 2 (pytest-xdist) runs tests in "
                f"several processes, and -o recsys_timeout=SECONDS ends a call that hangs",
            )


def _specs(settings: Settings) -> Iterator[tuple[str, str, Sequence[str]]]:
    """The specs that options give, each with the option's name and
    the methods of which its object needs one.
    """
    from pytest_recsys_mt.recommenders.own_objects import DESCRIBES, RECOMMENDS

    for option, specs, verbs in (
        ("model", settings.models, RECOMMENDS),
        ("recall", settings.recall, RECOMMENDS),
        ("against", (settings.against,), RECOMMENDS),
        ("sampler", (settings.sampler,), RECOMMENDS),
        ("profiler", (settings.profiler,), DESCRIBES),
        *_specs_of_suites(settings),
    ):
        for spec in specs:
            if spec is not None:
                yield option, spec, verbs


def _specs_of_suites(
    settings: Settings,
) -> Iterator[tuple[str, tuple[str | None, ...], Sequence[str]]]:
    """The same of the options of suites."""
    for option in suite_options():
        given = settings.of_suites[option.name]
        if option.verbs:
            yield option.name, given if option.repeatable else (given,), option.verbs
