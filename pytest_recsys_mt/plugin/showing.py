"""Shows how far the run is, on whichever process has the terminal; workers post theirs in a folder."""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Generator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.calls.progress import Progress, Standing, line
from pytest_recsys_mt.metamorphic import name_of
from pytest_recsys_mt.plugin import status_line
from pytest_recsys_mt.plugin.collection import asks
from pytest_recsys_mt.plugin.items import relation_of

FOLDER_KEY = "recsys_mt_progress"
"""Where workers post how far they are: xdist carries no messages of plugins while tests run."""

POSTED_EVERY = 0.5


class Posted(status_line.Shown):
    """Writes how far a worker is to a file, which the controller reads."""

    every = POSTED_EVERY

    def __init__(self, path: Path, progress: Progress) -> None:
        self._path = path
        self._progress = progress

    def tick(self) -> None:
        """Write the file anew, whole."""
        standing = self._progress.standing
        text = json.dumps(None if standing is None else asdict(standing))
        part = self._path.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        # Windows refuses while the controller reads the file; then the next tick writes it.
        with contextlib.suppress(PermissionError):
            os.replace(part, self._path)


def posted(folder: Path) -> list[Standing]:
    """What the workers have posted in a folder; of those that do something."""
    found = []
    for path in sorted(folder.glob("*.json")):
        with contextlib.suppress(OSError, ValueError, TypeError):
            found.append(Standing(**json.loads(path.read_text(encoding="utf-8"))))
    return found


def _name(item: pytest.Item) -> str:
    relation = relation_of(item)
    if relation is None:
        return item.name
    name: str = getattr(item, "originalname", item.name)
    return f"{name}[{name_of(relation)}]"


class Showing:
    """A pytest plugin that shows the progress of a run.

    It begins with the first test that asks a recommender: other runs show nothing and have no thread.
    """

    def __init__(self, config: pytest.Config, progress: Progress) -> None:
        self._config = config
        self._progress = progress
        self._ticker: status_line.Ticker | None = None
        self._folder: Path | None = None
        worker = getattr(config, "workerinput", None)
        self._post = None if worker is None else Path(worker[FOLDER_KEY], worker["workerid"])
        # Now, while standard error is still the terminal: during tests it is redirected to a file.
        self._terminal = None if worker is not None else status_line.terminal()
        self._log = None if worker is not None or self._terminal is not None else status_line.log()

    def begin(self) -> None:
        """Show the progress from now on."""
        silent = self._post is None and not self._config.pluginmanager.hasplugin("terminalreporter")
        shown = None if silent or self._ticker is not None else self._shown()
        if shown is None:
            return
        self._ticker = status_line.Ticker(shown)
        if self._post is None:
            writer = self._config.get_terminal_writer()
            # All that pytest and its plugins print goes through it.
            setattr(writer, "write", self._ticker.alone(writer.write))  # noqa: B010 - of one object

    def _shown(self) -> status_line.Shown | None:
        if self._post is not None:
            return Posted(self._post.with_suffix(".json"), self._progress)
        stream = self._terminal or self._log
        if stream is None:
            return None
        if self._terminal is not None and self._config.option.capture != "no":
            return status_line.Below(stream, self._line)
        every = (
            status_line.LOGGED_EVERY if self._terminal is None else status_line.LOGGED_EVERY_HERE
        )
        return status_line.Logged(stream, self._line, self._column, every)

    def _line(self) -> str:
        own = self._progress.standing
        standings = [] if own is None else [own]
        return line(standings if self._folder is None else standings + posted(self._folder))

    def _column(self) -> int:
        return self._config.get_terminal_writer().width_of_current_line

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Name the folder to a worker."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="recsys-mt-"))
        node.workerinput[FOLDER_KEY] = str(self._folder)
        self.begin()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Forget what a worker posted: it does nothing more."""
        if self._folder is not None:
            (self._folder / f"{node.gateway.id}.json").unlink(missing_ok=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """A test that asks a recommender is a phase of its own."""
        with self._progress.doing(_name(item)) if asks(item) else contextlib.nullcontext():
            return (yield)

    def pytest_enter_pdb(self) -> None:
        """The debugger has the terminal."""
        if self._ticker is not None:
            self._ticker.pause(True)

    def pytest_leave_pdb(self) -> None:
        """The debugger gives it back."""
        if self._ticker is not None:
            self._ticker.pause(False)

    def pytest_unconfigure(self) -> None:
        """Release the terminal, and remove what workers posted."""
        if self._ticker is not None:
            self._ticker.stop()
        for stream in (self._terminal, self._log):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
