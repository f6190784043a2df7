"""Finds the end of a title, without knowing any: markup,
years, ratings and comments around it.
"""

import re
from collections.abc import Iterator
from itertools import islice

from pytest_recsys_mt.llm.reading.spelling import normalise, once, split_year
from pytest_recsys_mt.llm.reading.wording import (
    BEGINS,
    GENRES,
    OPENING,
    PLACEHOLDER,
    REFUSAL,
    SAID,
    SMALL,
    phrase,
)
from pytest_recsys_mt.requests import Item

_PAIRS = {
    '"': '"', "“": "”", "”": "”", "„": "“”", "‘": "’", "'": "'", "«": "»", "»": "«", "‹": "›",
    "「": "」", "『": "』", "《": "》", "〈": "〉", "【": "】", "`": "`", "[": "]",
}  # fmt: skip
_EMPHASIS = ("***", "**", "__", "~~", "*", "_", "`")
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\((?:https?:)?[^()\s]{0,500}\)")
_BOXED = re.compile(r"\\(?:boxed|text|textbf)\{([^{}\n]{1,200})\}")
_REFERENCE = re.compile(r"(?<=\S)\s?\[\d{1,3}\]$")
_KEY = re.compile(r'[\s{\[,]*"[\w ]{1,40}"\s?:\s?(?:[\[{]\s?|(?=")|$)')

_LABEL, _DETAIL = (phrase(key, re.IGNORECASE) for key in ("label", "detail"))
_AND = re.compile(r"(?:and|und|y|et|e|och|en)\s(?=[^a-z\s])")
_TRANSLATED = phrase("translated")

RATING = phrase("rating", re.IGNORECASE)
_RATED = re.compile(r"\s?[:：]\s?(?:10|\d)$")
_DATED = re.compile(r"[(\[（]\s?(?:18|19|20)\d\d[^()\[\]（）]{0,60}[)\]）]")
_CUT = phrase("cut")
_PERSON = phrase("person")
_MOST_CUTS = 24
_MOST_CHARACTERS = 2_000
"""How far a line is read for the end of its title, and for its comment."""
_MEASURED = phrase("measured")
_SHORT = phrase("short")
# Longer values of an attribute are descriptions, and no names of its makers.
_MAKER = 80


@once
def unwrapped(text: str) -> str:
    """`text` without marks around all of it: emphasis,
    quotes, links, and trailing commas.
    """
    text = _BOXED.sub(r"\1", _LINK.sub(r"\1", text)).strip()
    if key := _KEY.match(text):
        text = text[key.end() :]
    for _ in range(6):
        before = text
        text = _REFERENCE.sub("", text.strip().rstrip(",;、，；")).strip()
        for mark in _EMPHASIS:
            inner = text[len(mark) : -len(mark)]
            if (
                text == f"{mark}{inner}{mark}"
                and inner.strip(mark[0])
                and mark not in inner
            ):
                text = inner
        closing = _PAIRS.get(text[:1])
        if (
            closing
            and len(text) > 2
            and text[-1] in closing
            and text[0] not in text[1:-1]
        ):
            text = text[1:-1]
        if text == before:
            break
    return text


def unlabelled(text: str) -> str:
    """`text` without a label before it: ``Movie 1: Heat``."""
    match = _LABEL.match(text) or _AND.match(text)
    rest = text[match.end() :] if match is not None else ""
    return unwrapped(rest) if rest.strip() else text


def retranslated(text: str) -> str:
    """A title with another name and its year in one bracket,
    with two brackets: ``A (B, 1999)``.
    """
    match = _TRANSLATED.match(text)
    if match is None:
        return ""
    year = f" ({match[3]})" if match[3] else ""
    return f"{unwrapped(match[1])} ({match[2].strip()}){year}"


def cuts(text: str) -> Iterator[tuple[str, str, bool]]:
    """The places where a title may end, the last first: the title, the rest, and
    whether it surely ends there.
    """
    for head, rest in _closed(text):
        yield unwrapped(head), rest, True
    rated = RATING.search(text)
    if rated is not None and text[: rated.start()].strip():
        yield unwrapped(text[: rated.start()]), text[rated.start() :], True
    for match in reversed(list(islice(_CUT.finditer(text), _MOST_CUTS))):
        head, rest = text[: match.start()], text[match.end() :]
        if not head.strip():
            continue
        dated = _DATED.match(
            text,
            match.start() + len(match[0]) - len(match[0].lstrip()),
        )
        if dated is not None:
            yield f"{unwrapped(head)} {dated[0]}", text[dated.end() :], True
        else:
            yield unwrapped(head), rest, _closes(match, rest)


def _closes(cut: re.Match[str], rest: str) -> bool:
    if cut["by"]:
        return _PERSON.match(rest) is not None
    if cut["is"]:
        return rest[:1].islower()
    return cut["link"] is not None or "\t" in cut[0] or "|" in cut[0]


def _closed(text: str) -> Iterator[tuple[str, str]]:
    mark = next(filter(text.startswith, _EMPHASIS), "")
    if mark:
        marked, closed, rest = text.removeprefix(mark).partition(mark)
        if closed and marked.strip():
            yield from _with_year(marked, rest)
    closing = _PAIRS.get(text[:1])
    if closing:
        ends = [
            at
            for at in range(2, min(len(text), 300))
            if text[at] in closing and not text[at + 1 : at + 2].isalnum()
        ]
        for end in reversed(ends[:8]):
            yield from _with_year(text[1:end], text[end + 1 :])


