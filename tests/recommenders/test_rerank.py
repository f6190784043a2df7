"""Re-rankers behind ``/rerank``, in the forms of Cohere and of TEI."""

import importlib
import re
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_recsys_mt import NotApplicable, RecommenderError
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale
from tests.models.faults import FaultServer, Reply
from tests.support.recommenders import HEADER, Reranker, http, resolve
from tests.support.safety import AUTHORIZATION

# Runs inside this process must not be the first to import what cannot be imported
# twice.
importlib.import_module("pytest_recsys_mt.llm.api.transport")

TOKEN = "sentinel-0123456789"
FILMS = tuple(Item(f"m{number}", f"Film {number}", 1990) for number in range(5))


def request(**changes: Any) -> Request:
    history = (Rating(FILMS[0], 4.0), Rating(FILMS[1], 1.0))
    return Request("u1", history, Scale(), FILMS[2:], 2).replace(**changes)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setattr(http, "MAX_WAIT", 0.0)
    with FaultServer() as faulty:
        monkeypatch.setenv("RERANK_BASE_URL", faulty.url)
        monkeypatch.setenv("RERANK_API_KEY", TOKEN)
        yield faulty


def ask(spec: str, asked: Request) -> Recommendation | NotApplicable:
    recommender = resolve(spec)
    assert isinstance(recommender, Reranker)
    try:
        ((_, answer),) = next(iter(recommender.recommend_each([asked])))
    finally:
        recommender.close()
    return answer


def results(*scores: float) -> list[dict[str, Any]]:
    return [
        {"index": place, "relevance_score": score} for place, score in enumerate(scores)
    ]


def test_documents_are_ranked_for_the_titles_of_the_history(
    server: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(HEADER, "X-API-Key")  # of another kind of recommender
    monkeypatch.setenv(AUTHORIZATION, "Bearer of-another-server")
    paths: list[str] = []
    server.at = paths.append
    server.answer = lambda _: Reply({"results": results(0.1, 0.9, 0.5)})
    answer = ask("rerank:org/model:1", request())
    assert isinstance(answer, Recommendation)
    assert answer.items == ("m3", "m4")
    assert paths == ["/v1/rerank"]
    assert server.asked == [
        {
            "model": "org/model:1",
            "query": "Film 0 (1990), Film 1 (1990)",
            "documents": ["Film 2 (1990)", "Film 3 (1990)", "Film 4 (1990)"],
            "top_n": 3,
        },
    ]
    assert server.headers[0]["authorization"] == f"Bearer {TOKEN}"
    assert "x-api-key" not in server.headers[0]


def test_the_form_of_tei(server: FaultServer) -> None:
    said = [{"index": place, "score": place} for place in range(3)]
    server.answer = lambda _: Reply(said)
    answer = ask("rerank:any?form=texts", request())
    assert isinstance(answer, Recommendation)
    assert answer.items == ("m4", "m3")
    assert server.asked[0].keys() == {"query", "texts"}


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply({"results": results(1, 2)}), "2 results for 3 documents"),
        (Reply({"results": [{"index": 3, "relevance_score": 1}]}), "has not an index below 3, once"),
        (Reply({"results": [{"index": 0}]}), "a finite relevance_score or score"),
        (Reply({"data": []}), "it must hold a list of results"),
        (Reply({"detail": TOKEN}, 401), "HTTP 401 (set RERANK_API_KEY)"),
        (Reply({}, 404), "HTTP 404 (check RERANK_BASE_URL, to which /rerank is added"),
    ],
)  # fmt: skip
def test_a_wrong_answer_says_what_it_holds(
    server: FaultServer,
    reply: Reply,
    told: str,
) -> None:
    server.answer = lambda _: reply
    answer = ask("rerank:any", request())
    assert isinstance(answer, Recommendation)
    assert answer.error is not None
    assert told in answer.error
    assert TOKEN not in answer.error


@pytest.mark.parametrize("asked", [request(candidates=None), request(history=())])
def test_what_it_cannot_rank_is_not_applicable(
    server: FaultServer,
    asked: Request,
) -> None:
    assert isinstance(ask("rerank:any", asked), NotApplicable)
    assert server.asked == []


@pytest.mark.parametrize(
    ("spec", "url", "key", "told"),
    [
        ("rerank:", "", "", "'rerank:' names no model"),
        ("rerank:m?form=tei", "", "", "form='tei' is not one of 'documents', 'texts'"),
        ("rerank:m", "https://u:p@shop.example", "", "RERANK_BASE_URL"),
        ("rerank:m", "", "", "https://api.cohere.com/v2 needs a key: set RERANK_API_KEY"),
        ("rerank:m", "http://shop.example", TOKEN, "RERANK_API_KEY would go unencrypted"),
    ],
)  # fmt: skip
def test_a_spec_or_a_key_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch,
    spec: str,
    url: str,
    key: str,
    told: str,
) -> None:
    monkeypatch.setenv("RERANK_BASE_URL", url)
    monkeypatch.setenv("RERANK_API_KEY", key)
    with pytest.raises(RecommenderError, match=re.escape(told)):
        resolve(spec).require_key()  # type: ignore[union-attr]


def test_the_model_and_the_server_are_the_key_of_an_answer(
    server: FaultServer,
) -> None:
    one, other = resolve("rerank:a"), resolve("rerank:b?version=2")
    assert isinstance(one, Reranker)
    assert isinstance(other, Reranker)
    assert one.identity != other.identity
    assert (one.fingerprint, other.fingerprint) == ("a", "2")
    assert one.ignores == ("ratings", "instruction")
