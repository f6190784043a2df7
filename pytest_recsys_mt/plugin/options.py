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
            keywords: dict[str, Any] = {"dest": option.dest, "default": None, "help": option.help}
            if option.flag:
                keywords.update(action="store_true", default=False)
            else:
                keywords.update(metavar=option.metavar)
                if option.repeatable:
                    keywords.update(action="append")
            group.addoption(option.switch, **keywords)
        if option.in_ini:
            kind: Literal["args", "string"] = "args" if option.repeatable else "string"
            parser.addini(option.dest, option.help, type=kind, default=None)
