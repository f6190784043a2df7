"""Texts and tables in Markdown, as GitHub shows it."""

import re
from collections.abc import Sequence

from pytest_recsys_mt.safety.sanitize import one_line


def in_markdown(text: str) -> str:
    """`text` literally, also in a table: no markup, no link, no mention, no line break."""
    plain = one_line(text).replace("&", "&amp;").replace("<", "&lt;")
    # GitHub links a name behind @ and a number behind # even then, unless something
    # stands between.
    plain = re.sub(r"(?<!\w)@|#", "\\g<0>\u200b", plain)
    # Within a word, an underscore marks nothing up, and @ only begins an address of
    # mail.
    marks = r"[\\`*\[\]|~#!]|(?<!\w)[_@]|_(?!\w)|@(?=[\w-]+\.)"
    return re.sub(marks, lambda found: f"&#{ord(found[0])};", plain)


def in_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    wordy: int = 1,
) -> list[str]:
    """The lines of a table of marked up texts, whose columns
    after the first `wordy` ones are numbers.
    """
    # Three dashes between blanks would be a command to Buildkite, which `Safe` breaks.
    sides = [*[":---"] * wordy, *["---:"] * (len(columns) - wordy)]
    return [f"| {' | '.join(row)} |" for row in (columns, sides, *rows)]
