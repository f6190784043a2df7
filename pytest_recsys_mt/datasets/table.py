"""Any table of interactions, and a catalogue beside it; ``docs/how-to/bring-data.md`` describes both."""

import contextlib
import glob
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from pytest_recsys_mt import specs
from pytest_recsys_mt.datasets import delimited, json_lines, parquet
from pytest_recsys_mt.datasets.archives import stem, suffix
from pytest_recsys_mt.datasets.catalogue import catalogue_of, named_by_ids
from pytest_recsys_mt.datasets.description import TEXT, Description, Part, descriptions, own
from pytest_recsys_mt.datasets.loading import Told, formats, missing
from pytest_recsys_mt.datasets.reading import Content, interactions, read, users_of, usual_scale
from pytest_recsys_mt.datasets.rows import normal
from pytest_recsys_mt.errors import DataError, RecommenderError
from pytest_recsys_mt.requests import Scale

ITEMS = (
    "item", "itemid", "iid", "movieid", "movie", "productid", "artistid", "parentasin", "asin", "bookid", "isbn",
    "songid", "trackid", "gameid", "animeid", "videoid", "newsid", "articleid", "businessid", "venueid", "sku",
)  # fmt: skip
INTERACTIONS: Mapping[str, Sequence[str]] = {
    "user": ("user", "userid", "uid", "username", "customer", "customerid", "reviewerid", "visitorid", "session"),
    "item": ITEMS,
    "rating": ("rating", "score", "stars", "overall"),
    "time": ("timestamp", "time", "date", "datetime", "unixtime", "unixreviewtime", "createdat", "eventtime"),
}  # fmt: skip
"""The usual headers, in the form of `rows.normal`."""
COUNTS = ("count", "plays", "playtime", "listens", "quantity", "weight", "hours", "watchratio")
"""Parts of headers of how often or how long somebody used an item: no rating, but perhaps meant as one."""
LIKE_RATINGS = ("rating", "rate", "score", "star", "mark", "value", "grade")
LIKE_TIMES = ("time", "day", "when", "stamp", "ts", "dat")
"""Parts of headers that may be meant as ratings and as times."""
CATALOGUE: Mapping[str, Sequence[str]] = {
    "item": (*ITEMS, "id"),
    "title": ("title", "name", "itemtitle", "itemname", "movietitle", "booktitle", "productname", "prodname", "trackname"),
    "year": (
        "year", "itemyear", "releaseyear", "publicationyear", "originalpublicationyear", "yearofpublication", "published",
    ),
    "genres": ("genres", "genre", "class"),
    "directors": ("directors", "director"),
    "categories": ("categories", "category"),
    "authors": ("authors", "author"),
    "colour": ("colour", "color"),
    "image_description": ("imagedescription",),
}  # fmt: skip
"""The same of a catalogue; every other column is an attribute of its own name."""
PEOPLE: Mapping[str, Sequence[str]] = {"user": (*INTERACTIONS["user"], "id")}
"""The same of a table of users."""
ITEM_TABLES = (
    "{stem}.items", "items", "catalogue", "catalog", "movies", "films", "books", "products", "articles", "songs",
    "tracks", "artists", "games", "news", "places",
)  # fmt: skip
"""The names of catalogues beside a table, without their endings; RecBole's is ``shop.item`` beside ``shop.inter``."""
USER_TABLES = ("{stem}.users", "users", "customers")
ENDINGS = (*TEXT, *json_lines.SUFFIXES, *parquet.SUFFIXES)


def _options(
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    time: str | None = None,
    time_format: str = "",
    columns: str = "",
    sep: str = "",
    encoding: str = "utf-8",
    scale: str = "",
    unrated: float | None = None,
    items: str | None = None,
    thing: str = "",
) -> tuple[Part, str, str | None, str]:
    headers = {"user": user, "item": item, "rating": rating, "time": time}
    given = {meaning: header for meaning, header in headers.items() if header is not None}
    part = Part(
        named={**INTERACTIONS, **given},
        required=list(given),
        columns=[each.strip() or "-" for each in columns.split(",")] if columns else (),
        sep={"tab": "\t", "\\t": "\t"}.get(sep, sep),
        encoding=encoding,
        unrated=() if unrated is None else (unrated,),
        time_format=time_format,
    )
    return part, scale, items, thing


def _scale(text: str) -> Scale:
    try:
        low, high = map(float, text.split(","))
        return Scale(low, high)
    except ValueError as problem:
        raise DataError(f"scale={text!r} is not LOW,HIGH, as in scale=1,10") from problem


def load(path: Path, given: Mapping[str, str], told: Told) -> Content:
    """What a table and the catalogue beside it hold: as its format says, or as its headers and the `given` options
    behind its path say.

    Raises:
        DataError: If an option or a file is wrong; the text names the file and the line (for Parquet, the row).
    """
    if path.suffix.lower() == ".toml":
        if given:
            raise DataError(
                f"{str(path)!r} is a description, so write {next(iter(given))!r} into it"
            )
        return read(own(path), path.parent, told)
    if not given:
        for form in descriptions():
            if _fits(path, form):
                return read(form, path.parent, told)
    try:
        part, wanted, beside, thing = specs.build(_options, given, str(path))
    except RecommenderError as problem:
        raise DataError(str(problem)) from problem
    _check(path, part)
    rows, _ = interactions([path], part, path.parent, told)
    scale = _scale(wanted) if wanted else usual_scale(rows)
    _tell_what_is_not_read(headers(path, part), part, told)
    beside_it = _beside(path, ITEM_TABLES, ".item") if beside is None else path.parent / beside
    if beside_it is None:
        items = named_by_ids(rows, told)
    else:
        told(f"the catalogue is {beside_it.name}")
        items = catalogue_of([beside_it], _part(beside_it, CATALOGUE), path.parent, told, rows)
    people = _beside(path, USER_TABLES, ".user")
    users = users_of(_part(people, PEOPLE), path.parent) if people else {}
    return Content(rows, items, scale, users=users, thing=thing)


