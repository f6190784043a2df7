"""Removes keys from texts. Everything shown or stored passes here, before it is cut."""

import base64
import binascii
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NoReturn, SupportsIndex
from urllib.parse import quote, unquote, urlsplit

from pytest_recsys_mt.safety.keys import SHORTEST, keys_of
from pytest_recsys_mt.safety.sanitize import without_controls

KEY, AUTHORIZATION = "OPENAI_API_KEY", "RECSYS_HTTP_AUTHORIZATION"
"""Environment variables: a key, and the complete value of a header
``Authorization``.
"""

HEADERS = "OPENAI_CUSTOM_HEADERS"
"""That of further headers, ``Name: value``, one a line, which the
OpenAI client reads.
"""

ADDRESSES = (
    "OPENAI_BASE_URL",
    "RECSYS_HTTP_ORIGIN",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
)
"""Those of addresses, proxies in either case: any part of one
other than host, port and path may be a key.
"""

PART = 10
"""This many characters of a key in a row count as the
key: a server may cut a text that it repeats.
"""

_SECRET = re.compile(
    r"://[^/?]*@|"
    r"[?&](?:[^=&]*[_-])?(?:(?:api)?key|token|secret|password|passwd|pwd|auth|authorization|credentials?)=",
    re.IGNORECASE,
)
"""User names and passwords in an address, and spec
parameters whose names look like a key's.
"""

_WORDS = re.compile(rb"[a-z]*(?:[A-Z][a-z]{3,}|[._ -][a-z]*)*")
"""Words as any report has them: as part of a key they reveal
nothing of it, unless they are `2 * PART` long.
"""

_SCHEME = re.compile(r"(?:basic|bearer|token) +\S+", re.IGNORECASE)

_ESCAPED = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|[abfnrtv])")
"""Characters that a `repr` or JSON escapes."""

_PARTS = re.compile(r"[^ -~]+")

_URL = re.compile(r"\s*(?:https?(?=:)|\w+(?=://)|(?=//))[:/]*", re.IGNORECASE)

GRAM = 4
"""Bytes of a block in the search for keys: texts are read in such blocks, one integer
each, and any ``2 * GRAM - 1`` bytes in a row contain a whole block.
"""

_known: dict[str, str] = {}
"""The variables of all keys that the environment has had, by key."""

_read: dict[Any, Any] = {}
"""The environment as it was last read."""


class Secret(str):
    """Text that must not leave the process: it cannot be pickled, and its `repr`, which
    tracebacks with local variables print, does not show it.
    """

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            "a key cannot be pickled; each process reads its own environment",
        )

    def __repr__(self) -> str:
        return "Secret('...')"


def secret(variable: str) -> Secret:
    """The value of an environment variable; from now on,
    `redact` removes it from every text.
    """
    value = Secret(os.environ.get(variable, "").strip())
    if len(value) >= SHORTEST:
        _known.setdefault(value, variable)
    return value


def redact(text: str) -> str:
    """`text` with the name of the variable instead of a key, or of `PART` characters of
    it.

    A key is found as it is, in base64 (at any position of the encoded text),
    URL-encoded, in hexadecimal and as JSON escapes it. The user and the password of a
    basic authorization are also found separately. Time is linear in the length.
    """
    found = _without_keys(text)
    bare = _PARTS.sub(
        "",
        without_controls(
            _ESCAPED.sub(lambda it: chr(int(it[1] or it[2] or "0", 16)), found),
        ),
    )
    # A reader, or later output, may drop or hide characters between those of a key,
    # which are of ASCII.
    return found if bare == found or (safe := _without_keys(bare)) == bare else safe


