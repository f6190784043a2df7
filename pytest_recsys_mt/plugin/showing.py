"""Shows how far the run is, on whichever process has the
terminal; workers post theirs in a folder.
"""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Generator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

import pytest

from pytest_recsys_mt.calls.progress import Progress, Standing, line
from pytest_recsys_mt.metamorphic import name_of
from pytest_recsys_mt.plugin import status_line
from pytest_recsys_mt.plugin.collection import sends_requests
from pytest_recsys_mt.plugin.items import relation_of

FOLDER_KEY = "recsys_mt_progress"
"""Where workers post how far they are: xdist carries no
messages of plugins while tests run.
"""

POSTED_EVERY = 0.5
"""Seconds between two updates of a worker's file."""


class Posted(status_line.Shown):
    """Writes how far a worker is to a file, which the controller reads.

    Args:
        path: The file of this worker.
        progress: The progress of the worker.
    """

    every = POSTED_EVERY

    def __init__(self, path: Path, progress: Progress) -> None:
        self._path = path
        self._progress = progress

    def tick(self) -> None:
        """Replace the file, so that the controller reads a whole one."""
        standing = self._progress.standing
        posted = None if standing is None else asdict(standing)
        text = json.dumps(posted)
        part = self._path.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        # Windows refuses while the controller reads the file; then the next tick writes
        # it.
        with contextlib.suppress(PermissionError):
            os.replace(part, self._path)


def posted(folder: Path) -> list[Standing]:
    """The posts of the workers in a folder; only of those that are doing something."""
    standings = []
    for path in sorted(folder.glob("*.json")):
        # A worker may be replacing or removing its file; one that does nothing has
        # posted null, a TypeError here.
        with contextlib.suppress(OSError, ValueError, TypeError):
            fields = json.loads(path.read_text(encoding="utf-8"))
            standings.append(Standing(**fields))
    return standings


def _name(item: pytest.Item) -> str:
    """The name of a test without its recommender, which the line shows anyway."""
    relation = relation_of(item)
    if relation is None:
        return item.name
    name: str = getattr(item, "originalname", item.name)
    return f"{name}[{name_of(relation)}]"


class Showing:
    """A pytest plugin that shows the progress of a run.

    It begins with the first test that sends requests: other runs show nothing and have
    no thread.

    Args:
        config: The configuration of the pytest run.
        progress: The progress of this process.
    """

    def __init__(self, config: pytest.Config, progress: Progress) -> None:
        self._config = config
        self._progress = progress
        self._ticker: status_line.Ticker | None = None
        self._folder: Path | None = None  # where workers post, on their controller
        self._post: Path | None = None  # where this process posts, if it is a worker
        self._terminal: TextIO | None = None
        self._log: TextIO | None = None
        worker = getattr(config, "workerinput", None)
        if worker is not None:
            self._post = Path(worker[FOLDER_KEY], worker["workerid"])
            return
        # Now, while standard error is still the terminal: during tests it is redirected
        # to a file.
        self._terminal = status_line.terminal()
        if self._terminal is None:
            self._log = status_line.log()

    def begin(self) -> None:
        """Show the progress from now on."""
        is_silent = not self._config.pluginmanager.hasplugin("terminalreporter")
        if self._ticker is not None or (self._post is None and is_silent):
            return
        shown = self._shown()
        if shown is None:
            return
        self._ticker = status_line.Ticker(shown)
        if self._post is None:
            writer = self._config.get_terminal_writer()
            # All that pytest and its plugins print goes through it.
            setattr(writer, "write", self._ticker.alone(writer.write))  # noqa: B010 - of one object

    def _shown(self) -> status_line.Shown | None:
        """Where the progress of this process goes; None if it
        has neither a terminal nor a log.
        """
        if self._post is not None:
            return Posted(self._post.with_suffix(".json"), self._progress)
        if self._log is not None:
            return status_line.Logged(
                self._log,
                self._line,
                self._column,
                status_line.LOGGED_EVERY,
            )
        if self._terminal is None:
            return None
        if self._config.option.capture != "no":
            return status_line.Below(self._terminal, self._line)
        # Tests print to the terminal themselves, so a line below the cursor would be
        # overwritten.
        return status_line.Logged(
            self._terminal,
            self._line,
            self._column,
            status_line.LOGGED_EVERY_HERE,
        )

    def _line(self) -> str:
        """The line on this process and, on a controller, its workers."""
        standings = []
        if self._progress.standing is not None:
            standings.append(self._progress.standing)
        if self._folder is not None:
            standings += posted(self._folder)
        return line(standings)

    def _column(self) -> int:
        return self._config.get_terminal_writer().width_of_current_line

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Send a worker the path of the folder."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="recsys-mt-"))
        node.workerinput[FOLDER_KEY] = str(self._folder)
        self.begin()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Remove the post of a worker: it does nothing more."""
        if self._folder is not None:
            posted_file = self._folder / f"{node.gateway.id}.json"
            posted_file.unlink(missing_ok=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self,
        item: pytest.Item,
    ) -> Generator[None, object, object]:
        """Make a test that sends requests a phase of its own."""
        if not sends_requests(item):
            return (yield)
        with self._progress.doing(_name(item)):
            return (yield)

    def pytest_enter_pdb(self) -> None:
        """Leave the terminal to the debugger."""
        if self._ticker is not None:
            self._ticker.pause(True)

    def pytest_leave_pdb(self) -> None:
        """Show the progress again after the debugger."""
        if self._ticker is not None:
            self._ticker.pause(False)

    def pytest_unconfigure(self) -> None:
        """Release the terminal, and remove the posts of workers."""
        if self._ticker is not None:
            self._ticker.stop()
        for stream in (self._terminal, self._log):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