def _check(path: Path, part: Part) -> None:
    try:
        "".encode(part.encoding)
    except LookupError as problem:
        raise DataError(
            f"{str(path)!r}: encoding={part.encoding!r} is unknown to Python"
        ) from problem
    if not part.columns:
        return
    meanings = [name for name in part.columns if name != "-"]
    once = len(set(meanings)) == len(meanings)
    if not once or not {"user", "item"} <= set(meanings) <= INTERACTIONS.keys():
        raise DataError(
            f"{str(path)!r}: columns={','.join(part.columns)} must name user and item, and may name rating and "
            f"time, each once; write '-' for other columns"
        )
    if suffix(path) not in TEXT:
        raise DataError(f"{str(path)!r} has names for its columns, so leave columns= out")


def _tell_what_is_not_read(header: Sequence[str], part: Part, told: Told) -> None:
    if part.columns:
        return
    names = set(map(normal, header))
    for meaning, words in (("rating", (*COUNTS, *LIKE_RATINGS)), ("time", LIKE_TIMES)):
        near = [each for each in header if any(word in normal(each) for word in words)]
        usual = INTERACTIONS[meaning]
        known = part.named.get(meaning, usual) != usual or not names.isdisjoint(usual)
        if near and not known and near[0] not in (part.named.get("user"), part.named.get("item")):
            told(
                f"no column is the {meaning}; {near[0]!r} is not read, unless '?{meaning}={near[0]}' stands behind "
                f"the path"
            )


def only_table(folder: Path) -> Path:
    """The one table of interactions in a folder; DataError if there is none, or several."""
    tables = [path for path in sorted(folder.iterdir()) if not path.is_dir() and is_table(path)]
    if len(tables) == 1:
        return tables[0]
    known = "; ".join(f"{form.name} ({', '.join(form.files)})" for form in formats())
    raise DataError(
        f"folder {str(folder)!r} is in no known format, and {len(tables) or 'none'} of its files "
        f"{'are tables' if tables else 'is a table'} of users and items; known are: {known}. For a table of your "
        f"own, give the path of the file"
    )


def is_table(path: Path) -> bool:
    """Whether a file is a table of interactions, as far as its first lines say."""
    if any(_fits(path, form) for form in descriptions()):
        return True
    with contextlib.suppress(DataError):
        names = set(map(normal, headers(path))) if suffix(path) in ENDINGS else set[str]()
        return not any(names.isdisjoint(INTERACTIONS[meaning]) for meaning in ("user", "item"))
    return False


def headers(path: Path, part: Part | None = None) -> list[str]:
    """The names of the columns of a table; of JSON those of its first records."""
    if suffix(path) in parquet.SUFFIXES:
        return parquet.header(path)
    if suffix(path) in json_lines.SUFFIXES:
        first = islice(json_lines.records(path), 100)
        return list(dict.fromkeys(name for _, record in first for name in record))
    return delimited.head(path, (part or Part()).text_layout(path))[0]


def _fits(path: Path, form: Description) -> bool:
    part = form.interactions
    if path not in part.paths(path.parent) or missing(path.parent, form.files):
        return False
    if part.columns or suffix(path) in json_lines.SUFFIXES:
        return True
    names = set(map(normal, headers(path)))
    return all(names & set(column.aliases) for column in part.layout if column.required)


def _beside(path: Path, names: Sequence[str], ending: str) -> Path | None:
    meanings = CATALOGUE["item"] if ending == ".item" else PEOPLE["user"]
    tables = {
        stem(each): each
        for each in sorted(path.parent.iterdir())
        if each != path and suffix(each) in ENDINGS and not each.is_dir()
    }
    wanted = (name.format(stem=stem(path)) for name in names)
    beside = [path.with_suffix(ending), *(tables[name] for name in wanted if name in tables)]
    for table in beside:
        if table.exists() and table != path:
            header = set(map(normal, headers(table)))
            # A table of something else is no catalogue, nor is one of interactions.
            other = ending == ".item" and header & set(INTERACTIONS["user"])
            if header & set(meanings) and not other:
                return table
    return None


def _part(path: Path, meanings: Mapping[str, Sequence[str]]) -> Part:
    written = headers(path)
    present = list(map(normal, written))
    named = {
        meaning: next(name for name in names if name in present)
        for meaning, names in meanings.items()
        if not set(names).isdisjoint(present)
    }
    meant = {name: name for name in present} | {name: meaning for meaning, name in named.items()}
    lists = {
        meant[name]: " "
        for name, header in zip(present, written, strict=True)
        if header.endswith(":token_seq") and name != named.get("title")
    }
    needed = next(iter(meanings))
    others = {name: name for name in present if meant[name] == name}
    return Part(
        file=glob.escape(path.name),
        named={needed: meanings[needed], **others, **named},
        lists=lists,
    )
