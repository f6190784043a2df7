"""Finds the options that a text mentions, and puts one character in the place of each.

Then no title can be taken for a sentence, a number or a mark, and no mark for a word.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

MARK, TITLE, SHORT, BOTH = "\ue000", "\ue100", "\ue200", "\ue300"
"""First characters for: a mark, the text of an option, a title without its facts, a mark and its text.
The place of the option is added."""

UNCLEAR = "\ue400"
"""A mark that stands with the text of another option."""

MENTION = "[\ue000-\ue4ff]"

_FILM = re.compile(r"(?P<dated>(?P<title>[^;]+?) \(\d{4}\))(?:, [^;]*)?")
_ARTICLES = frozenset(
    [
        "the",
        "a",
        "an",
        "la",
        "le",
        "les",
        "l'",
        "il",
        "lo",
        "el",
        "los",
        "las",
        "der",
        "die",
        "das",
        "den",
        "o",
        "a",
        "os",
        "as",
        "het",
        "de",
    ]
)
_ARTICLE = re.compile(r"(.+), (The|A|An|La|Le|Les|Das|Der|Die|El|Il)")
_ALONE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
_LETTER = rf"[^\W_{_ALONE}]"
_BETWEEN = r"(?:[^\w\n]|_)+(?:(?:and|und|et|e|y|и|و)\s+)?"
_AFTER_A = frozenset(
    [
        "is",
        "would",
        "seems",
        "fits",
        "looks",
        "should",
        "must",
        "because",
        "since",
        "as",
        "for",
        "over",
        "rather",
        "but",
        "instead",
        "next",
        "ist",
        "wäre",
        "wählen",
        "nehmen",
        "sondern",
        "weil",
        "est",
        "serait",
        "mais",
        "car",
        "es",
        "sería",
        "sino",
        "porque",
        "pero",
        "é",
        "seria",
        "mas",
        "è",
        "sarebbe",
        "ma",
        "perché",
        "kiezen",
        "maar",
        "want",
        "är",
        "er",
        "jest",
        "ali",
        "değil",
        "çünkü",
        "adalah",
        "karena",
        "là",
        "vì",
    ]
)
"""Words that may follow the mark A; before any other word it is an article."""
_WRAP = r"[\s).:\]}>\"'*_`#/|=–—-]"
_LOWER = re.compile(
    r"(?:^|\b(?:answer|option|choice|letter|antwort|réponse|respuesta|resposta|risposta)\b)"
    r"[\s:=\"'(\[*_`]{0,9}(?:is\b)?[\s:=\"'(\[*_`]{0,9}([a-z])(?=[\s)\]\"'*_`.]{0,9}$)",
    re.IGNORECASE | re.MULTILINE,
)
_AFTER_SHORT = re.compile(r"[\s\"'»”*_`)\]}」』】]*(?:$|[.,!?;。！？،।]|[–—-]\s|[^\W\dA-Z_]|\n)")
_NAMED_BEFORE = re.compile(r"(?:^|\s)(?:[A-Z]\w*['’]?s?|\d+|&)[ ]$")


def place_of(mention: str) -> int | None:
    """The place of the option that a character stands for; None if it is unclear."""
    return None if mention == UNCLEAR else ord(mention) % 256


def plain(text: str) -> str:
    """Letters and digits in lower case, with single spaces for all else."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


