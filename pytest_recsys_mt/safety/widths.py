"""The columns that a text takes on a terminal: East Asian wide characters take two,
combining ones none.
"""

import unicodedata


def width(text: str) -> int:
    """The columns of a text."""
    return len(text) if text.isascii() else sum(map(_of_character, text))


def _of_character(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitting(text: str, columns: int) -> str:
    """The beginning of a text that takes no more than some columns."""
    taken = 0
    for place, character in enumerate(text):
        taken += _of_character(character)
        if taken > columns:
            return text[:place]
    return text


def cut_to(text: str, columns: int) -> str:
    """A text in at most some columns; a cut one ends in three dots."""
    return text if width(text) <= columns else f"{fitting(text, columns - 3)}..."


def padded(text: str, columns: int) -> str:
    """A text with the blanks behind it that make it so wide."""
    return text + " " * (columns - width(text))
