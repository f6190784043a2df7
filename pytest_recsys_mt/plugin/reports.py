"""What a run receives about its tests: which ones ask a recommender, and the result of each."""

import json
import tempfile
import uuid
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.plugin.collection import asks
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import sanitize

KEY = "recsys_mt_collected"


def does_not_apply(report: Any) -> bool:
    """Whether a test was skipped because it does not apply to the recommender."""
    return bool(getattr(report, "recsys_mt", {}).get("does_not_apply"))


def safe(value: Any) -> Any:
    """`value` without keys and without commands to the readers of logs, in all its texts."""
    if isinstance(value, str):
        return redact(sanitize(value))
    if isinstance(value, list | tuple):
        return list(map(safe, value)) if isinstance(value, list) else tuple(map(safe, value))
    if hasattr(value, "toterminal"):  # a part of a traceback
        parts = getattr(value, "__dict__", {})
        parts.update({name: safe(part) for name, part in parts.items()})
    return value


class Reported:
    """A pytest plugin that keeps the reports of a run in the order of arrival.

    If workers run the tests, the controller collects none, and a worker that dies sends nothing more. So each worker
    reports what it collected before it runs a test. It uses a file, as xdist carries no plugin messages at that time.
    """

    def __init__(self) -> None:
        self.nodes: list[Any] = []  # the workers, as xdist's controller lists them
        self.tests: list[pytest.TestReport] = []
        self.uncollected: list[str] = []
        self._from_workers: Path | None = None
        self._told = False
        self._raised_in: dict[str, str] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a report, after adding what users' code raised in its test."""
        self._tell_raised(report)
        self.tests.append(report)

    def _tell_raised(self, report: Any) -> None:
        """Add each traceback to the first failed test that has it: only here the reports of all workers meet."""
        carried = getattr(report, "recsys_mt", {})
        if not report.failed or not carried.get("raised"):
            return
        told = []
        for raised in carried["raised"]:
            first = self._raised_in.setdefault(raised["key"], report.nodeid)
            text = f"{raised['error']}\nits traceback stands below {first}"
            if first == report.nodeid:
                parts = (raised["asked"], raised["traceback"], raised["smallest"])
                text = "\n".join(filter(None, parts))
            told.append(text)
            title = sanitize(f"recsys-mt: raised by {raised['model']}")
            # A traceback has it, a plain text not.
            add = getattr(report.longrepr, "addsection", None)
            if add is None:
                report.sections.append((title, text))
            else:
                add(title, text)
        wanting = [row for row in carried["rows"] if row["outcome"] == "failed"]
        for row in wanting[:1]:
            row["traceback"] = "\n\n".join(told)

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # around pytest's own, which lists skipped tests
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, None, None]:
        """Leave the tests that do not apply out of pytest's list of skipped ones; ours folds them by reason.

        They count as skipped in pytest's last line.
        """
        stats: dict[str, list[Any]] = terminalreporter.stats
        skipped = stats.get("skipped")
        if skipped is not None:
            stats["skipped"] = [each for each in skipped if not does_not_apply(each)]
        try:
            yield
        finally:
            if skipped is not None:
                stats["skipped"] = skipped

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the name of a file that could not be collected, and take keys out of the error before it is shown."""
        if report.failed:
            report.longrepr = safe(report.longrepr)
            report.sections = safe(report.sections)
            self.uncollected.append(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send the name of the file to a worker, which cannot know it otherwise."""
        self.nodes.append(node)
        if self._from_workers is None:
            name = f"recsys-mt-{uuid.uuid4().hex}.json"
            self._from_workers = Path(tempfile.gettempdir(), name)
        node.workerinput[KEY] = str(self._from_workers)

    def collected(self, session: pytest.Session) -> list[str]:
        """The selected tests that ask a recommender; call it once, at the end."""
        path = self._from_workers
        if path is None:
            return [item.nodeid for item in getattr(session, "items", ()) if asks(item)]
        try:
            return list(_said_in(path)["asking"])
        finally:
            path.unlink(missing_ok=True)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any) -> None:
        """Write what the first worker says of the tests that it collected."""
        if self._from_workers is not None and not self._told:
            self._told = True
            if said := _said_in(self._from_workers)["told"]:
                reporter = node.config.pluginmanager.get_plugin("terminalreporter")
                reporter.write_line(f"\n{said}" if reporter.isatty else said)


def _said_in(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {"asking": [], "told": ""}


def say_collected(session: pytest.Session, told: Callable[[], str | None]) -> None:
    """On a worker, report to the controller which selected tests ask a recommender, and what is `told` of them."""
    said = getattr(session.config, "workerinput", {}).get(KEY)
    asking = [item.nodeid for item in session.items if asks(item)]
    if said is None or not asking or Path(said).exists():
        return
    from pytest_recsys_mt.safety.files import written_whole

    with written_whole(Path(said)) as stream:
        json.dump({"asking": asking, "told": told()}, stream)
