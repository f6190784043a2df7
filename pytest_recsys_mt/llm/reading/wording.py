"""The words that distinguish prose from titles, in the
languages of the models' answers.
"""

import re
import tomllib
from pathlib import Path
from typing import Any


def table(name: str) -> dict[str, Any]:
    """The words of a file of TOML next to this one."""
    return tomllib.loads(
        Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"),
    )


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def patterns(path: Path, **parts: str) -> dict[str, re.Pattern[str]]:
    """The regular expressions of a file of TOML, for either case,
    with `parts` in the place of their names.
    """
    text = path.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(name, part)
    return {
        name: re.compile("|".join(each), re.IGNORECASE)
        for name, each in tomllib.loads(text).items()
    }


_PHRASES: dict[str, str] = {
    name: phrase.replace("\n", "") for name, phrase in table("phrases").items()
}


def phrase(name: str, flags: int = 0) -> re.Pattern[str]:
    """The regular expression of that name in ``phrases.toml``."""
    return re.compile(_PHRASES[name], flags)


_WORDS = table("wording")
SMALL, SAID, BEGINS, GENRES = (
    word_set(_WORDS[key]) for key in ("small", "said", "begins", "genres")
)
ORDINALS, GRADES = _WORDS["ordinals"], _WORDS["grades"]
OPENING, REFUSAL, PLACEHOLDER = (
    re.compile("|".join(_WORDS[key]), re.IGNORECASE)
    for key in ("opening", "refusal", "placeholder")
)
