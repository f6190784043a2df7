"""Every option and its ini key, as pytest gets them."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from pytest_recsys_mt.engine.settings import OPTIONS


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and its ini key."""
    group = parser.getgroup("recsys-mt", "metamorphic tests of recommender systems")
    for option in OPTIONS:
        if option.on_command_line:
            how: dict[str, Any] = {"action": "store_true", "default": False}
            if not option.flag:
                action = "append" if option.repeatable else "store"
                how = {"action": action, "default": None, "metavar": option.metavar}
                if option.bare is not None:
                    how |= {"nargs": "?", "const": option.bare}
            group.addoption(option.switch, dest=option.dest, help=option.help, **how)
        if option.in_ini:
            kind: Literal["args", "string"] = "args" if option.repeatable else "string"
            parser.addini(option.dest, option.help, type=kind, default=None)
