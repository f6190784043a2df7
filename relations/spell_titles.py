"""The titles of a request in another spelling."""

import dataclasses
import unicodedata
from collections.abc import Callable, Mapping
from typing import Literal

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.histories import Changed, with_items
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Item, Request, World
from pytest_recsys_mt.safety.errors import NotApplicable

Spelling = Literal["plain", "upper", "decomposed"]


def plain(title: str) -> str:
    """A title without accents and other marks, and with simple quotes and dashes:
    ``Amelie`` for ``Amélie``.
    """
    marked = unicodedata.normalize("NFKD", title.translate(_SIGNS))
    return "".join(char for char in marked if not unicodedata.combining(char))


_SIGNS = str.maketrans(
    {
        "–": "-",
        "—": "-",
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "ø": "o",
        "ß": "ss",
        "æ": "ae",
    },
)

_SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "plain": plain,
    "upper": str.upper,
    "decomposed": lambda title: unicodedata.normalize("NFD", title),
}


@usual("plain")
@usual("upper")
@usual("decomposed")
def spell_titles(spelling: Spelling = "plain") -> Transformation:
    """Write the titles of the history and of the candidates without accents, in upper
    case, or with accents of their own.

    ``decomposed`` is Unicode's form NFD, in which an accent is a character of its own:
    it looks the same. The ids stay, and with them what is recommended. It is not
    applicable where all titles stay as they are.

    Source:
        This project; Unicode Standard Annex 15, https://unicode.org/reports/tr15/.

    Example:
        >>> film = Item("a", "Amélie", 2001)
        >>> request = Request("u", (Rating(film, 5),), Scale(1, 5), candidates=None, k=1)
        >>> spell_titles("plain")(request, np.random.default_rng(0)).history[0].item.title
        'Amelie'
    """
    spelt = _SPELLINGS[
        arguments.choice("spell_titles", "spelling", spelling, [*_SPELLINGS])
    ]
    name = f"spell_titles {spelling}"

    def apply(request: Request, rng: Generator, world: World) -> Request:
        titled = world.kept.get(name)
        if titled is None:
            titled = world.kept[name] = Changed(
                lambda item: _titled(item, spelt(item.title)),
            )
        changed = with_items(request, titled)
        if changed == request:
            raise NotApplicable("no title is written otherwise in this spelling")
        return changed

    return built_in(
        ("spell_titles", spelling),
        apply=apply,
        promise="The answer stays the same when titles are spelt in another way.",
        changes={"history", "candidates"},
        needs=(),
        aspect="titles",
    )


def with_titles(request: Request, title_of: Callable[[Item], str]) -> Request:
    """A request whose items have other titles."""
    return with_items(request, lambda item: _titled(item, title_of(item)))


def _titled(item: Item, title: str) -> Item:
    return dataclasses.replace(item, title=title)
