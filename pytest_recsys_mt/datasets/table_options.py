"""The options behind the path of a table, and the usual headers of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_recsys_mt.datasets import bad_rows, splits
from pytest_recsys_mt.datasets.description import Part
from pytest_recsys_mt.datasets.row_kinds import ALL, keep_of
from pytest_recsys_mt.datasets.sequences import SEQUENCE
from pytest_recsys_mt.requests import Scale, specs
from pytest_recsys_mt.safety.errors import DataError, RecommenderError

ITEMS = (
    "item", "itemid", "iid", "artist", "song", "track", "book", "product", "business", "movieid", "movie", "productid", "artistid", "parentasin", "asin", "bookid", "isbn",
    "songid", "trackid", "gameid", "animeid", "videoid", "newsid", "articleid", "businessid", "venueid", "sku",
)  # fmt: skip
INTERACTIONS: Mapping[str, Sequence[str]] = {
    "user": ("user", "userid", "uid", "username", "customer", "customerid", "reviewerid", "visitorid", "session"),
    "item": ITEMS,
    "rating": ("rating", "score", "stars", "overall"),
    "time": ("timestamp", "time", "date", "datetime", "unixtime", "unixreviewtime", "createdat", "eventtime"),
}  # fmt: skip
"""The usual headers, in the form of `rows.normal`."""
FOR_FILES = ("each", "columns", "sep", "encoding", "items", "test")
"""The options that have no meaning for a table of code."""
SESSION = ("session", "sessionid", "visitid", "ordersession")
"""The usual headers of a column of sessions, which is read for a split by it."""


@dataclass(frozen=True)
class TableOptions:
    """What the options behind a path say.

    Attributes:
        part: The columns, and how the file is read.
        scale: The scale of the ratings as it is written; empty if it is not.
        items: The path of the catalogue, from the folder of the table.
        thing: The word for an item.
        test: The path of a table of held-out interactions, likewise.
    """

    part: Part
    scale: str
    items: str | None
    thing: str
    test: str | None


def options_of(
    given: Mapping[str, str],
    where: str,
    *,
    by_sessions: bool,
) -> TableOptions:
    """The options of a table.

    Args:
        given: As they are written.
        where: The path, for errors.
        by_sessions: Whether a column of sessions is read.

    Raises:
        DataError: If an option is unknown or wrong.
    """
    try:
        options: TableOptions = specs.build(_options, given, where)
    except RecommenderError as problem:
        raise DataError(str(problem)) from problem
    if not by_sessions:
        if "session" in given:
            raise DataError(
                f"{where!r}: session={given['session']!r} is read for split=sessions alone; add that, or leave session= out",
            )
        return options
    header = given.get("session")
    return replace(options, part=_with_sessions(options.part, header))


def require_values(given: Mapping[str, str], where: str) -> None:
    """Check that no option is empty: one of an unset variable would not count."""
    for key, text in given.items():
        if not text.strip() and not (key == "sep" and text):
            raise DataError(
                f"{where!r}: {key}= has no value, as of a variable of the shell that is not set; give one, or leave {key}= out",
            )


def require_options(
    given: Mapping[str, str],
    where: str,
    arguments: Sequence[str] | None = None,
) -> None:
    """Check the names of options, and that they have values, before anything is read.

    Args:
        given: The options behind a path, or those behind code but for its arguments.
        where: The path or the code, for errors.
        arguments: The names of the arguments of the code; None for a path.

    Raises:
        DataError: For the first option that is unknown, is for files alone, or is
            empty.
    """
    known = [*specs.names(_options), splits.OPTION, bad_rows.OPTION]
    if arguments is not None:
        known = [*arguments, *(name for name in known if name not in FOR_FILES)]
        refused = next((key for key in given if key in FOR_FILES), None)
        if refused is not None:
            raise DataError(
                f"{where!r}: {refused}= is for files; the code that gives the table names its columns and the catalogue",
            )
    try:
        specs.require_known(given, dict.fromkeys(known), where)
    except RecommenderError as problem:
        raise DataError(str(problem)) from problem
    require_values(given, where)


def _with_sessions(part: Part, header: str | None) -> Part:
    """The part with a column of sessions, which is none of users then."""
    users = part.named["user"]
    if not isinstance(users, str):
        users = [name for name in users if name not in SESSION]
    required = part.required if header is None else [*part.required, "session"]
    named = {**part.named, "user": users, "session": header or SESSION}
    return replace(part, named=named, required=required)


def _options(
    *,
    user: str = "",
    item: str = "",
    sequence: str = "",
    each: str = "",
    rating: str = "",
    time: str = "",
    session: str = "",
    time_format: str = "",
    columns: str = "",
    sep: str = "",
    encoding: str = "utf-8",
    scale: str = "",
    unrated: str = "",
    items: str = "",
    thing: str = "",
    keep: str = "",
    test: str = "",
) -> TableOptions:
    # Text all of it: a header or a file may be called "none".
    headers = {
        "user": user,
        "item": item,
        SEQUENCE: sequence,
        "rating": rating,
        "time": time,
    }
    given = {meaning: header for meaning, header in headers.items() if header}
    part = Part(
        named={**INTERACTIONS, **given},
        required=list(given),
        columns=[each.strip() or "-" for each in columns.split(",")] if columns else (),
        sep={"tab": "\t", "\\t": "\t", "blank": " "}.get(sep, sep),
        encoding=encoding,
        each=each,
        unrated=(_number(unrated),) if unrated else (),
        time_format=time_format,
        keep={} if keep == ALL else keep_of(keep),
        says_what_is_kept=True,
    )
    return TableOptions(part, scale, items or None, thing, test or None)


def _number(unrated: str) -> float:
    try:
        return float(unrated)
    except ValueError as problem:
        raise DataError(
            f"unrated={unrated!r} is not a number; it is the rating that stands for none, or nan where it is missing",
        ) from problem


def scale_of(text: str) -> Scale:
    """The scale that the option of that name says; DataError if it is none."""
    try:
        low, high = [float(bound) for bound in text.split(",")]
        return Scale(low, high)
    except ValueError as problem:
        raise DataError(
            f"scale={text!r} is not LOW,HIGH, as in scale=1,10",
        ) from problem
