"""Reads the option that a model chose from its text.

A sentence with any word that may deny, doubt or quote announces nothing, so a text that
is not understood is a missed answer, and never another option.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pytest_recsys_mt.llm.reading.wording import patterns, word_set
from pytest_recsys_mt.suites.lrworld.answer_words import groups, words_of
from pytest_recsys_mt.suites.lrworld.containers import opened
from pytest_recsys_mt.suites.lrworld.mentions import (
    BOTH,
    MENTION,
    TITLE,
    UNCLEAR,
    Mentions,
    bare,
    clashes,
    place_of,
)
from pytest_recsys_mt.suites.lrworld.question import Question
from pytest_recsys_mt.suites.lrworld.question_texts import labels

_SAYS = patterns(Path(__file__).with_name("answer_patterns.toml"), MENTION=MENTION)
_SENTENCES = re.compile(r"(?<=[.!?])[\"'»”)\]*_]*\s+|(?<=[。！？؟।])|\n")
_OPENS = re.compile(r":[ \t*_]*\n[\s*_]*(?:```\w*\s*)?")
_HEADING = re.compile(
    r"(?m)^(?:#{1,6}|\*\*)[ *_]*+([^\n:\ue000-\ue4ff]{1,60}?)[ *_]*\n+(?=\S)",
)
_OPENS_NO_LIST = re.compile(
    _OPENS.pattern
    + r"(?![\s*_`#(]*[\ue000-\ue0ff][).:\]*_`]++[ \t]*[^\s\ue000-\ue4ff])",
)
_LABELS = word_set("option choice candidate number index letter")


_INITIAL = re.compile(
    r"[\ue000-\ue0ff](?=\.?(?: [-–])? (?!(?:The|This|That|It|Its|Because|Since|As|I|My|Reason\w*|Answer|User\w*|Yes|No|Thank\w*|He|She|They|"
    r"Based|Explanation|Note)\b)(?:[A-Z][\w'’-]*\.? ?){1,3}[.!]?(?:\n|$))",
)
"""A letter before a name that is no option: "D. Lynch"."""
_LIST_ITEM = re.compile(r"^[\s*_`#(]*[\ue000-\ue0ff][).:\]*_`]+\s*\S")
_CLAUSES = re.compile(r"[,;،、]|\s[-–—]+\s|(?<=\w)[–—](?=\w)")
_ASIDE = re.compile(r"[(\[][^()\[\]\ue000-\ue4ff]*[)\]]")
_ONE = re.compile(MENTION)
_NUMBER_OF = word_set("of from among top all only the von aller aus as из any these")
MOST = 10
"""Mentions in a sentence that may be an answer; one with more is a list."""

_COUNTED = word_set("answer option choice correct right best prediction recommendation")
_OR = word_set("or and oder und ou et o y e или и of en")
_OWN = word_set("my final")
_STARTS = word_set(
    "the my i i'd i'll die meine ich la ma je mi yo minha eu mio mia io mijn ik",
)
_CONCLUDES = word_set(
    "so therefore thus hence also donc entonces итак overall ultimately consequently",
)
_NUMBERED = (
    (re.compile(rf"第\s*({MENTION})\s*(?:个选项|個選項|个|個|项|項|番)?"), r"\1"),
    (re.compile(rf"({MENTION})\s*(?:番目|番|号|號|번)"), r"\1"),
    (re.compile(rf"\b[Nn][or]\.?\s*({MENTION})"), r"number \1"),
)

_STAND_FOR = (
    (_SAYS["best"], "best"),
    (_SAYS["offered"], r"\1"),
    (_SAYS["answers"], " the answer is"),
    (_SAYS["wins"], r"\1 is the answer"),
    (_SAYS["stands_out"], r"\1 is"),
)
"""Phrases of a sentence, and the words that they stand for."""


@dataclass(frozen=True)
class _Said:
    """One sentence that may be an answer; `strong` if a word
    announces it, `label` if only "option 3" does.
    """

    choice: int | None
    strong: bool
    label: bool = False
    by_text: bool = False  # whether the text of the option names it, not its mark


def read(
    text: str,
    question: Question,
    *,
    think: bool = False,
    cut_off: bool = False,
) -> int | None:
    """The option that an answer chooses, by its place from 0; None if it chooses none.

    The answer is what sentences announce, else what lines of nothing but an option
    name. All must be the same option. What stands in a box, in tags such as
    ``<answer>``, or as ``"answer"`` in JSON is announced; reasoning in ``<think>`` is
    not read.

    If a model was asked to `think`, the last verdict counts, not the only one, and it
    must be announced, or begin the answer: a line of nothing but an option may be one
    that it weighs. Reasoning that was cut off chooses nothing.
    """
    if think and cut_off:
        return None
    if cut_off:  # an answer stands first, before the words that were cut off
        text, ended, _ = text.strip().partition("\n")
        done = _SENTENCES.split(text)[:-1]
        text = text if ended or not done else " ".join(done)
    marks = labels(question)
    if (mark := bare(text)) in marks and mark not in clashes(marks, question.options):
        return marks.index(mark)  # as most answers are
    options = _mentions(marks, question.options)
    plain = opened(text)
    whole = options.whole(plain)
    if whole is not None:
        return place_of(whole)
    masked = _without_target(_INITIAL.sub(UNCLEAR, options.masked(plain)), question)
    if _SAYS["none"].search(masked):
        return None
    said = list(_verdicts(masked, numbered="1" in marks))
    if _SAYS["refuses"].search(masked):
        said = [each for each in said if each.strong and not each.label]
    strong = [each for each in said if each.strong]
    lines = [each for each in said if not each.strong]
    begins = list(_verdicts(masked.strip().partition("\n")[0], numbered="1" in marks))
    if think:
        alike = len({(each.choice, each.by_text) for each in lines}) < 2
        first = [each.choice for each in begins if each in said and alike]
        last = [each.choice for each in strong if not each.label]
        return [None, *first, *last][-1]
    if not strong and not any(each in said for each in begins):
        return None  # an option that stands below other words may be one that it weighs
    # Several lines are the options once more, or a list; one line next to an
    # announcement is an answer too.
    single = lines if len({each.choice for each in lines}) == 1 else []
    found = {each.choice for each in ([*strong, *single] if strong else lines)}
    return found.pop() if len(found) == 1 else None


def llara(text: str, options: Sequence[str]) -> int | None:
    """LLaRA's reading of an answer: the one option in the first line, found as a
    substring in lower case, or None.

    The paper's table 8 uses it (https://github.com/ljy0ustc/LLaRA). An option within
    another makes the answer invalid.
    """
    lines = text.strip().splitlines()
    first = lines[0].lower() if lines else ""
    found = [
        place for place, option in enumerate(options) if option.strip().lower() in first
    ]
    return found[0] if len(found) == 1 else None


@lru_cache(maxsize=64)
def _mentions(marks: tuple[str, ...], options: tuple[str, ...]) -> Mentions:
    texts = [" ".join(unicodedata.normalize("NFKC", each).split()) for each in options]
    return Mentions(marks, texts, groups()["safe"].whole | groups()["because"].whole)


def _without_target(text: str, question: Question) -> str:
    """A text without "to ..." for the item that a question
    asks to compare the options with.
    """
    target = question.shown.get("target")
    return (
        _to(target).sub("", text)
        if isinstance(target, str) and target.strip()
        else text
    )


@lru_cache(maxsize=64)
def _to(target: str) -> re.Pattern[str]:
    parts = re.match(r"(.*?)(\(\d{4}\))?(?:,(.*))?$", target, re.DOTALL)
    assert parts is not None, "any text matches"
    gap = r"[\W_]{1,4}"
    title, *further = (
        gap.join(map(re.escape, re.findall(r"\w+", part))) for part in parts.groups("")
    )
    said = title + "".join(f"(?:{gap}{part})?" for part in further if part)
    # A colon behind it stays: an answer may follow.
    return re.compile(
        rf"\s+(?:to|with|for)\s+[\"'“*_]*{said}[)\"'”*_]*(?!\w)" if title else "(?!)",
        re.IGNORECASE,
    )


def _verdicts(text: str, *, numbered: bool) -> Iterator[_Said]:
    found: list[_Said] = []
    for sentence in _sentences(text, numbered=numbered):
        if found and _takes_back(sentence):
            found = []
        if (said := _said(sentence)) is not None:
            found.append(said)
    yield from found


def _takes_back(sentence: str) -> bool:
    """Whether a sentence takes back an earlier one: "Wait,
    that is wrong", but not "the others are".
    """
    if (
        _SAYS["no"].match(sentence)
        or _SAYS["but"].match(sentence)
        or _SAYS["revises"].search(sentence)
    ):
        return True
    return groups()["retract"].within(sentence) and not _SAYS["others"].search(sentence)


def _sentences(text: str, *, numbered: bool) -> Iterator[str]:
    """The sentences of a text. With numbered options, "1. They
    like crime" may be the first of their reasons.
    """
    text = _SAYS["excluded"].sub(" ", text)
    for pattern, better in _NUMBERED:
        text = pattern.sub(better, text)
    opens = _OPENS_NO_LIST if numbered else _OPENS
    for line in opens.sub(": ", _HEADING.sub(r"\1: ", text)).split("\n"):
        if numbered and _LIST_ITEM.match(line):
            yield line
            continue
        safe = True  # whether the parts before say nothing
        for part in _SENTENCES.split(line):
            # "I know this film. A" is cut off, "Sure! A" is not.
            alone = part.strip(" \"'*_.)(").strip()
            if safe or len(alone) != 1:
                yield part
            safe = safe and groups()["safe"].cover(part)


def _said(sentence: str) -> _Said | None:
    for phrase, meaning in _STAND_FOR:
        sentence = phrase.sub(meaning, sentence)
    if sentence.rstrip(" \"'*_)`").endswith(("?", "？", "؟")) or _SAYS["plan"].match(
        sentence,
    ):
        return None
    uncertain = ("bad", "tentative", "condition", "partly")
    if not _ONE.search(sentence) or any(
        _SAYS[each].search(sentence) for each in uncertain
    ):
        return None
    claim = _without_reasons(sentence)
    if groups()["doubt"].within(claim):
        return None
    named = _ONE.findall(claim)
    if len(named) > MOST:
        return _Said(None, strong=True)
    if named and not _OR.isdisjoint(words_of(claim)[:1]):
        return _Said(None, strong=True)  # a list goes on
    announced = groups()["announce"].within(claim)
    if len({place_of(each) for each in named}) != 1 or place_of(named[0]) is None:
        # A sentence of other words that names several, "They liked A and B", is a
        # reason, and no verdict.
        verdict = announced or groups()["safe"].cover(_ONE.sub(" ", claim))
        return _Said(None, announced) if named and verdict else None
    clauses = _CLAUSES.split(claim)
    for at, clause in enumerate(clauses):
        mention = _ONE.search(clause)
        if mention is None:
            continue
        strong = _announces(clause, mention)
        alone = strong is False and all(
            groups()["safe"].cover(each) for each in clauses[:at]
        )
        if (strong or alone) and _ends(mention[0], clauses[at + 1 :]):
            words = words_of(claim)
            concludes = not _CONCLUDES.isdisjoint(words[:1])
            label = {*words} & groups()["announce"].whole <= _LABELS
            label = label and not concludes and _OWN.isdisjoint(words)
            by_text = TITLE <= mention[0] < BOTH
            return _Said(
                place_of(mention[0]),
                strong is True or concludes,
                label,
                by_text,
            )
    return None


def _without_reasons(sentence: str) -> str:
    because = groups()["because"]
    sentence = _ASIDE.sub(" ", sentence)
    mention = _ONE.search(sentence)
    if mention is None:
        return sentence
    before, after = sentence[: mention.start()], sentence[mention.start() :]
    if 0 <= because.first(before) <= len(before) - len(before.lstrip(" \"'*_")):
        before = re.split(r"[,،、]", before)[-1]
    cut = because.first(after)
    return before + (after if cut < 0 else after[:cut])


def _announces(clause: str, mention: re.Match[str]) -> bool | None:
    safe, announce = groups()["safe"], groups()["announce"]
    before, after = clause[: mention.start()], clause[mention.end() :]
    after = _ONE.sub(" ", after)
    if not safe.cover(after):
        return None
    if mention[0] < TITLE and not _is_mark(before, after):
        return None
    if safe.cover(before):
        return announce.within(before) or announce.within(after)
    # The words just before it, back to the first word that says something else.
    begun = len(before)
    for found in reversed([*re.finditer(r"\S+", before)]):
        if not safe.cover(found[0]):
            break
        begun = found.start()
    run = words_of(before[begun:])
    new = before[:begun].rstrip().endswith(":") or (bool(run) and run[0] in _STARTS)
    return True if new and announce.within(before[begun:]) else None


def _is_mark(before: str, after: str) -> bool:
    if not _COUNTED.isdisjoint(words_of(after)[:1]):
        return False
    counts = not _NUMBER_OF.isdisjoint(words_of(before)[-1:])
    return not (counts and before.rstrip(" \"'(*_")[-1:].isalpha())


def _ends(mention: str, further: Sequence[str]) -> bool:
    """Whether an option ends where it was found, and is not
    the first of a longer name or list.
    """
    following = further[0].strip(" \"'*_).") if further else ""
    if not following:
        return True
    if TITLE <= mention < BOTH:
        words = words_of(following)
        return (
            bool(words)
            and words[0] in groups()["safe"].whole
            and following[0].islower()
        )
    return not re.fullmatch(r"[A-Za-z]|\d+", following)
