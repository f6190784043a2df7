"""The reports that a run receives: which tests send
requests, and the result of each.
"""

import json
import tempfile
import uuid
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.plugin.collection import sends_requests
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import sanitize

KEY = "recsys_mt_collected"
"""Where a worker gets the name of the file for the tests that it collected."""


def does_not_apply(report: Any) -> bool:
    """Whether a test was skipped because it does not apply to the recommender."""
    return bool(getattr(report, "recsys_mt", {}).get("does_not_apply"))


def safe(value: Any) -> Any:
    """`value` without keys and without commands to the readers of logs, in all its
    texts.

    A part of a traceback is changed in place; of all else that changes, a copy is
    returned.
    """
    if isinstance(value, str):
        return redact(sanitize(value))
    if isinstance(value, list):
        return [safe(part) for part in value]
    if isinstance(value, tuple):
        return tuple(safe(part) for part in value)
    if hasattr(value, "toterminal"):  # a part of a traceback
        attributes = getattr(value, "__dict__", {})
        attributes.update({name: safe(part) for name, part in attributes.items()})
    return value


class Reported:
    """A pytest plugin that keeps the reports of a run in the order of arrival.

    If workers run the tests, the controller collects none, and a worker that dies sends
    nothing more. So each worker reports the tests that it collected before it runs a
    test. It uses a file, as xdist carries no plugin messages at that time.

    Attributes:
        nodes: The workers, as xdist's controller lists them.
        tests: The reports of all phases of tests.
        uncollected: The ids of the files that could not be collected.
    """

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.tests: list[pytest.TestReport] = []
        self.uncollected: list[str] = []
        self._from_workers: Path | None = None  # the file that the first worker writes
        self._has_printed = False
        self._first_with: dict[
            str,
            str,
        ] = {}  # by a traceback's key, the id of its first test

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a report, after adding the exceptions of users' code in its test."""
        self._add_raised(report)
        self.tests.append(report)

    def _add_raised(self, report: Any) -> None:
        """Add each traceback to the first failed test that has it: only here the
        reports of all workers meet.
        """
        carried = getattr(report, "recsys_mt", {})
        if not report.failed or not carried.get("raised"):
            return
        texts = []
        for raised in carried["raised"]:
            text = self._text_of(raised, report.nodeid)
            texts.append(text)
            title = sanitize(f"recsys-mt: raised by {raised['model']}")
            # Only the representation of a traceback has sections of its own; a plain
            # text has none.
            add_section = getattr(report.longrepr, "addsection", None)
            if add_section is None:
                report.sections.append((title, text))
            else:
                add_section(title, text)
        failed_rows = [row for row in carried["rows"] if row["outcome"] == "failed"]
        if failed_rows:
            failed_rows[0]["traceback"] = "\n\n".join(texts)

    def _text_of(self, raised: dict[str, Any], nodeid: str) -> str:
        """The text of a test's report for one traceback: all of it,
        or the id of the test that has it.
        """
        first = self._first_with.setdefault(raised["key"], nodeid)
        if first != nodeid:
            return f"{raised['error']}\nits traceback stands below {first}"
        parts = (raised["asked"], raised["traceback"], raised["smallest"])
        return "\n".join(part for part in parts if part)

    @pytest.hookimpl(
        wrapper=True,
        tryfirst=True,
    )  # around pytest's own, which lists skipped tests
    def pytest_terminal_summary(
        self,
        terminalreporter: Any,
    ) -> Generator[None, None, None]:
        """Leave the tests that do not apply out of pytest's list of skipped ones; ours
        folds them by reason.

        They count as skipped in pytest's last line.
        """
        stats: dict[str, list[Any]] = terminalreporter.stats
        skipped = stats.get("skipped")
        if skipped is not None:
            stats["skipped"] = [
                report for report in skipped if not does_not_apply(report)
            ]
        try:
            yield
        finally:
            if skipped is not None:
                stats["skipped"] = skipped

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the name of a file that could not be collected, and take keys out of the
        error before it is shown.
        """
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
        """The ids of the selected tests that send requests;
        call it once, at the end.
        """
        path = self._from_workers
        if path is None:
            items = getattr(
                session,
                "items",
                (),
            )  # missing if the collection was interrupted
            return [item.nodeid for item in items if sends_requests(item)]
        try:
            return list(_collected_in(path)["asking"])
        finally:
            path.unlink(missing_ok=True)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any) -> None:
        """Print the note of the first worker on the tests that it
        collected; the others have the same one.
        """
        if self._from_workers is None or self._has_printed:
            return
        self._has_printed = True
        note = _collected_in(self._from_workers)["note"]
        if note:
            reporter = node.config.pluginmanager.get_plugin("terminalreporter")
            # On a terminal, xdist has left the cursor behind its count of workers.
            reporter.write_line(f"\n{note}" if reporter.isatty else note)


def _collected_in(path: Path) -> dict[str, Any]:
    """The content that `say_collected` wrote to a file; nothing if no
    worker wrote it.
    """
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {"asking": [], "note": ""}


def say_collected(session: pytest.Session, note_on: Callable[[], str | None]) -> None:
    """On a worker, report to the controller which selected tests send requests.

    All workers collect the same, so the first one that is done writes the file.

    Args:
        session: The session of the worker.
        note_on: Makes a note on these tests for the terminal; None if there is nothing
            to note.
    """
    given = getattr(session.config, "workerinput", {}).get(KEY)
    asking = [item.nodeid for item in session.items if sends_requests(item)]
    if given is None or not asking:
        return
    path = Path(given)
    if path.exists():
        return
    from pytest_recsys_mt.safety.files import written_whole

    with written_whole(path) as stream:
        json.dump({"asking": asking, "note": note_on()}, stream)
