"""Users' code that runs for a test before the test: its output, logs, warnings and
random states are kept for the test.
"""

from __future__ import annotations

import contextlib
import io
import logging.handlers
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from pytest_recsys_mt.plugin.items import time_limit


class Apart:
    """Surrounds all users' code that runs for a test before it, and repeats its output
    within the test.

    Args:
        item: The test.
        begin: Called before each stretch; records that requests from then on are sent
            for this test.

    Attributes:
        seconds: The time that the stretches took.
    """

    def __init__(self, item: pytest.Item, begin: Callable[[], None]) -> None:
        self.seconds = 0.0
        self._item = item
        self._begin = begin
        self._out = _text_buffer()
        self._err = _text_buffer()
        self._warned: list[warnings.WarningMessage] = []
        self._log = logging.handlers.BufferingHandler(sys.maxsize)
        self._generators: tuple[Any, Any] | None = None  # as the last stretch left them

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Surround one stretch of users' code."""
        began = time.perf_counter()
        self._begin()
        generators_outside = _generators()
        handlers_outside = logging.root.handlers
        _set_generators(self._generators or generators_outside)
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
                self._generators = _generators()
                _set_generators(generators_outside)
                # A handler that the body added stays, as it would in its test.
                added = [
                    handler
                    for handler in logging.root.handlers
                    if handler is not self._log
                ]
                logging.root.handlers = handlers_outside + added
                self._warned += warned
                self.seconds += time.perf_counter() - began

    def hand_over(self) -> None:
        """Repeat the output, logs and warnings from before the
        test within it.
        """
        for buffer, stream in ((self._out, sys.stdout), (self._err, sys.stderr)):
            buffer.flush()
            stream.write(buffer.buffer.getvalue().decode("utf-8", "replace"))
        for record in self._log.buffer:
            logging.root.callHandlers(record)
        for warned in self._warned:
            warnings.warn_explicit(
                warned.message,
                warned.category,
                warned.filename,
                warned.lineno,
                source=warned.source,
            )

    def draw_on(self) -> None:
        """Set the random generators to where the body stopped."""
        if self._generators is not None:
            _set_generators(self._generators)


def _text_buffer() -> io.TextIOWrapper[io.BytesIO]:
    """A stream in memory that has a buffer of bytes, as standard output has."""
    return io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True)


def _generators() -> tuple[Any, Any]:
    """The states of the generators of `random` and of numpy."""
    return random.getstate(), np.random.get_state()


def _set_generators(states: tuple[Any, Any]) -> None:
    of_random, of_numpy = states
    random.setstate(of_random)
    np.random.set_state(of_numpy)
