"""Checks, before collection, that what the command line names exists."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_recsys_mt.abilities import identity_of, method_of
from pytest_recsys_mt.engine.settings import ACCEPTED, Settings
from pytest_recsys_mt.errors import PolicyError, RecommenderError, RecsysError
from pytest_recsys_mt.plugin.items import parameters_of
from pytest_recsys_mt.safety.files import RUNS, is_replaced
from pytest_recsys_mt.safety.redaction import shown
from pytest_recsys_mt.wording import typed

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.run import Run
    from pytest_recsys_mt.gate.document import Document

NAMED = ("model", "against", "recall", "sampler", "judge", "profiler", "data", "prompt")
"""Options that name something which must exist."""


@contextlib.contextmanager
def named(option: str, value: object) -> Iterator[None]:
    """A failure inside ends the run, and names the option that is to blame."""
    try:
        yield
    except (OSError, RecsysError) as error:
        raise pytest.UsageError(f"{typed(option)}={value!r}: {error}") from error


def preflight(config: pytest.Config, settings: Settings) -> list[tuple[str, Document]]:
    """Check what the command line names, before any test is collected; returns the records to compare with, by their names."""
    check_outputs(settings, config.getoption("xmlpath", None))
    if hasattr(config, "workerinput"):  # the controller has checked the rest, and reports it better
        return []
    baselines: list[tuple[str, Document]] = []
    if settings.baseline is not None:
        from pytest_recsys_mt.gate.baseline import read
        from pytest_recsys_mt.gate.store import Store

        with named("baseline", str(settings.baseline)):
            if settings.baseline == ACCEPTED:
                baselines = Store.of(config.rootpath).baselines()
            elif os.path.isdir(settings.baseline) or settings.baseline.suffix == ".py":
                raise PolicyError(
                    f"that is no record; for the accepted run write --recsys-baseline={ACCEPTED}, or put the option last"
                )
            else:
                baselines = [(str(settings.baseline), read(settings.baseline))]
    if settings.html is not None:
        from pytest_recsys_mt.report.html import require_html

        with named("html", str(settings.html)):
            require_html()
    if settings.prices or settings.every_limit.usd is not None:
        check_prices(settings)
    if settings.executor == "ray" and settings.mode != "replay":
        from pytest_recsys_mt.calls.remote import require_ray

        try:
            require_ray()
        except RecsysError as error:
            raise pytest.UsageError(f"recsys_executor={settings.executor}: {error}") from error
    if any(_is_typed(config, name) for name in NAMED):
        from pytest_recsys_mt.plugin.ending import begun_record

        with begun_record(config, put_back=True):
            check_named(config, settings)
    return baselines


OURS = {"--recsys-json": rb'\s*\{\s*"schema":\s*"recsys-mt', "--recsys-html": rb"\s*<!doctype html"}
"""How the files begin that an earlier run wrote with an option."""


def check_outputs(settings: Settings, junit: str | None) -> None:
    """Check, now rather than at the end of the run, that files can be written, and that none takes the place of another.

    The baseline would be lost to a run that fails the comparison, so that the same run would pass the next time.
    """
    taken = {
        os.path.realpath(path): option
        for option, path in (("--recsys-baseline", settings.baseline), ("--junitxml", junit))
        if path is not None
    }
    if junit and settings.baseline and len(taken) < 2:
        raise pytest.UsageError(
            f"--junitxml={junit!r}: it is the file of --recsys-baseline, which would be lost; name another"
        )
    for option, path in (("--recsys-json", settings.json), ("--recsys-html", settings.html)):
        if path is None:
            continue
        try:
            reason = _obstacle(path, option, taken)
        except OSError as error:
            reason = error.strerror or str(error)
        if reason:
            raise pytest.UsageError(f"{option}={str(path)!r}: {reason}; name a file to write")


def _obstacle(path: Path, option: str, taken: dict[str, str]) -> str:
    if path.name.startswith("-"):
        return "that is an option, or standard output, which is pytest's"
    if path.suffix == ".toml":
        return "that is the name of a policy or of another file of settings"
    if str(RUNS) in os.path.dirname(os.path.realpath(path)):
        return "it would be one of the kept runs' own files"
    if not is_replaced(path):
        return "" if os.access(path, os.W_OK) else "it cannot be written to"
    real = os.path.realpath(path)
    if real in taken:
        return f"it is the file of {taken[real]}, which would be lost"
    taken[real] = option
    if path.is_file():
        with path.open("rb") as stream:
            begins = stream.read(200)
        if begins and not re.match(OURS[option], begins, re.IGNORECASE):
            return f"there is a file that {option} did not write, and would replace"
    folder = Path(real).parent
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        return f"{str(folder)!r} cannot be written to"
    return ""


def _dollars(settings: Settings) -> str:
    """The limit of a run in USD, or that of a day, as it was given."""
    if settings.limits.usd is not None:
        return f"--recsys-max-usd={settings.limits.usd}"
    return f"{typed('usd-a-day')}={settings.daily.usd}"


def check_prices(settings: Settings) -> None:
    """Check that the price file can be read, and that a limit on the cost can be kept."""
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
            found = resolve(spec, verbs=verbs)
            identity = identity_of(found)
        except RecsysError:
            continue  # reported where the recommender is looked up
        if "judge" in verbs and callable(getattr(found, "judge", None)):
            continue  # judges without a model, and makes no counted calls
        known = identity or {"recommender": spec}
        if prices.of(spec, known) is None:
            raise pytest.UsageError(
                f"the price of {shown(spec)!r} is not known, so {_dollars(settings)} "
                f"cannot limit its cost; give the price in a TOML file: --recsys-prices=FILE"
            )


def check_named(config: pytest.Config, settings: Settings) -> None:
    """Check that the named recommenders, judge, profiler, dataset and prompt exist.

    `check_used` looks up what the ini file names: other runs in the same project need not pay for it.
    """
    for name, spec, verbs in _specs(settings):
        if not _is_typed(config, name):
            continue
        from pytest_recsys_mt.recommenders.own_objects import RECOMMENDS
        from pytest_recsys_mt.recommenders.registry import BUILT_IN, resolve

        if spec in BUILT_IN and verbs is RECOMMENDS:  # known without importing it
            continue
        with named(name, shown(spec)):
            found = resolve(spec, exact=settings.exact, verbs=verbs)
            if not config.option.collectonly:
                require_key(settings, spec, found)
    if config.getoption("recsys_data") is not None:
        from pytest_recsys_mt.datasets import NAMES, obtained, place, unknown

        with named("data", settings.data):
            missing = settings.data not in NAMES and place(settings.data)[0] is None
        if missing:
            raise pytest.UsageError(f"--recsys-data={settings.data!r}: {unknown(settings.data)}")
        if settings.data in NAMES and config.getoption("dist", "no") != "no":
            with named("data", settings.data):  # here, not once per worker
                obtained(settings.data)
    if config.getoption("recsys_prompt") is not None:
        check_prompt(settings)
    if settings.prompts is not None:
        from pytest_recsys_mt.llm.prompts import own_templates

        with named("prompts", str(settings.prompts)):
            own_templates(settings.prompts)


def _is_typed(config: pytest.Config, name: str) -> bool:
    overridden = config.getoption("override_ini", None) or ()
    key = f"recsys_{name}"
    return config.getoption(key) is not None or any(
        each.startswith(f"{key}=") for each in overridden
    )


def check_prompt(settings: Settings) -> None:
    """Check that the prompt exists."""
    from pytest_recsys_mt.llm.prompts import template

    if settings.prompt is not None:
        with named("prompt", settings.prompt):
            template(settings.prompt)


def require_key(settings: Settings, spec: str, recommender: object) -> None:
    """Check that a recommender has the key that its server wants, if it will be asked.

    Answers in the cache need no key; whether they are all that a run asks is not known before it.
    """
    require = method_of(recommender, "require_key")
    asks = settings.mode != "replay" and not settings.plan and not settings.list
    # The machines of a Ray cluster have their own keys.
    if require is None or not asks or settings.executor == "ray":
        return
    try:
        require()
    except RecommenderError as error:
        if settings.mode != "refresh" and _has_answers(settings.cache, identity_of(recommender)):
            return
        if ":" in spec:
            raise
        raise RecommenderError(
            f"no recommender has this name, so it counts as a chat model; {error}"
        ) from error


def _has_answers(folder: Path, identity: Mapping[str, object] | None) -> bool:
    from pytest_recsys_mt.calls.cache import AnswerCache

    with contextlib.closing(AnswerCache(folder, write=False)) as cache:
        return any(
            kept is not None and kept.call.get("model") == identity for _, kept in cache.rows()
        )


def check_used(run: Run, items: Sequence[pytest.Item]) -> None:
    """Check that the recommenders, the data and the cache of the selected tests are available.

    Each is looked up once, before the first test, instead of by every test that needs it. The
    run keeps them for the tests.
    """
    check_not_forked(items)
    settings = run.settings
    used = {parameters_of(item).get("recsys_model") for item in items}
    for spec in [spec for spec in settings.models if spec in used]:
        # A local model names its files, which requires its libraries.
        with named("model", shown(spec)):
            identity_of(run.roster.recommender(spec))
            require_key(settings, spec, run.roster.recommender(spec))
    check_prompt(settings)
    with named("data", settings.data):
        run.dataset  # noqa: B018 - what it takes to have it is the check
    try:
        run.require_attributes()
    except RecsysError as error:
        raise pytest.UsageError(str(error)) from error
    with named("cache", str(settings.cache)):
        run.cache  # noqa: B018 - likewise


def check_not_forked(items: Sequence[pytest.Item]) -> None:
    """Refuse pytest-forked, which runs a test in a process that takes its verdicts and its bill with it when it ends.

    Raises:
        pytest.UsageError: With ``--forked``, or if one of the tests has the mark of that plugin.
    """
    for item in items:
        if item.config.getoption("forked", False) or item.get_closest_marker("forked"):
            raise pytest.UsageError(
                f"{item.nodeid} would run in a process of its own (pytest-forked), and its verdicts and what its calls "
                f"cost would be lost with that process: leave --forked out, or the mark; -n 2 (pytest-xdist) runs tests in "
                f"several processes, and -o recsys_timeout=SECONDS ends a call that hangs"
            )


def _specs(settings: Settings) -> Iterator[tuple[str, str, Sequence[str]]]:
    from pytest_recsys_mt.recommenders.own_objects import DESCRIBES, JUDGES, RECOMMENDS

    for name, specs, verbs in (
        ("model", settings.models, RECOMMENDS),
        ("recall", settings.recall, RECOMMENDS),
        ("against", (settings.against,), RECOMMENDS),
        ("sampler", (settings.sampler,), RECOMMENDS),
        ("judge", (settings.judge,), JUDGES),
        ("profiler", (settings.profiler,), DESCRIBES),
    ):
        yield from ((name, spec, verbs) for spec in specs if spec is not None)
