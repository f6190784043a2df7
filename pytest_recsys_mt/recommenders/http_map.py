"""The map of an endpoint: how a request is sent, and where its answer holds the list."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from pytest_recsys_mt.recommenders.http_contract import About, ContractError, read_about
from pytest_recsys_mt.recommenders.http_fields import (
    CURSOR,
    OF_BATCH,
    OF_ITEM,
    OF_RATING,
    OF_REQUEST,
    Fields,
)
from pytest_recsys_mt.recommenders.http_key import OUR_HEADERS
from pytest_recsys_mt.recommenders.http_map_file import MapFile, brief
from pytest_recsys_mt.recommenders.http_map_keys import require_no_keys
from pytest_recsys_mt.recommenders.http_paths import Path
from pytest_recsys_mt.recommenders.http_template import (
    PLACEHOLDER,
    TemplateError,
    UnsendableError,
    Values,
    filled,
    in_text,
    names_in,
    pairs,
    parts_of,
    require_known,
)
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.safety.redaction import Secret

METHODS = ("GET", "POST", "PUT")

KEYS = (
    *("method", "path", "query", "headers", "body", "ids", "user_ids"),
    *("history", "candidates", "request", "items", "scores", "version", "error"),
    *("no_answer", "next", "pages", "batch", "answers", "user", "about"),
)
"""The keys of a map."""

PATHS = ("items", "scores", "version", "error", "next", "answers", "user")
"""Those whose values are paths into an answer."""

OF_BATCHES = ("request", "answers", "user")
"""Those that only a map with a batch has."""

FORMS: Mapping[str, Sequence[str]] = {
    "history": OF_RATING,
    "candidates": OF_ITEM,
    "request": OF_REQUEST,
}
"""The keys that hold the form of an entry, and the placeholders that it may have."""

_WHOLES = {"history": "history", "candidates": "candidates", "request": "requests"}
"""Those keys, and the placeholders of whose entries they are the form."""

VARIABLE = "env."
"""Begins the placeholder of an environment variable."""


def _may_mean_no_list(status: int) -> bool:
    return status == 204 or 300 <= status <= 599


_KINDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "method": (lambda it: it in METHODS, f"one of {', '.join(METHODS)}"),
    "path": (lambda it: isinstance(it, str), "a text such as '/users/{user}/items'"),
    "query": (lambda it: isinstance(it, dict), "a table, such as {n = '{k}'}"),
    "headers": (
        lambda it: (
            isinstance(it, dict) and all(isinstance(v, str) for v in it.values())
        ),
        "a table of texts, such as {X-Api-Key = '{env.SHOP_KEY}'}",
    ),
    "ids": (lambda it: it in ("text", "number"), "'text' or 'number'"),
    "user_ids": (lambda it: it in ("text", "number"), "'text' or 'number'"),
    "no_answer": (
        lambda it: (
            isinstance(it, list)
            and all(type(each) is int and _may_mean_no_list(each) for each in it)
        ),
        "a list of HTTP statuses of responses without a list, such as [404, 204]; one of another status 2xx is an answer",
    ),
    "pages": (
        lambda it: type(it) is int and 1 <= it <= 1000,
        "a whole number in 1..1000",
    ),
    "batch": (
        lambda it: type(it) is int and 1 <= it <= 1000,
        "a whole number in 1..1000",
    ),
    "body": (
        lambda it: isinstance(it, dict | list),
        "a table or a list, such as {n = '{k}'}",
    ),
    "about": (lambda it: isinstance(it, dict), "a table, as the answer of /about"),
}
"""What the values of keys must be."""


@dataclass(frozen=True)
class Sent:
    """One HTTP request.

    Attributes:
        method: GET, POST or PUT.
        url: The address, with the query.
        headers: Those of the map; a value is a `Secret`, unless it is that of one field
            of the request.
        body: Of JSON, if there is one.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


