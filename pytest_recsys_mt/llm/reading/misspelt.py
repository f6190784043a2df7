"""Which names of a large catalogue a text may misspell:
exactly those that a scan would find.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHORTEST = 3
"""Letters of the shortest word that `spelling.is_misspelling`
takes for a misspelt one, or its title's.
"""

MANY = 100
"""From so many names of one length on, it pays to leave
some out before they are compared.
"""

ROUNDING = 1e-6
"""Above the rounding errors of a distance."""


class NearWords:
    """Words by how they are spelt, to find those that `spelling.is_misspelling` may
    take another for.

    Such a pair begins and ends with the same letters, has no digits, and is one edit
    apart. Cut the known word, of m letters, in two at m // 2. The edit lies in one
    part, so that the other part stands unchanged at its end of the written word; or two
    letters are swapped across the cut, and swapping them back gives the known word. So
    it is enough to look up the known words under both parts, for every m that differs
    from the length of the written word by one at most.
    """

    def __init__(self, words: Collection[str]) -> None:
        self._words = words
        self._by_part: dict[tuple[int, str, str], list[str]] = {}
        for word in self._words:
            if len(word) >= SHORTEST and not _has_digit(word):
                for part in _parts(word, len(word)):
                    self._by_part.setdefault(part, []).append(word)

    def near(self, word: str, lengths: Collection[int]) -> list[str]:
        """The words that this one may misspell, itself left out, whose lengths less its
        own are `lengths`: any of -1, 0 and 1.
        """
        from rapidfuzz.distance import OSA

        if len(word) < SHORTEST or _has_digit(word):
            return []
        found: set[str] = set()
        for length in (len(word) + more for more in (-1, 0, 1) if more in lengths):
            for part in _parts(word, length):
                found.update(self._by_part.get(part, ()))
        if 0 in lengths:
            cut = len(word) // 2
            swapped = word[: cut - 1] + word[cut] + word[cut - 1] + word[cut + 1 :]
            if swapped in self._words:
                found.add(swapped)
        return [
            other
            for other in found - {word}
            if other[0] == word[0]
            and other[-1] == word[-1]
            and OSA.distance(word, other, score_cutoff=1) <= 1
        ]

    def titles(
        self,
        written: Sequence[str],
        *,
        dated: bool,
    ) -> Iterator[tuple[str, ...]]:
        """All words of titles of this vocabulary that `spelling.is_misspelling` may
        allow for `written`.

        A title has at most two other words than the text, each near one of the text's.
        A word of the text that the vocabulary lacks is in no title, so it is one of the
        two. A word that it has is correctly spelt: it stands for another only if the
        text may give the title's year (`dated`), and only for a longer or a shorter
        one.
        """
        strange = {
            place for place, word in enumerate(written) if word not in self._words
        }
        if len(strange) > 2:
            return
        free = [
            place for place in range(len(written)) if dated and place not in strange
        ]
        near = {place: self.near(written[place], (-1, 0, 1)) for place in strange}
        if not all(near.values()):
            return
        near |= {
            place: found
            for place in free
            if (found := self.near(written[place], (-1, 1)))
        }
        for further in range(0 if strange else 1, 3 - len(strange)):
            for more in combinations(
                [place for place in free if place in near],
                further,
            ):
                places = (*strange, *more)
                for others in product(*(near[place] for place in places)):
                    title = list(written)
                    for place, other in zip(places, others, strict=True):
                        title[place] = other
                    yield tuple(title)


def _parts(word: str, length: int) -> Iterator[tuple[int, str, str]]:
    cut = length // 2
    yield length, word[:cut], word[-1]
    yield length, word[0], word[cut - length :]


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


class MostSimilar:
    """Names by length and by pairs of neighbouring letters, for the most similar to a
    text.

    Names are similar by their indel distance D: the letters to delete from the text and
    to insert into it. D is at least the difference of the lengths. And a deletion takes
    away at most two pairs of the text, an insertion at most one, so a name lacks at
    most (3 D + length of the text - length of the name) / 2 of the text's pairs. Each
    pair sets one of 64 bits; a bit that the text has and the name has not is at least
    one lacking pair.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._by_length = defaultdict[int, _OfLength](_OfLength)
        for place, name in enumerate(names):
            bucket = self._by_length[len(name)]
            bucket.places.append(place)
            bucket.names.append(name)

    def best(self, text: str, least: float, limit: int) -> list[tuple[str, float]]:
        """The `limit` names with the largest similarity (rapidfuzz's `ratio`), of
        `least` or more of 100; the first at ties.
        """
        from rapidfuzz import fuzz, process

        found: list[tuple[float, int, str]] = []
        for length, bucket in self._by_length.items():
            distance = (100 - least) / 100 * (len(text) + length) + ROUNDING
            if abs(length - len(text)) > distance:
                continue
            places = bucket.lacking(text, (3 * distance + len(text) - length) / 2)
            near = process.extract(
                text,
                [bucket.names[place] for place in places],
                scorer=fuzz.ratio,
                score_cutoff=least,
                limit=None,
            )
            found += [
                (-score, bucket.places[places[at]], name) for name, score, at in near
            ]
        return [(name, -score) for score, _, name in sorted(found)[:limit]]


class _OfLength:
    def __init__(self) -> None:
        self.places = array("i")
        self.names: list[str] = []

    def lacking(self, text: str, most: float) -> Sequence[int]:
        """Where the names stand that lack no more pairs of
        `text`, or all of them if they are few.
        """
        import numpy as np

        if len(self.names) < MANY or not hasattr(
            np,
            "bitwise_count",
        ):  # numpy 1 has none
            return range(len(self.names))
        missing = np.bitwise_count(~self._bits & _pairs([text])[0])
        return np.flatnonzero(missing <= most).tolist()

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        return _pairs(self.names)


def _pairs(names: Sequence[str]) -> NDArray[np.uint64]:
    import numpy as np

    letters = np.frombuffer(
        "".join(names).encode("utf-32-le", "surrogatepass"),
        dtype="<u4",
    )
    letters = letters.reshape(len(names), -1).astype(np.uint64)
    pairs = (letters[:, :-1] * np.uint64(29) + letters[:, 1:]) & np.uint64(63)
    bits: NDArray[np.uint64] = np.bitwise_or.reduce(np.uint64(1) << pairs, axis=1)
    return bits
