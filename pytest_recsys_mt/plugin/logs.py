"""Lines of pytest's log file and live log without keys:
a recommender may log its requests.
"""

import logging

import pytest

from pytest_recsys_mt.safety.redaction import redact

HANDLERS = ("log_file_handler", "log_cli_handler")
"""Those of pytest's plugin that write while a test runs; lines
that it captures are in the report of the test.
"""


class WithoutKeys(logging.Formatter):
    """A formatter whose lines hold variables' names in place of their keys.

    Args:
        inner: The formatter that makes the lines.
    """

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        return redact(self._inner.format(record))


def log_without_keys(config: pytest.Config) -> None:
    """Take keys out of lines that are logged from now on; pytest
    has no hook for a line of its log.
    """
    plugin = config.pluginmanager.get_plugin("logging-plugin")
    for name in HANDLERS:
        handler = getattr(plugin, name, None)
        formatter = getattr(handler, "formatter", None)
        if handler is not None and formatter is not None:
            handler.setFormatter(WithoutKeys(formatter))