def _with_year(head: str, rest: str) -> Iterator[tuple[str, str]]:
    head = head.strip().rstrip(":-–— ")
    dated = _DATED.match(rest.lstrip(" *_"))
    if dated is not None:
        yield f"{head} {dated[0]}", rest[rest.find(dated[0]) + len(dated[0]) :]
    else:
        yield head, rest


def is_comment(rest: str, item: Item) -> bool:
    """Whether the rest after a title is a comment on it, and not a subtitle of another
    film.

    ``Alien: Resurrection`` is one title, ``Alien: a classic`` is a title and a comment.
    """
    rest = rest[:_MOST_CHARACTERS].strip().rstrip(")]）")
    if not any(c.isalnum() for c in rest):
        return True
    tokens = rest.split()
    plain = [token.strip(".,;:!?()[]*_\"'").casefold() for token in tokens]
    if all(
        g in GENRES
        for token in plain
        for g in token.split("/")
        if g and g not in ("and", "&")
    ):
        return True
    if RATING.search(" " + rest) or re.match(r"(?:18|19|20)\d\d\b", rest):
        return True
    small = [t for t in tokens if t[:1].islower()]
    if any(t.strip(".,;:!?()") in SAID for t in small):
        return True
    if plain[0] in BEGINS:
        return len(tokens) > 1 and tokens[1][:1].islower()
    significant = [t for t in small if len(t) > 3 and t.strip(".,;:") not in SMALL]
    if len(significant) > 1 and len(tokens) > 4:
        return True
    if not rest.isascii() and any(ord(c) > 0x2E7F for c in rest):
        return True
    if _MEASURED.search(rest) or (
        _SHORT.fullmatch(rest) and item.title and not item.title[0].islower()
    ):
        return True
    return any(
        normalise(name) and normalise(name) in normalise(rest)
        for value in item.attributes.values()
        for name in _names(value)
        if len(name) < _MAKER
    )


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value)) if isinstance(value, (list, tuple)) else ()


def title_of(text: str) -> str:
    """The likely title in a piece that begins with no
    known title, without year and comments.
    """
    text = unlabelled(text[:_MOST_CHARACTERS])
    for head, _ in _closed(text):
        return split_year(unwrapped(head))[0]
    rated = RATING.search(text)
    if rated is not None and text[: rated.start()].strip():
        text = text[: rated.start()]
    dated = _DATED.search(text)
    if dated is not None and text[: dated.start()].strip():
        return unwrapped(text[: dated.start()])
    nobody = Item("")
    for match in islice(_CUT.finditer(text), _MOST_CUTS):
        head, rest = text[: match.start()].strip(), text[match.end() :]
        if head and match[0].strip() not in ("(", "[") and is_comment(rest, nobody):
            return unwrapped(head)
    return unwrapped(text)


def unrated(text: str) -> str:
    """The title in ``Heat: 5``, which a whole number up to 10 rates, or an empty text."""
    rated = _RATED.search(text)
    return "" if rated is None else unwrapped(text[: rated.start()])


def year_in(text: str) -> str:
    """The year in brackets anywhere in a piece, ``(1995)``, or an empty text."""
    match = _DATED.search(text)
    return "" if match is None else match[0]


def unknown_title(text: str) -> str:
    """The possible title in a piece although no catalogue knows it, or an empty text."""
    text = text.strip()
    placeholder = re.fullmatch(
        r"(?i:\W?(?:none|n/a|empty|nothing)\W?)|\[[^\[\]\"'“‘]*\]|<[^<>]*>|\{[^{}]*\}",
        text,
    )
    if placeholder or _DETAIL.match(text) or text.rstrip("*_ ").endswith((":", "：")):
        return ""
    title = title_of(unwrapped(text))
    return title if is_title(title) and not _DETAIL.match(f"{title}:") else ""


def is_placeholder(text: str) -> bool:
    """Whether an entry is a word of a template, which the answer was to replace."""
    return PLACEHOLDER.fullmatch(unwrapped(text).strip(".")) is not None


def is_title(text: str) -> bool:
    """Whether a list entry may be a title: not a sentence, a
    heading, a detail or a placeholder.
    """
    if (
        not any(c.isalnum() for c in text)
        or len(text) > 150
        or text.endswith((":", "："))
    ):
        return False
    if _DETAIL.match(text) or (OPENING.match(text) and _is_sentence(text)):
        return False
    if (text[0] in "[<{" and text[-1] in "]>}") or (text.isdigit() and len(text) != 4):
        return False
    return not _is_sentence(text)


def _is_sentence(text: str) -> bool:
    tokens = text.split()
    significant = [
        t for t in tokens[1:] if t[:1].islower() and len(t) > 3 and t not in SMALL
    ]
    if len(tokens) > 14 or (len(significant) > 2 and len(tokens) > 5):
        return True
    if text.endswith(("。", "！", "？", "です", "ます")) or (
        significant and OPENING.match(text)
    ):
        return True
    return text.endswith((".", "!", "?")) and len(tokens) > 3 and len(significant) > 1


def is_capitalised(text: str) -> bool:
    """Whether a line is written like a title: longer words begin with a capital."""
    tokens = list(filter(None, (t.strip("\"'“”.,:;!?()") for t in text.split())))
    if not 1 <= len(tokens) <= 10:
        return False
    if OPENING.match(text) or text.endswith((".", "!", "?", "。")):
        return False
    head = tokens[0][0]
    small = [t for t in tokens if t[0].islower() and len(t) > 3 and t not in SMALL]
    return (head.isupper() or head.isdigit()) and not small


def is_refusal(text: str) -> bool:
    """Whether a sentence declines to answer."""
    return REFUSAL.search(text) is not None
