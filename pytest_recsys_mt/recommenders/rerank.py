"""Re-rankers behind HTTP: ``--recsys-model=rerank:bge-reranker-v2-m3``."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Literal

from pytest_recsys_mt.llm.api.endpoint import Endpoint
from pytest_recsys_mt.recommenders import http_contract
from pytest_recsys_mt.recommenders.http import HTTPRecommender
from pytest_recsys_mt.recommenders.http_contract import About, Answered
from pytest_recsys_mt.requests import Recommendation, Request, specs
from pytest_recsys_mt.safety.errors import NotApplicable, RecommenderError
from pytest_recsys_mt.safety.redaction import Secret, secret, shortened
from pytest_recsys_mt.safety.sanitize import one_line

URL, KEY = "RERANK_BASE_URL", "RERANK_API_KEY"
"""Environment variables: the address before ``/rerank``, and the key of its server."""

DEFAULT = "https://api.cohere.com/v2"
"""The address if the environment names none."""

_HINTS: Mapping[int, str] = {
    400: "compare the server with form= of the spec: 'documents', or 'texts' of TEI",
    401: f"set {KEY}",
    403: f"check what {KEY} may do",
    404: f"check {URL}, to which /rerank is added, and the name of the model",
    422: "compare the server with form= of the spec: 'documents', or 'texts' of TEI",
    429: "lower concurrency= in the spec",
}


class Reranker(HTTPRecommender):
    """A server that ranks documents for a query: Cohere, Jina, vLLM, TEI and alike.

    The query holds the titles of the history, oldest first, and the documents are those
    of the candidates. Ratings are not sent. The environment alone names the server
    (`URL`) and its key (`KEY`).

    Args:
        model: Its name at the server.
        form: ``documents``, the form of Cohere, Jina and vLLM, or ``texts``, that of TEI,
            which serves one model.
        concurrency: As of an `HTTPRecommender`.
        timeout: Likewise.
        max_wait: Likewise.
        version: A text that is part of the key of each kept answer.
        deterministic: Whether equal requests get equal answers.

    Raises:
        RecommenderError: If an argument or the address is wrong.
    """

    def __init__(
        self,
        model: str,
        *,
        form: Literal["documents", "texts"] = "documents",
        concurrency: int | None = None,
        timeout: float = 30.0,
        max_wait: float | None = None,
        version: str | None = None,
        deterministic: bool = False,
    ) -> None:
        if not model.strip():
            raise RecommenderError("'rerank:' names no model; write 'rerank:MODEL'")
        given = Secret(os.environ.get(URL, "").strip() or DEFAULT)
        super().__init__(
            Endpoint.parse(given, URL, DEFAULT, KEY).url,
            batch=1,
            concurrency=concurrency,
            timeout=timeout,
            max_wait=max_wait,
            version=version,
            deterministic=deterministic,
        )
        self.model = model
        self.form = form

    @classmethod
    def from_spec(cls, spec: str) -> Reranker:
        """The re-ranker in ``rerank:MODEL?form=texts``; raises as the class."""
        target, given = specs.split(spec)
        model = target.partition(":")[2]
        made: Reranker = specs.build(partial(cls, model), given, spec)
        return made

    @property
    def identity(self) -> Mapping[str, object]:
        url = self.endpoint.url
        return {"recommender": url, "model": self.model, "form": self.form}

    @cached_property
    def about(self) -> About:
        """What is known of every re-ranker."""
        version = self._pinned or self.model
        return About(version, ignores=("ratings", "instruction"))

    def require_key(self) -> None:
        """Raise an error if the key would be sent unencrypted, or the default server
        gets none.
        """
        if self._key is None and self.endpoint.url == DEFAULT:
            raise RecommenderError(
                f"{DEFAULT} needs a key: set {KEY}, or {URL} to the address of another server",
            )

    @property
    def _address(self) -> str:
        return f"{self.endpoint.url}/rerank"

    @property
    def _key_header(self) -> str:
        return "Authorization"

    @cached_property
    def _key(self) -> Secret | None:
        key = secret(KEY)
        if not key:
            return None
        if not (key.isascii() and key.isprintable()):
            raise RecommenderError(f"{KEY} holds characters that no header may have")
        if not self.endpoint.url.startswith("https:") and not self.endpoint.is_loopback:
            raise RecommenderError(
                f"{KEY} would go unencrypted to {self.endpoint.url}: use https, or unset it for a server that needs none",
            )
        return Secret(f"Bearer {key}")

    async def _answers(self, requests: Sequence[Request]) -> list[Answered]:
        (request,) = requests
        if request.candidates is None:
            return [NotApplicable("a re-ranker ranks candidates only")]
        if not request.history:
            return [NotApplicable("a re-ranker needs a history, which is its query")]
        content = await self._call("POST", self._address, self._body(request))
        ranked = order(content, len(request.candidates))
        best = [request.candidates[place].id for place in ranked[: request.k]]
        return [Recommendation(tuple(best))]

    def _body(self, request: Request) -> bytes:
        query = ", ".join(rating.item.label for rating in request.history)
        documents = [item.label for item in request.candidates or ()]
        body: dict[str, Any] = {"query": query}
        if self.form == "texts":
            body["texts"] = documents
        else:
            body |= {"model": self.model, "documents": documents}
            body["top_n"] = len(documents)
        return json.dumps(body).encode()

    def _reason(self, error: Exception, url: str) -> str:
        return shortened(one_line(http_contract.describe(error, url, _HINTS, "")), 300)


def order(content: bytes, count: int) -> list[int]:
    """The documents by their scores, highest first, each by its place in the request.

    Raises:
        ContractError: If the response is no list of an ``index`` and a
            ``relevance_score`` (TEI: ``score``) for each document.
    """
    try:
        said = json.loads(content.decode())
    except (ValueError, RecursionError):
        said = None
    results = said.get("results") if isinstance(said, dict) else said
    if not isinstance(results, list):
        text = shortened(one_line(content.decode(errors="replace")), 120)
        raise http_contract.ContractError(
            f"the answer is {text!r}; it must hold a list of results"
        )
    scores: dict[int, float] = {}
    for each in results:
        found: dict[str, Any] = each if isinstance(each, dict) else {}
        place: Any = found.get("index")
        score: Any = found.get("relevance_score", found.get("score"))
        is_score = isinstance(score, int | float) and not isinstance(score, bool)
        is_place = type(place) is int and 0 <= place < count and place not in scores
        if not is_place or not is_score or not math.isfinite(score):
            text = shortened(one_line(repr(each)), 120)
            raise http_contract.ContractError(
                f"the result {text} has not an index below {count}, once, and a finite relevance_score or score"
            )
        scores[place] = float(score)
    if len(scores) != count:
        raise http_contract.ContractError(
            f"{len(scores)} results for {count} documents"
        )
    return sorted(scores, key=lambda place: (-scores[place], place))
