"""The entries of an answer so far, and their common features."""

from collections.abc import Callable

from pytest_recsys_mt.llm.reading import comments
from pytest_recsys_mt.llm.reading.offer import Offer
from pytest_recsys_mt.llm.reading.spelling import normalise, split_year
from pytest_recsys_mt.llm.reading.titles import Scope
from pytest_recsys_mt.requests import UNKNOWN_PREFIX, Entry, EntryKind, Item, Request


class Entries(Offer):
    """The entries of an answer, best first; arguments are those of `Offer`, and
    `exists` that of `parser.read`.
    """

    def __init__(
        self,
        request: Request,
        scope: Scope,
        exists: Callable[[str, int], bool],
        first: int,
        *,
        loose: bool,
    ) -> None:
        super().__init__(request, scope, first, loose=loose)
        self.entries: list[Entry] = []
        self._exists = exists
        self._known = request.known

    def items(self) -> tuple[str, ...]:
        """The items that the entries name, each once."""
        named = [entry.item for entry in self.entries if entry.item is not None]
        return tuple(dict.fromkeys(named))

    @property
    def names_none(self) -> bool:
        """Whether it has several entries, and none of them is known."""
        return bool(self.titles) and self.names_only("unknown", "outside")

    @property
    def names_unknown(self) -> bool:
        """Whether any of its entries is of no known item."""
        unknown = any(entry.kind in ("unknown", "outside") for entry in self.entries)
        return bool(self.titles) and unknown

    @property
    def all_go_on(self) -> bool:
        """Whether each of its entries says more than the title of an offered item."""
        entries = [entry for entry in self.entries if entry.kind != "unparsed"]
        return all(self._goes_on(entry) for entry in entries)

    def _goes_on(self, entry: Entry) -> bool:
        title = self.titles.get(entry.item or "", entry.text)
        return len(normalise(entry.text)) > len(title)

    def names_only(self, *kinds: EntryKind) -> bool:
        """Whether it names several things, and all of them are of these kinds."""
        named = [entry.kind for entry in self.entries if entry.kind != "unparsed"]
        return len(named) > 1 and set(named).issubset(kinds)

    @property
    def beginning(self) -> tuple[str, ...]:
        """As many offered items as were named, in the order of the prompt."""
        return tuple(self.titles)[: len(self.items())]

    def _add(self, text: str, item: Item | None) -> None:
        if item is None:
            self._prose(text)
            return
        kind = self._kind_of(item)
        self.named.add(item.id)
        self.entries.append(Entry(text.strip(), kind, item.id))

    def _kind_of(self, item: Item) -> EntryKind:
        if item.id in self.named:
            return "duplicate"
        if item.id in self.titles:
            return "candidate"
        if item.id in self._known:
            return "history"
        return "candidate" if self.candidates is None else "catalogue"

    def _unknown(self, text: str, title: str, year: int | None = None) -> Entry:
        """The entry of a title that names no item; `year` is
        that of the data, if they have one.
        """
        title = comments.unrated(title) or title
        name = UNKNOWN_PREFIX + normalise(title)
        bare, title_year = split_year(title)
        year = year or title_year or year_in_brackets(text) or split_year(text)[1]
        kind: EntryKind = "unknown"
        if name in self.named:
            kind = "duplicate"
        elif year is not None and self._exists(bare, year):
            kind = "outside"
        self.named.add(name)
        return Entry(text.strip(), kind, name)

    def _prose(self, text: str) -> None:
        self.entries.append(Entry(text.strip(), "unparsed"))


def year_in_brackets(text: str) -> int | None:
    """The year in brackets anywhere in a piece."""
    return split_year(f"x {comments.year_in(text)}")[1]
