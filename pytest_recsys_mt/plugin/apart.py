"""What the body of a test says, warns of, logs and draws before its test, kept for the test."""

from __future__ import annotations

import contextlib
import io
import logging
import random
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.plugin.state import asks_now


class Apart:
    """Surrounds every stretch of a body that runs before its test, and hands over what it kept.

    Args:
        item: The test.
        run: The run.

    Attributes:
        seconds: The time that the stretches took.
    """

    def __init__(self, item: pytest.Item, run: Run) -> None:
        self.seconds = 0.0
        self._item = item
        self._run = run
        self._out, self._err = (
            io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True)
            for _ in range(2)
        )
        self._warned: list[warnings.WarningMessage] = []
        self._log = _Records()
        self._drawn: tuple[Any, Any] | None = None

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        began = time.perf_counter()
        asks_now(self._item, self._run)
        outside, handlers = _draws(), logging.root.handlers
        _draw_as(self._drawn or outside)
        logging.root.handlers = [self._log]
        with (
            time_limit(self._item, counts=True),
            contextlib.redirect_stdout(self._out),
            contextlib.redirect_stderr(self._err),
            warnings.catch_warnings(record=True) as warned,
        ):
            try:
                yield
            finally:
                self._drawn = _draws()
                _draw_as(outside)
                # A handler that the body added stays, as it would in its test.
                added = [each for each in logging.root.handlers if each is not self._log]
                logging.root.handlers = handlers + added
                self._warned += warned
                self.seconds += time.perf_counter() - began

    def hand_over(self) -> None:
        """Say within the test what was said before it, and go on drawing where the body stopped."""
        for kept, stream in ((self._out, sys.stdout), (self._err, sys.stderr)):
            kept.flush()
            stream.write(kept.buffer.getvalue().decode("utf-8", "replace"))
        for record in self._log.records:
            logging.root.callHandlers(record)
        if self._drawn is not None:
            _draw_as(self._drawn)
        for each in self._warned:
            warnings.warn_explicit(
                each.message, each.category, each.filename, each.lineno, source=each.source
            )


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextlib.contextmanager
def time_limit(item: pytest.Item, *, counts: bool) -> Iterator[None]:
    """Within it, the limit that pytest-timeout has for a test counts, or does not and then begins anew."""
    plugin = item.config.pluginmanager.getplugin("timeout")
    settings_of = getattr(plugin, "_get_item_settings", None)
    settings = None if settings_of is None else settings_of(item)
    if settings is None or (settings.timeout or 0) <= 0:
        yield
        return

    def count(on: bool) -> None:
        if on:
            item.ihook.pytest_timeout_set_timer(item=item, settings=settings)
        else:
            item.ihook.pytest_timeout_cancel_timer(item=item)

    count(counts)
    try:
        yield
    finally:
        count(not counts)


def _draws() -> tuple[Any, Any]:
    return random.getstate(), np.random.get_state()


def _draw_as(state: tuple[Any, Any]) -> None:
    random.setstate(state[0])
    np.random.set_state(state[1])