def _without_keys(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    clean = redact_bytes(data)
    return text if clean is data else clean.decode("utf-8", "replace")


def redact_bytes(data: bytes) -> bytes:
    """As `redact`, for bytes that may not be text."""
    _read_environment()
    grams = _grams(tuple(_known.items()))
    blocks = memoryview(data)[: len(data) // GRAM * GRAM].cast("I")
    if grams.keys().isdisjoint(blocks):
        return data
    found = sorted(
        (start, end, name)
        for number, block in enumerate(blocks)
        for form, offset, name in grams.get(block, ())
        for start, end in [_run(data, number * GRAM, form, offset)]
        if end - start >= min(PART, len(form))
        and _is_more_than_words(data[start:end], form)
    )
    parts, last = [b""], 0
    for start, end, name in found:
        if start > last or last == 0:
            parts += [data[last:start], f"[{name}]".encode()]
        last = max(last, end)
    return b"".join([*parts, data[last:]]) if found else data


def without_keys(value: Any) -> Any:
    """Plain data with `redact` for all its texts."""
    match value:
        case str():
            return redact(value)
        case Mapping():
            return {
                without_keys(key): without_keys(each) for key, each in value.items()
            }
        case list() | tuple():
            return [without_keys(each) for each in value]
    return value


def shortened(text: str, most: int) -> str:
    """`text` without keys, then cut to `most` characters;
    cut first, half a key could stay.
    """
    return redact(text)[:most]


def holds_secret(spec: str) -> bool:
    """Whether a spec contains a password, or a parameter whose name
    looks like a key's.
    """
    return _SECRET.search(spec) is not None


def gives_key(spec: str) -> bool:
    """Whether a parameter of a spec is named as a key is, and its value looks like one:
    not like a column's name.
    """
    pairs = [each.partition("=") for each in spec.partition("?")[2].split("&")]
    keys = [key for name, _, value in pairs for key in keys_of(name, unquote(value))]
    return any(_WORDS.fullmatch(key.replace("_", "-").encode()) is None for key in keys)


def carries_key(spec: str) -> bool:
    """Whether a spec is an address that contains a user name, a password or a key."""
    return _URL.match(spec) is not None and ("@" in spec or holds_secret(spec))


def is_address(text: str) -> bool:
    """Whether a text is an address of scheme, host, port and
    path alone, which has no other reading.
    """
    try:
        parts = urlsplit(text)
        host, _ = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return False
    sound = parts.scheme in ("http", "https", "socks5", "socks5h") and not re.search(
        "[@?#]",
        text,
    )
    return sound and re.fullmatch(r"[a-z0-9._-]+|[0-9a-f:.]+", host) is not None


def shown(spec: str) -> str:
    """A spec or an address for a message; all messages use it, as
    any part of one that is no plain address may be a key.
    """
    url = _URL.match(spec)
    place, *query = re.split("[?#]", spec, maxsplit=1)
    # A password may hold any character that ends one.
    if ("@" in spec and not spec.startswith("hf:")) or (
        url and not is_address(place.strip())
    ):
        spec = f"{url[0] if url else ''}..."
    elif query and (url or "://" in query[0] or holds_secret(spec)):
        spec = f"{place}?..."
    return redact(spec)


def _read_environment() -> None:
    """Look for keys in the environment, if it changed.
    Those that it had before stay known.
    """
    global _read
    # Comparing the dict below `os.environ` takes a microsecond, reading it through the
    # mapping a hundred.
    now = getattr(os.environ, "_data", os.environ)
    if now == _read:
        return
    read = dict(now)
    for variable in (KEY, AUTHORIZATION, HEADERS):
        secret(variable)
    others = sorted({*os.environ} - {KEY, AUTHORIZATION, HEADERS})
    for variable in others:
        value = os.environ.get(variable, "")
        if variable.upper() in ADDRESSES:
            if value and not is_address(value if "://" in value else f"http://{value}"):
                secret(variable)
            continue
        for key in keys_of(variable, value):
            _known.setdefault(Secret(key), variable)
    _read = read


def _is_more_than_words(run: bytes, form: bytes) -> bool:
    """Whether a part of a key is more than words, which may stand there by chance."""
    return len(run) >= min(2 * PART, len(form)) or _WORDS.fullmatch(run) is None


def _run(text: bytes, at: int, form: bytes, offset: int) -> tuple[int, int]:
    start = end = 0
    while start < min(at, offset) and text[at - start - 1] == form[offset - start - 1]:
        start += 1
    while (
        end < min(len(text) - at, len(form) - offset)
        and text[at + end] == form[offset + end]
    ):
        end += 1
    return at - start, at + end


@lru_cache(maxsize=16)
def _grams(
    known: tuple[tuple[str, str], ...],
) -> dict[int, list[tuple[bytes, int, str]]]:
    """The forms of keys, with positions and variables, by
    the characters at each position.
    """
    forms = {
        form.encode("utf-8", "surrogatepass"): name
        for value, name in known
        for key in _keys(value, name)
        for form in _written(key)
    }
    grams: dict[int, list[tuple[bytes, int, str]]] = {}
    for form, name in forms.items():
        for at in range(len(form) - GRAM + 1):
            gram = int.from_bytes(form[at : at + GRAM], sys.byteorder)
            grams.setdefault(gram, []).append((form, at, name))
    return grams


def _keys(value: str, name: str) -> Iterator[str]:
    if name.upper() in ADDRESSES:
        parts = re.split(r"[:/?#=&\[\]]+", value.rpartition("@")[0] or value)
        yield from (
            key
            for part in parts
            for key in {part, unquote(part)}
            if len(key) >= SHORTEST
        )
        return
    if name == HEADERS:
        for line in value.splitlines():
            yield from _keys(line.partition(":")[2].strip(), AUTHORIZATION)
        return
    if name != AUTHORIZATION and not _SCHEME.fullmatch(value):
        yield value
        return
    scheme, _, rest = value.rpartition(" ")
    keys = [rest]
    if scheme.casefold() == "basic":
        try:
            decoded = base64.b64decode(rest, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            decoded = ""
        keys += [decoded, decoded.partition(":")[2]]
    yield from (key for key in keys if len(key) >= SHORTEST)


def _written(key: str) -> Iterator[str]:
    data = key.encode("utf-8", "surrogateescape")
    escaped = json.dumps(key)[1:-1]
    yield from (key, escaped, escaped.replace("/", "\\/"))
    for safe in ("", "/"):
        encoded = quote(data, safe=safe)
        yield from (encoded, re.sub("%..", lambda found: found[0].lower(), encoded))
    for every in (data.hex(), "".join(f"%{byte:02x}" for byte in data)):
        yield from (every, every.upper())
    for shift in range(3):
        # The first and the last characters also depend on the text around the key.
        first, last = -(-shift * 8 // 6), (shift + len(data)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(b"\0" * shift + data).decode()[first:last]
