"""A project's own configuration of pytest, and lines for
it in its own format.
"""

import configparser
import contextlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_recsys_mt.safety.files import content_of, toml_of

__all__ = ["Configuration", "existing", "ini_lines"]

FILES = (
    "pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg",
)  # fmt: skip
"""Files that pytest reads, in its order: the first one
that configures pytest hides the others.
"""


@dataclass(frozen=True)
class Configuration:
    """A file of the current folder that configures pytest."""

    file: str
    table: str  # the section or table that is pytest's
    says: Mapping[str, Any]

    @property
    def models(self) -> list[str]:
        """The recommenders that it names; a text is split as
        a shell does it, as pytest does.
        """
        named = self.says.get("recsys_model")
        if isinstance(named, list):
            return list(map(str, named))
        text = "" if named is None else str(named)
        try:
            return shlex.split(text)
        except ValueError:  # an open quote
            return [text]

    def lacks(self, settings: Mapping[str, str]) -> dict[str, str]:
        """The settings that it does not have; the recommender
        and the data also if it has others.
        """
        same = {
            "recsys_model": self.models == [settings["recsys_model"]],
            "recsys_data": self.says.get("recsys_data") == settings.get("recsys_data"),
        }
        return {
            name: value
            for name, value in settings.items()
            if not same.get(name, name in self.says)
        }

    def lines(self, settings: Mapping[str, str]) -> list[str]:
        """The settings as lines of this file, below the head of their table."""
        if not self.file.endswith(".toml"):
            return [f"[{self.table}]", *ini_lines(settings)]
        # JSON's texts are TOML's. pytest takes a list of recommenders in each of its
        # TOML tables.
        lines = (
            f"{name} = {json.dumps([value] if name == 'recsys_model' else value, ensure_ascii=False)}"
            for name, value in settings.items()
        )
        return [f"[{self.table}]", *lines]


def ini_lines(settings: Mapping[str, str]) -> list[str]:
    """The settings as lines of an ini file, where pytest
    splits recommenders as a shell does.
    """
    return [
        f"{name} = {shlex.quote(value) if name == 'recsys_model' else value}"
        for name, value in settings.items()
    ]


def existing() -> Configuration | None:
    """The file that configures pytest in the current
    folder, and which another file would hide.
    """
    return next(filter(None, map(_read, FILES)), None)


def _read(name: str) -> Configuration | None:
    try:
        text = content_of(Path(name)).decode("utf-8")
    except (OSError, ValueError):
        return None
    if name.endswith(".toml"):
        return _read_toml(name, text)
    section = "tool:pytest" if name == "setup.cfg" else "pytest"
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    with contextlib.suppress(configparser.Error):
        parser.read_string(text)
    if parser.has_section(section):
        return Configuration(name, section, dict(parser.items(section)))
    return Configuration(name, section, {}) if _alone(name) else None


def _read_toml(name: str, text: str) -> Configuration | None:
    document: dict[str, Any] = {}
    with contextlib.suppress(ValueError):
        document = toml_of(text.encode())
    if _alone(name):
        return Configuration(name, "pytest", _table(document, "pytest"))
    found = _table(document, "tool")
    if "pytest" not in found:
        return None
    table = _table(found, "pytest")
    if table.keys() - {"ini_options"}:
        return Configuration(name, "tool.pytest", table)
    return Configuration(name, "tool.pytest.ini_options", _table(table, "ini_options"))


def _table(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def _alone(name: str) -> bool:
    return Path(name.removeprefix(".")).stem == "pytest"
