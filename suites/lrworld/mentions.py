"""Finds the options that a text mentions, and puts one character in the place of each.

Then no title can be taken for a sentence, a number or a mark, and no mark for a word.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from pytest_recsys_mt.llm.reading.spelling import unaccented
from pytest_recsys_mt.llm.reading.wording import patterns, word_set

MARK, TITLE, SHORT, BOTH = "\ue000", "\ue100", "\ue200", "\ue300"
"""First characters for: a mark, the text of an option, a title without its facts, a
mark and its text. The place of the option is added.
"""

UNCLEAR = "\ue400"
"""A mark that stands with the text of another option."""

MENTION = "[\ue000-\ue4ff]"

_FILM = re.compile(r"(?P<dated>(?P<title>[^;]+?) \(\d{4}\))(?:, [^;]*)?")
_ARTICLES = word_set(
    "the a an la le les l' il lo el los las der die das den o a os as het de",
)
_ARTICLE = re.compile(r"(.+), (The|A|An|La|Le|Les|Das|Der|Die|El|Il)")
_ALONE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
_LETTER = rf"[^\W_{_ALONE}]"
_WORD = re.compile(rf"(?!\W)[{_ALONE}]|[^\W_{_ALONE}]+")
"""A word; in scripts that write without spaces each letter is one."""
_PLAIN = re.compile(r"[^\W_]+")
_GAP = re.compile(r"(?:[^\w\n]|_)+")
_ANDS = word_set("and und et e y и و")
_APOSTROPHES = ("'", "’")
_AFTER_A = patterns(Path(__file__).with_name("answer_patterns.toml"), MENTION=MENTION)[
    "after_a"
]
_WRAP = r"[\s).:\]}>\"'*_`#/|=–—-]"
_LOWER = re.compile(
    r"(?:^|\b(?:answer|option|choice|letter|antwort|réponse|respuesta|resposta|risposta)\b)"
    r"[\s:=\"'(\[*_`]{0,9}(?:is\b)?[\s:=\"'(\[*_`]{0,9}([a-z])(?=[\s)\]\"'*_`.]{0,9}$)",
    re.IGNORECASE | re.MULTILINE,
)
_AFTER_SHORT = re.compile(
    r"[\s\"'»”*_`)\]}」』】]*(?:$|[.,!?;。！？،।]|[–—-]\s|[^\W\dA-Z_]|\n)",
)
_NAMED_BEFORE = re.compile(r"(?:^|\s)(?:[A-Z]\w*['’]?s?|\d+|&)[ ]$")


Part = tuple[str, bool]
"""A word of a form, and whether it stands right behind the one before."""


def place_of(mention: str) -> int | None:
    """The place of the option that a character stands for; None if it is unclear."""
    return None if mention == UNCLEAR else ord(mention) % 256


def plain(text: str) -> str:
    """Letters and digits in lower case, with single spaces for all else."""
    return " ".join(_PLAIN.findall(text.casefold()))


_plain_option = lru_cache(maxsize=1 << 13)(plain)  # many questions offer the same


def bare(text: str) -> str:
    """A text without what wraps a mark, in capitals."""
    return text.strip(" \t\n*_`\"'#>“”‘’«»„「」『』【】[](){}<.,;:!。").upper()


def clashes(marks: Sequence[str], options: Sequence[str]) -> set[str]:
    """The marks that are also the text of another option, and so say nothing alone."""
    places = {mark.casefold(): (place, mark) for place, mark in enumerate(marks)}
    named = (
        (at, places[text])
        for at, option in enumerate(options)
        if (text := _plain_option(option)) in places
    )
    return {mark for at, (place, mark) in named if at != place}


class Mentions:
    """The options of a question, in compatible characters (NFKC), with their marks,
    none if names are asked for.

    Words in `starts`, in lower case, may stand in capitals before a title without
    belonging to it.
    """

    def __init__(
        self,
        marks: Sequence[str],
        options: Sequence[str],
        starts: frozenset[str],
    ) -> None:
        self._starts = starts
        clash = clashes(marks, options)
        self._marks = {
            mark: UNCLEAR if mark in clash else chr(ord(MARK) + place)
            for place, mark in enumerate(marks)
        }
        self._forms = _forms(options, {mark.casefold() for mark in marks})
        self._by_word: dict[str, list[str]] = {}
        for form in sorted(self._forms, key=len, reverse=True):
            self._by_word.setdefault(next(_WORD.finditer(form))[0], []).append(form)
        listed = (
            "|".join(sorted(map(re.escape, marks), key=len, reverse=True)) or r"(?!)"
        )
        self._mark = re.compile(
            rf"(?<!{_LETTER})(?<!\d[.,:/-])(?<![+$€£-])(?<![^\W_]['&./-])({listed})"
            rf"(?!{_LETTER}|[%‰°]|['&+]\w|[.,:/-]\d|[./-]\w)",
        )

    def whole(self, text: str) -> str | None:
        """The mention if a text is a mark or an option and nothing else; else None."""
        if mark := self._marks.get(bare(text)):
            return mark
        form = self._forms.get(plain(text))
        return None if form is None else chr(ord(form[1]) + form[0])

    def masked(self, text: str) -> str:
        """The text with a character for each mention."""
        text = "".join(self._with_titles(text))
        if self._marks:
            text = _LOWER.sub(lambda found: found[0][:-1] + found[1].upper(), text)
            text = self._mark.sub(self._marked, text)
        joined = rf"([{MARK}-\ue0ff])({_WRAP}*)([{TITLE}-\ue2ff])"
        text = re.sub(joined, lambda found: _both(found[1], found[3]), text)
        behind = rf"([{TITLE}-\ue2ff])\s*[(\[]\s*(?:option|choice)?\s*([{MARK}-\ue0ff])\s*[)\]]"
        return re.sub(
            behind,
            lambda found: _both(found[2], found[1]),
            text,
            flags=re.IGNORECASE,
        )

    def _with_titles(self, text: str) -> Iterator[str]:
        words = [
            (found.start(), found.end(), found[0].casefold())
            for found in _WORD.finditer(text)
        ]
        done = at = 0
        while at < len(words):
            start, _, word = words[at]
            found = next(
                (
                    (form, last)
                    for form in self._by_word.get(word, ())
                    if (last := _last_of(text, words, at, _parts(form))) is not None
                ),
                None,
            )
            if found is None:
                at += 1
                continue
            form, last = found
            end = words[last][1]
            if words[last][2].isdigit() and text[end : end + 1] in (")", "]"):
                end += 1
            yield text[done:start]
            yield self._title(form, text, start, end)
            done, at = end, last + 1
        yield text[done:]

    def _title(self, form: str, whole: str, start: int, end: int) -> str:
        place, kind, text = self._forms[form]
        written = whole[start:end]
        single = " " not in plain(text)
        if kind == SHORT or single:
            named = _NAMED_BEFORE.search(whole[max(0, start - 40) : start])
            if named and named[0].strip().casefold() not in self._starts - _ARTICLES:
                return written
        if kind == SHORT and (
            not _AFTER_SHORT.match(whole, end)
            or (single and written not in (text, text.upper()))
        ):
            return written
        return chr(ord(kind) + place)

    def _marked(self, found: re.Match[str]) -> str:
        rest = found.string[found.end() :]
        word = re.match(r" ([A-Za-zÀ-ɏ]+)", rest)
        if found[1] == "A" and word and not _AFTER_A.fullmatch(word[1]):
            return found[1]  # the article
        return self._marks[found[1]]


def _both(mark: str, title: str) -> str:
    place = ord(mark) % 256
    return chr(ord(BOTH) + place) if ord(title) % 256 == place else UNCLEAR


@lru_cache(maxsize=1 << 12)
def _parts(form: str) -> list[Part]:
    return [
        (found[0], at > 0)
        for word in form.split()
        for at, found in enumerate(_WORD.finditer(word))
    ]


def _last_of(
    text: str,
    words: Sequence[tuple[int, int, str]],
    at: int,
    parts: Sequence[Part],
) -> int | None:
    """Where the last word of a form stands that begins with a word; None if it does not
    stand there. Between its words may be any punctuation, and "and" for a comma. No
    word goes on before or after it.
    """
    start = words[at][0]
    if (
        text[start - 1 : start] in _APOSTROPHES
        and text[max(0, start - 2) : start - 1].isalnum()
    ):
        return None
    for place, (word, joined) in enumerate(parts):
        if place:
            begun, at = words[at][1], at + 1
            if (
                at + 1 < len(words)
                and words[at][2] in _ANDS
                and word not in _ANDS
                and not joined
            ):
                if not _GAP.fullmatch(text, begun, words[at][0]):
                    return None
                begun, at = words[at][1], at + 1
            if at >= len(words):
                return None
            gap = text[begun : words[at][0]]
            if gap if joined else not _GAP.fullmatch(gap):
                return None
        if words[at][2] != word:
            return None
    end = words[at][1]
    goes_on = text[end : end + 1] in _APOSTROPHES and text[end + 1 : end + 2].isalnum()
    return None if goes_on else at


def _forms(options: Sequence[str], marks: set[str]) -> dict[str, tuple[int, str, str]]:
    found: list[tuple[str, tuple[int, str, str]]] = []
    for place, option in enumerate(options):
        for kind, text in _texts(option):
            found += [
                (plain(each), (place, kind, text)) for each in {text, unaccented(text)}
            ]
    places = Counter(form for form, _ in {(form, each[0]) for form, each in found})
    kept: dict[str, tuple[int, str, str]] = {}
    for form, each in found:
        if form and form not in marks and places[form] == 1:
            kept.setdefault(form, each)
    return kept


def _texts(option: str) -> Iterator[tuple[str, str]]:
    yield TITLE, option
    if film := _FILM.fullmatch(option):
        yield TITLE, film["dated"]
        yield SHORT, film["title"]
        if turned := _ARTICLE.fullmatch(film["title"]):
            yield SHORT, f"{turned[2]} {turned[1]}"
