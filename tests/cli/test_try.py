"""``recsys-mt try``: one question to any kind of model, as sent, answered and read."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extras import need
from tests.models.faults import FaultServer, Reply, completion
from tests.support.cli import main
from tests.support.recommenders import ORIGIN
from tests.support.safety import AUTHORIZATION

# Runs inside this process must not be the first to import what cannot be imported
# twice.
importlib.import_module("pytest_recsys_mt.llm.api.transport")

TOKEN = "sentinel-0123456789"
SHORT = "abc123"

SHOP = """
from pytest_recsys_mt import Completion, NotApplicable, Recommendation

class Odd:
    def recommend(self, requests):
        return [
            Recommendation(("nope", r.history[0].item.id, r.candidates[0].id, r.candidates[0].id))
            for r in requests
        ]

class Broken:
    def recommend(self, requests):
        return [requests[0].histry]

class Shy:
    def recommend(self, requests):
        raise NotApplicable("not before noon")

class Text:
    def complete(self, prompts):
        return [Completion("1. Heat (1995)\\n2. Qwertz Uiop (1911)") for _ in prompts]
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    return tmp_path


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as faulty:
        yield faulty


def tried(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["try", *arguments])
    return status, capsys.readouterr().out


def test_a_built_in_recommender_is_fitted_and_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, out = tried(capsys, "itemknn", "--user=u003", "-k", "3")
    assert status == 0
    assert "itemknn for user 'u003' of mini: 20 ratings, 20 candidates, k=3" in out
    assert "\nread\n  3 items\n    1. m" in out
    status, out = tried(capsys, "itemknn", "--open")
    assert "the whole catalogue, k=10" in out
    assert "<-" not in out


def test_what_is_wrong_with_each_item_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, out = tried(capsys, "shop.py:Odd", "-k", "3")
    assert status == 0
    *_, first, second, third, fourth = out.splitlines()
    assert first.endswith("<- not in the catalogue")
    assert second.endswith("<- the user has it")
    assert "<-" not in third
    assert fourth.endswith("<- beyond k=3; repeated")


def test_an_exception_is_shown_with_its_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["try", "shop.py:Broken"]) == 2
    assert "return [requests[0].histry]" in capsys.readouterr().err


def test_a_refusal_is_no_list(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = tried(capsys, "shop.py:Shy")
    assert status == 1
    assert "no list: not applicable: not before noon" in out


def test_an_unknown_user_is_named_with_a_near_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["try", "itemknn", "--user=u0003"]) == 2
    assert "no user 'u0003'; did you mean 'u003'?" in capsys.readouterr().err


def test_a_text_model_shows_its_prompt_and_what_is_not_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, out = tried(capsys, "shop.py:Text")
    assert status == 0
    assert "Act as a recommender system for one user" in out
    assert "not read: 'Qwertz Uiop (1911)': no known item has this title" in out