class Map:
    """How a request is sent and its answer is read.

    Args:
        file: The file that says so.

    Attributes:
        digest: Of all that the file says, but for comments and line breaks.
        batch: Most requests of one HTTP request; None sends each alone.
        pages: Most pages that are read for one answer.
        no_answer: Statuses that mean that a user gets no list.
        paths: The paths into an answer, by key.
        about: What the map declares of the recommender.
        asks_for_k: Whether the length of the list is sent.
        sends_cursor: Whether the cursor of a page is sent.
        variables: The environment variables that headers name.

    Raises:
        RecommenderError: If the file says something that a map cannot.
    """

    def __init__(self, file: MapFile) -> None:
        self.file = file
        given = file.data
        file.require_keys(given, KEYS)
        for key, (fits, wanted) in _KINDS.items():
            if key in given and not fits(given[key]):
                raise file.error(f"it is {brief(given[key])}; it must be {wanted}", key)
        self.batch: int | None = given.get("batch")
        self.pages: int = given.get("pages", 10)
        self.no_answer = frozenset(given.get("no_answer", ()))
        self._body = given.get("body")
        self._method = given.get("method", "GET" if self._body is None else "POST")
        self._path: str = given.get("path", "")
        self._query: Mapping[str, Any] = given.get("query", {})
        self.headers: Mapping[str, str] = given.get("headers", {})
        self._require_together()
        self.paths = {
            key: Path(file, (key,), given[key]) for key in PATHS if key in given
        }
        ids = given.get("ids", "text")
        forms = {key: given[key] for key in FORMS if key in given}
        self._fields = Fields(
            given.get("user_ids", ids) == "number", ids == "number", forms
        )
        names = self._checked_names()
        self.variables = tuple(
            dict.fromkeys(
                name.removeprefix(VARIABLE)
                for name in names
                if name.startswith(VARIABLE)
            )
        )
        in_each = {*names_in(forms["request"])} if "request" in forms else {"k"}
        self.asks_for_k = "k" in names or ("requests" in names and "k" in in_each)
        self.sends_cursor = CURSOR in names
        self.about = self._declared(names)
        text = json.dumps(given, sort_keys=True, default=str)
        self.digest = hashlib.sha256(text.encode()).hexdigest()[:32]

    def sent(
        self,
        url: str,
        requests: Sequence[Request],
        secrets: Mapping[str, Secret],
        cursor: Any = None,
    ) -> Sent:
        """The HTTP request for a request, or for those of a batch.

        Args:
            url: The address of the server.
            requests: One, if the map has no batch.
            secrets: The values of `variables`.
            cursor: That of the page.

        Raises:
            UnfilledError: If the path or a header needs a value that is missing.
            UnsendableError: If a value cannot be sent.
        """
        values: Values
        if self.batch is None:
            values = partial(self._fields.of_request, requests[0], cursor)
        else:
            values = partial(self._fields.of_batch, requests)
        path = in_text(self._path, values, _segment, required=True)
        query = urlencode(pairs(self._query, values))
        url += f"/{path.lstrip('/')}" if path else ""
        url += f"?{query}" if query else ""
        body = None
        if self._body is not None:
            body = json.dumps(filled(self._body, values), allow_nan=False).encode()
        headers = {
            name: _header(name, text, values, secrets)
            for name, text in self.headers.items()
        }
        return Sent(self._method, url, headers, body)

    def _require_together(self) -> None:
        """Raise an error for keys of which one needs another, or excludes it."""
        given, file = self.file.data, self.file
        if "items" not in given:
            raise file.error(
                "it is missing; it says where an answer holds the list, such as items = 'result.hits[].sku'",
                "items",
            )
        if self._body is not None and self._method == "GET":
            raise file.error("a GET has no body; take method = 'POST'", "body")
        if "pages" in given and "next" not in given:
            raise file.error("it needs next, which leads from page to page", "pages")
        if self.batch is None:
            for key in OF_BATCHES:
                if key in given:
                    raise file.error(
                        "it is for many requests in one; add batch, such as batch = 32",
                        key,
                    )
        elif "answers" not in given:
            raise file.error(
                "it needs answers, which says where the list of all answers is, such as answers = 'results'",
                "batch",
            )
        elif "next" in given:
            raise file.error("pages are read for one request; leave out batch", "next")
        if re.match(r"\w+://|//", self._path):
            raise file.error(
                "it is a whole address; the spec names the server, and path what follows, such as '/users/{user}/items'",
                "path",
            )
        if "?" in self._path or "#" in self._path:
            raise file.error("parameters of the address stand under query", "path")

    def _checked_names(self) -> set[str]:
        """The placeholders of the request, each of which exists."""
        known: list[str] = list(OF_REQUEST if self.batch is None else OF_BATCH)
        if "next" in self.file.data:
            known.append(CURSOR)
        found = set[str]()
        for key in ("path", "query", "body"):
            if key in self.file.data:
                found |= self._names(self.file.data[key], known, key)
        for name, text in self.headers.items():
            keys = ("headers", name)
            self._require_header(name)
            found |= self._names(text, [*known, f"{VARIABLE}NAME"], *keys)
        self._require_forms(found)
        require_no_keys(self.file, self.headers, self._query)
        if self.batch is not None and not found & {"requests", "users"}:
            raise self.file.error(
                "nothing that is sent names the requests; put '{requests}' or '{users}' into body or query",
                "batch",
            )
        return found

    def _require_forms(self, found: set[str]) -> None:
        """Raise an error for a form of an entry that is wrong, or that nothing uses."""
        given = self.file.data
        sent = found | self._names(given.get("request", {}), OF_REQUEST, "request")
        for key, whole in _WHOLES.items():
            if key not in given:
                continue
            self._names(given[key], FORMS[key], key)
            is_plain = "requests" in found and "request" not in given
            if whole not in sent or (key != "request" and is_plain):
                raise self.file.error(
                    f"it is the form of one entry of {{{whole}}}, which nothing sends",
                    key,
                )

    def _names(self, template: Any, known: Sequence[str], *keys: str) -> set[str]:
        """The placeholders of a template, checked at the key in which each stands."""
        found = set[str]()
        for place, part in parts_of(template, keys):
            try:
                for name in names_in(part):
                    require_known(name, known)
                    found.add(name)
            except TemplateError as error:
                hint = self._hint(part)
                raise self.file.error(f"{error}{hint}", *place) from None
        return found

    def _hint(self, part: Any) -> str:
        names = {*re.findall(r"\{([^{}]*)\}", part)} if isinstance(part, str) else set()
        if any(name.startswith(VARIABLE) for name in names):
            return "; a variable of the environment is sent in headers alone"
        if CURSOR in names:
            return "; {cursor} needs next"
        if self.batch is None and names & {"requests", "users"}:
            return "; {requests} and {users} need batch"
        return ""

    def _require_header(self, name: str) -> None:
        if not re.fullmatch(r"[\w-]+", name, re.ASCII):
            raise self.file.error("it is not the name of a header", "headers", name)
        if name.lower() in OUR_HEADERS - {"accept"}:
            raise self.file.error("this header is set by the client", "headers", name)

    def _declared(self, names: set[str]) -> About:
        """What the map says of the recommender under ``about``, and what a server cannot
        read because it is not sent.
        """
        about = self.file.data.get("about", {})
        fields = [*About.__dataclass_fields__]
        self.file.require_keys(about, fields, "about")
        try:
            said = read_about(json.dumps(about, default=str).encode())
        except ContractError as error:
            raise self.file.error(
                str(error).replace("the contract wants", "it must be"), "about"
            ) from None
        sent = self._fields.read_by([*names])
        aspects = ("ratings", "history", "candidates", "user", "titles", "instruction")
        unread = [each for each in aspects if each not in sent]
        ignores = dict.fromkeys([*said.ignores, *unread])
        return replace(said, ignores=tuple(ignores))


def _segment(text: str) -> str:
    if text in (".", ".."):
        raise UnsendableError(f"{text!r} cannot be a part of an address")
    return quote(text, safe="")


def _header(
    name: str, template: str, values: Values, secrets: Mapping[str, Secret]
) -> str:
    """The value of a header; a `Secret` unless it is that of one field of the request:
    what else stands in it may be a key.
    """
    alone = PLACEHOLDER.fullmatch(template)
    is_field = alone is not None and alone[1] is not None
    is_field = is_field and not template.startswith(f"{{{VARIABLE}")

    def value(placeholder: str) -> Any:
        if placeholder.startswith(VARIABLE):
            return secrets[placeholder.removeprefix(VARIABLE)]
        return values(placeholder)

    text = Secret(in_text(template, value))
    if not (text.isascii() and text.isprintable()):
        raise UnsendableError(
            f"the header {name} would hold characters that no header may have"
        )
    return str(text) if is_field else text