class Mentions:
    """The options of a question.

    Args:
        marks: Their marks; none if names are asked for.
        options: Their texts, in compatible characters (NFKC).
        starts: Words that may stand in capitals before a title without belonging to it, in lower case.
    """

    def __init__(
        self, marks: Sequence[str], options: Sequence[str], starts: frozenset[str]
    ) -> None:
        self._starts = starts
        self._marks = {mark: place for place, mark in enumerate(marks)}
        # A mark that is also the text of another option says nothing alone.
        self._clash = {
            mark
            for place, option in enumerate(map(plain, options))
            for mark in marks
            if option == mark.casefold() and self._marks[mark] != place
        }
        self._forms = _forms(options, {mark.casefold() for mark in marks})
        forms = sorted(self._forms, key=len, reverse=True)
        self._titles = re.compile(_pattern(forms))
        listed = "|".join(sorted(map(re.escape, marks), key=len, reverse=True)) or r"(?!)"
        self._mark = re.compile(
            rf"(?<!{_LETTER})(?<!\d[.,:/-])(?<![+$€£-])(?<![^\W_]['&./-])({listed})"
            rf"(?!{_LETTER}|[%‰°]|['&+]\w|[.,:/-]\d|[./-]\w)"
        )

    def whole(self, text: str) -> str | None:
        """The mention if a text is a mark or an option and nothing else; else None."""
        found = plain(text)
        bare = text.strip(" \t\n*_`\"'#>“”‘’«»„「」『』【】[](){}<.,;:!。")
        place = self._marks.get(bare.upper())
        if place is not None:
            return UNCLEAR if bare.upper() in self._clash else chr(ord(MARK) + place)
        form = self._forms.get(found)
        return None if form is None else chr(ord(form[1]) + form[0])

    def masked(self, text: str) -> str:
        """The text with a character for each mention."""
        text = self._titles.sub(self._title, text)
        if self._marks:
            text = _LOWER.sub(self._upper, text)
            text = self._mark.sub(self._marked, text)
        joined = rf"([{MARK}-\ue0ff])({_WRAP}*)([{TITLE}-\ue2ff])"
        text = re.sub(joined, lambda found: _both(found[1], found[3]), text)
        behind = rf"([{TITLE}-\ue2ff])\s*[(\[]\s*(?:option|choice)?\s*([{MARK}-\ue0ff])\s*[)\]]"
        return re.sub(behind, lambda found: _both(found[2], found[1]), text, flags=re.IGNORECASE)

    def _title(self, found: re.Match[str]) -> str:
        form = self._forms.get(plain(found[0]))
        if form is None:  # an "and" for a comma: the parts are those of one option
            form = next(
                (form for text, form in self._forms.items() if _loose(text) == _loose(found[0])),
                None,
            )
        if form is None:
            return found[0]
        place, kind, text = form
        single = " " not in plain(text)
        if kind == SHORT or single:
            before = found.string[: found.start()]
            named = _NAMED_BEFORE.search(before[-40:])
            if named and not self._may_start(named[0]):
                return found[0]
        if kind == SHORT and (
            not _AFTER_SHORT.match(found.string, found.end())
            or (single and found[0] not in (text, text.upper()))
        ):
            return found[0]
        return chr(ord(kind) + place)

    def _may_start(self, word: str) -> bool:
        return word.strip().casefold() in self._starts - _ARTICLES

    def _upper(self, found: re.Match[str]) -> str:
        return found[0][:-1] + found[1].upper()

    def _marked(self, found: re.Match[str]) -> str:
        rest = found.string[found.end() :]
        word = re.match(r" ([A-Za-zÀ-ɏ]+)", rest)
        if found[1] == "A" and word and word[1].lower() not in _AFTER_A:
            return found[1]  # the article
        return UNCLEAR if found[1] in self._clash else chr(ord(MARK) + self._marks[found[1]])


def _both(mark: str, title: str) -> str:
    place = ord(mark) % 256
    return chr(ord(BOTH) + place) if ord(title) % 256 == place else UNCLEAR


def _loose(text: str) -> str:
    return " ".join(
        word for word in plain(text).split() if word not in ("and", "und", "et", "e", "y", "и", "و")
    )


def _pattern(forms: Sequence[str]) -> str:
    """Finds forms, the first of them rather than a later one, where no word goes on before or after them.

    Between their words may be any punctuation, and "and" for a comma. Words of scripts without spaces may
    stand beside others.
    """
    spaced, parted = list[str](), list[str]()
    for form in forms:
        words = form.split()
        closing = r"[)\]]?" if words[-1].isdigit() else ""
        parts = spaced if not re.search(f"^[{_ALONE}]|[{_ALONE}]$", form) else parted
        # Only the words: to compile the ranges of scripts for any case takes half a second.
        parts.append(f"(?i:{_BETWEEN.join(map(re.escape, words))}){closing}")
    before, after = rf"(?<!{_LETTER})(?<![^\W_]['’])", rf"(?!{_LETTER}|['’]\w)"
    found = [f"{before}(?:{'|'.join(spaced)}){after}"] if spaced else []
    return "|".join([*found, *parted]) or r"(?!)"


def _forms(options: Sequence[str], marks: set[str]) -> dict[str, tuple[int, str, str]]:
    """The plain forms of the options that name one of them: its place, its kind, and its text."""
    found: list[tuple[str, tuple[int, str, str]]] = []
    for place, option in enumerate(options):
        for kind, text in _texts(option):
            found.append((plain(text), (place, kind, text)))
    places = Counter(form for form, _ in {(form, each[0]) for form, each in found})
    kept: dict[str, tuple[int, str, str]] = {}
    for form, each in found:
        if form and form not in marks and places[form] == 1:
            kept.setdefault(form, each)
    return kept


def _texts(option: str) -> Iterator[tuple[str, str]]:
    """An option, and for a film its title with and without the year."""
    yield TITLE, option
    if film := _FILM.fullmatch(option):
        yield TITLE, film["dated"]
        yield SHORT, film["title"]
        if turned := _ARTICLE.fullmatch(film["title"]):
            yield SHORT, f"{turned[2]} {turned[1]}"