def test_an_endpoint_for_chat_shows_the_body(
    capsys: pytest.CaptureFixture[str],
    server: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", TOKEN)
    server.answer = lambda _: Reply(completion(f"1. Heat (1995)\n{TOKEN}"))
    status, out = tried(capsys, "openai:tiny-1")
    assert status == 0
    assert '"model": "tiny-1"' in out
    assert "Heat (1995)" in out
    assert TOKEN not in out


def test_a_server_of_the_contract_shows_each_request(
    capsys: pytest.CaptureFixture[str],
    server: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(AUTHORIZATION, f"Bearer {TOKEN}")
    monkeypatch.setenv(ORIGIN, f"http://127.0.0.1:{server.port}")
    server.answer = lambda payload: Reply({"answers": [{"items": [TOKEN]}]})
    _, out = tried(capsys, server.url)
    assert f"GET {server.url}/about\n  Authorization: Bearer [{AUTHORIZATION}]" in out
    assert f"POST {server.url}/recommend" in out
    assert "HTTP 404" in out
    assert TOKEN not in out


@pytest.mark.parametrize("key", [TOKEN, SHORT])
def test_an_endpoint_with_a_map_shows_what_the_map_makes_of_it(
    capsys: pytest.CaptureFixture[str],
    server: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
) -> None:
    need("jmespath")
    monkeypatch.setenv("SHOP_KEY", key)
    monkeypatch.setenv(ORIGIN, f"http://127.0.0.1:{server.port}")

    def answer(payload: dict[str, Any]) -> Reply:
        return Reply({"top": payload["of"][:2]})

    server.answer = answer
    Path("map.toml").write_text(
        'headers = {X-Api-Key = "{env.SHOP_KEY}"}\nbody = {of = "{candidates.ids}"}\nitems = "top"\n',
    )
    status, out = tried(capsys, server.url, "--map=map.toml")
    assert status == 0
    assert f"POST {server.url}\n" in out
    assert '{"of": ["m' in out
    assert "HTTP 200" in out
    assert "\nread\n  2 of the 10 items asked for\n    1. m" in out
    assert key not in out
    assert {headers["x-api-key"] for headers in server.headers} == {key}
    Path("map.toml").write_text('body = {}\nitems = "tip"\n')
    server.answer = lambda _: Reply({"top": []})
    status, out = tried(capsys, server.url, "--map=map.toml")
    assert status == 1
    assert "map.toml, line 2: items = 'tip' finds nothing in the answer; it has the fields 'top'" in out  # fmt: skip


def paged(path: str) -> Reply:
    items = [f"m{number:03}" for number in (1, 2)]
    return Reply({"items": items, "paging": {"next": None}, "model": "m7"})


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("paging.next", "finds nothing in the answer; 'paging' has the fields 'next', after page 1"),
        ("pagign.next", "finds nothing in the answer; it has the fields 'items', 'paging', 'model', after page 1"),
        ("model", "finds 'm7', after page 1, which was not read"),
    ],
)  # fmt: skip
def test_a_list_that_is_short_and_what_is_read_besides_are_said(
    capsys: pytest.CaptureFixture[str],
    server: FaultServer,
    path: str,
    told: str,
) -> None:
    need("jmespath")
    server.get_at = paged
    Path("map.toml").write_text(
        f'items = "items"\nversion = "model"\nnext = "{path}"\npages = 1\nquery = {{after = "{{cursor}}"}}\n',
    )
    status, out = tried(capsys, server.url, "--map=map.toml", "-k", "5")
    assert status == 0
    assert "\nread\n  2 of the 5 items asked for\n    1. m001" in out
    assert "map.toml, line 2: version = 'model' finds 'm7'\n" in out
    assert f"map.toml, line 3: next = '{path}' {told}\n" in out


def test_values_of_headers_that_stand_in_a_map_are_hidden(
    capsys: pytest.CaptureFixture[str],
    server: FaultServer,
) -> None:
    need("jmespath")
    Path("map.toml").write_text(
        f'headers = {{X-Tenant = "{TOKEN}", X-User = "{{user}}", X-Of = "{TOKEN} {{user}}"}}\nitems = "@"\nbody = {{}}\n',
    )
    server.answer = lambda _: Reply(["m001"])
    status, out = tried(capsys, server.url, "--map=map.toml")
    assert status == 0
    assert server.headers[0]["x-tenant"] == TOKEN
    assert server.headers[0]["x-of"] == f"{TOKEN} u001"
    assert "Content-Type: application/json\n  X-Tenant: [...]\n  X-User: u001\n  X-Of: [...]\n" in out  # fmt: skip
    assert TOKEN not in out
    assert "1 of the 10 items asked for" in out


def test_a_long_list_is_cut(
    capsys: pytest.CaptureFixture[str],
    server: FaultServer,
) -> None:
    need("jmespath")
    Path("map.toml").write_text('items = "@"\nbody = {n = "{k}"}\n')
    server.answer = lambda _: Reply([f"z{number}" for number in range(500)])
    status, out = tried(capsys, server.url, "--map=map.toml")
    assert status == 0
    assert "\n  500 items\n" in out
    assert "\n   20. z19 " in out
    assert out.endswith("\n  ... and 480 more\n")
    server.answer = lambda _: Reply(["m001"])
    _, out = tried(capsys, server.url, "--map=map.toml", "-k", "1")
    assert "\nread\n  1 item\n" in out
