"""The words that distinguish prose from titles, in the languages of the models' answers."""

import re
import tomllib
from pathlib import Path


def word_list(text: str) -> tuple[str, ...]:
    """The words of a text, in its order."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def patterns(path: Path, **parts: str) -> dict[str, re.Pattern[str]]:
    """The regular expressions of a file of TOML, for either case, with `parts` in the place of their names."""
    text = path.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(name, part)
    return {
        name: re.compile("|".join(each), re.IGNORECASE)
        for name, each in tomllib.loads(text).items()
    }


_PHRASES: dict[str, str] = {
    name: phrase.replace("\n", "")
    for name, phrase in tomllib.loads(
        Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8")
    ).items()
}


def phrase(name: str, flags: int = 0) -> re.Pattern[str]:
    """The regular expression of that name in ``phrases.toml``."""
    return re.compile(_PHRASES[name], flags)


_WORDS = tomllib.loads(Path(__file__).with_name("wording.toml").read_text(encoding="utf-8"))
SMALL, SAID, BEGINS, GENRES = (
    word_set(_WORDS[key]) for key in ("small", "said", "begins", "genres")
)
OPENING, REFUSAL = (
    re.compile("|".join(_WORDS[key]), re.IGNORECASE) for key in ("opening", "refusal")
)
