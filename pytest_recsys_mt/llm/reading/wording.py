"""The words that distinguish prose from titles, in the languages of the models' answers."""

import re


def word_list(text: str) -> tuple[str, ...]:
    """The words of a text, in its order."""
    return tuple(text.split())


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


SMALL = word_set(
    "about after against along amid among around away before behind below beyond between from into like near "
    "onto over past than that then this those through till toward under until upon when where while "
    "with without your their have were will would what who whom avec dans pour sans sous entre contre chez "
    "della delle dello degli dalla nella sulla para como sobre desde hasta este esta nach über unter ohne "
    "oder aber eine einer eines einem einen der die das och från till med"
)
"""Longer words that titles write in lower case."""

SAID = word_set(
    "film films movie movies classic drama comedy thriller romance musical western documentary animation "
    "adventure fantasy horror mystery biopic noir masterpiece sequel series adaptation starring directed "
    "featuring follows explores película pelicula comedia clásico film klassiker komödie comédie chef-d'œuvre "
    "storia commedia great similar perfect must-watch must-see"
)
"""Words that, in lower case, comment on a film."""

BEGINS = word_set("a an this ein eine un una une one because directed")
"""Words that begin a comment, if the next one is in lower case."""

GENRES = word_set(
    "action adventure animation animated biography children comedy crime documentary drama family fantasy "
    "film-noir history horror music musical mystery romance romantic sci-fi scifi science fiction "
    "short sport sports superhero suspense thriller war western komödie krimi abenteuer comedia acción "
    "terror aventura comédie policier"
)

OPENING = re.compile(
    r"(?:i\b|i'|i’|we\b|you\b|your\b|here\b|these\b|this\b|those\b|sure\b|sorry\b|unfortunately|certainly|of course"
    r"|based on|please|note\b|as an? |let me|hope\b|enjoy\b|thank|okay\b|ok\b|happy |feel free|if you|there (?:is|are)"
    r"|my (?:top )?recommend|recommend|however|given\b.*\b(?:user|history)|user\b.*:|answer\b|output\b|candidates?\b"
    r"|hier\b|gerne\b|natürlich\b|basierend|leider\b|ich\b|aquí|claro\b|por supuesto|basado|lo siento"
    r"|voici\b|bien sûr|désolé|ecco\b|certo\b|以下|当然|根据|抱歉|对不起|好的|我|希望|这些|以上|はい|こちら|もちろん|申し訳|以下|あなた|お)",
    re.IGNORECASE,
)
REFUSAL = re.compile(
    r"\b(?:sorry|apologi[sz]e|can(?:not|'t|’t| not)|unable|as an ai|i (?:do not|don't|don’t) (?:have|know)|not able to|won'?t"
    r"|leider|kann (?:ich )?(?:ihnen |dir )?(?:keine|nicht)|lo siento|no puedo|désolé|je ne peux)\b"
    r"|抱歉|无法|不能|申し訳|できません",
    re.IGNORECASE,
)

LEADING = re.compile(
    r"\b(?:recommend|suggest|try|enjoy|watch|watching|be|is|are|include|propose|choose|empfehle|empfehlen|"
    r"recomiendo|sugiero|recommande|suggère|consiglio|recomendo|raad|rekommenderar)\s+"
    r"(?=[*_\"“„«'‘]{0,3}[A-Z0-9])"
)
"""The verb after which a sentence begins to list titles."""
