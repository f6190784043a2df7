"""The names of items, in words."""

_PLURALS = {
    "person": "people",
    "people": "people",
    "child": "children",
    "sheep": "sheep",
}


def plural(noun: str) -> str:
    """The plural of an English noun: ``books``, ``stories``, ``dishes``; of one that
    ends in ``s`` alone, itself.
    """
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.endswith("s") and not noun.endswith(("ss", "us", "is", "as")):
        return noun  # news, series, and nouns that are plural already
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"
