"""Endpoints of five shapes, each described by a map of at most ten lines, and the
mistakes that a map can have.
"""

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from pytest_recsys_mt import NotApplicable, RecommenderError
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale
from tests.extras import need
from tests.journeys.pages import DOCS
from tests.models.faults import FaultServer, Reply
from tests.plugin.conftest import record_of
from tests.support.recommenders import (
    KEYS,
    OF_BATCH,
    OF_RATING,
    OF_REQUEST,
    ORIGIN,
    MappedRecommender,
    http,
    resolve,
)
from tests.support.safety import AUTHORIZATION

need("jmespath")

# Runs inside this process must not be the first to import what cannot be imported
# twice.
importlib.import_module("pytest_recsys_mt.llm.api.transport")

TOKEN = "sentinel-0123456789"

GET = """\
path = "/users/{user}/recommendations"
query = {n = "{k}", country = "{attributes.country}", exclude = "{history.ids}"}
items = "recommendations[].id"
"""
NESTED = """\
path = "search"
items = "result.hits[].sku"
scores = "result.hits[].score"
version = "result.model"
error = "fault.text"
history = {sku = "{id}", stars = "{rating}"}
[body.query]
profile = "{history}"
among = "{candidates.ids}"
size = "{k}"
"""
PAGED = """\
query = {user = "{user}", after = "{cursor}"}
items = "items"
next = "paging.next"
pages = 3
"""
BATCHED = """\
method = "PUT"
batch = 4
body = {queries = "{requests}", size = "{k}"}
request = {uid = "{user}", liked = "{history.ids}"}
answers = "results"
user = "uid"
items = "top[*].film"
"""
NUMBERED = """\
path = "/rank/{user}"
ids = "number"
body = {seen = "{history.ids}", from = "{candidates.ids}", last = "item {history.last}"}
items = "@"
no_answer = [404, 204]
"""
MAPS = {"get": GET, "nested": NESTED, "paged": PAGED, "batched": BATCHED, "numbered": NUMBERED}  # fmt: skip


def item(number: int) -> Item:
    return Item(str(number), f"Film {number}", 1990 + number)


def request(user: str = "7", **changes: Any) -> Request:
    history = (Rating(item(1), 4.0, 17), Rating(item(2), 1.0))
    asked = Request(user, history, Scale(), (item(3), item(4), item(5)), 2)
    return asked.replace(**changes)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    monkeypatch.setattr(http, "MAX_WAIT", 0.0)
    with FaultServer() as faulty:
        yield faulty


Made = Callable[..., MappedRecommender]


@pytest.fixture
def mapped(
    server: FaultServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Made]:
    """Makes the recommender of the server from a spec with a map."""
    monkeypatch.chdir(tmp_path)
    made: list[MappedRecommender] = []

    def make(text: str, more: str = "") -> MappedRecommender:
        Path("map.toml").write_text(text, encoding="utf-8")
        recommender = resolve(f"{server.url}?map=map.toml{more}")
        assert isinstance(recommender, MappedRecommender)
        made.append(recommender)
        return recommender

    yield make
    for recommender in made:
        recommender.close()


def ask(
    recommender: MappedRecommender,
    *requests: Request,
) -> list[Recommendation | NotApplicable]:
    found: dict[int, Recommendation | NotApplicable] = {}
    for arrived in recommender.recommend_each(requests or [request()]):
        found.update(arrived)
    return [found[position] for position in sorted(found)]


def items_of(answer: Recommendation | NotApplicable) -> tuple[str, ...]:
    assert isinstance(answer, Recommendation)
    assert answer.error is None
    return answer.items


def reason(recommender: MappedRecommender, *requests: Request) -> str:
    (answer,) = ask(recommender, *requests)
    assert isinstance(answer, Recommendation)
    assert answer.items == ()
    assert answer.error is not None
    return answer.error


@pytest.mark.parametrize("shape", MAPS)
def test_each_shape_takes_ten_lines_at_most(shape: str) -> None:
    assert len(MAPS[shape].splitlines()) <= 10


def test_a_get_with_a_query(server: FaultServer, mapped: Made) -> None:
    asked: list[str] = []

    def get(path: str) -> Reply:
        asked.append(path)
        return Reply({"recommendations": [{"id": "a"}, {"id": "b"}]})

    server.get_at = get
    recommender = mapped(GET)
    assert items_of(*ask(recommender, request("a/b ?"))) == ("a", "b")
    (path,) = asked
    assert urlsplit(path).path == "/v1/users/a%2Fb%20%3F/recommendations"
    assert parse_qs(urlsplit(path).query) == {"n": ["2"], "exclude": ["1,2"]}
    ask(recommender, request(attributes={"country": "AT"}))
    assert parse_qs(urlsplit(asked[1]).query)["country"] == ["AT"]
    assert recommender.ignores == ("ratings", "candidates", "titles", "instruction")


def test_a_nested_post_is_ordered_by_its_scores(
    server: FaultServer,
    mapped: Made,
) -> None:
    hits = [{"sku": "x", "score": 0.1}, {"sku": "y", "score": 7}]
    server.answer = lambda _: Reply({"result": {"model": "m3", "hits": hits}})
    recommender = mapped(NESTED)
    assert items_of(*ask(recommender)) == ("y", "x")
    profile = [{"sku": "1", "stars": 4.0}, {"sku": "2", "stars": 1.0}]
    assert server.asked == [
        {"query": {"profile": profile, "among": ["3", "4", "5"], "size": 2}},
    ]
    server.answer = lambda _: Reply({"fault": {"text": "no shelf"}})
    assert (
        reason(recommender)
        == f"{server.url}: the server says: no shelf (map.toml, line 5: error)"
    )
    server.answer = lambda _: Reply({"result": {"model": "m4", "hits": []}})
    assert "version 'm4' answers, and it was 'm3' before" in reason(recommender)


def test_pages_are_read_until_the_list_is_long_enough(
    server: FaultServer,
    mapped: Made,
) -> None:
    pages = {None: (["a", "b"], "p2"), "p2": (["c", "d"], "/v1?after=p3"), "p3": (["e"], None)}  # fmt: skip
    asked: list[str | None] = []

    def get(path: str) -> Reply:
        after = parse_qs(urlsplit(path).query).get("after", [None])[0]
        asked.append(after)
        items, following = pages[after]
        return Reply({"items": items, "paging": {"next": following}})

    server.get_at = get
    recommender = mapped(PAGED)
    assert items_of(*ask(recommender, request(k=3))) == ("a", "b", "c")
    assert asked == [None, "p2"]
    asked.clear()
    assert items_of(*ask(recommender, request(k=9))) == ("a", "b", "c", "d", "e")
    assert asked == [None, "p2", "p3"]
    assert recommender.notes == []  # of three candidates


def test_pages_have_a_limit_that_is_counted_and_lead_nowhere_else(
    server: FaultServer,
    mapped: Made,
) -> None:
    server.get_at = lambda path: Reply({"items": ["a"], "paging": {"next": path + "0"}})
    recommender = mapped(PAGED)
    assert items_of(*ask(recommender, request(k=9))) == ("a", "a", "a")
    assert items_of(*ask(recommender, request(k=9))) == ("a", "a", "a")
    capped, repeated = sorted(recommender.notes)
    assert "2 lists end at 3 pages" in capped
    assert repeated == f"{server.url}: 2 lists have items more than once"
    elsewhere = {"next": "https://evil.example/"}
    server.get_at = lambda path: Reply({"items": ["a"], "paging": elsewhere})
    assert "https://evil.example:443, another server" in reason(recommender)
    server.get_at = lambda path: Reply({"items": ["a"], "paging": {"next": "again"}})
    assert "leads to 'again', which was read already" in reason(
        recommender,
        request(k=9),
    )


def test_a_page_without_items_ends_a_list(server: FaultServer, mapped: Made) -> None:
    asked: list[str] = []

    def get(path: str) -> Reply:
        asked.append(path)
        found = [["a", "b"], ["c"]][len(asked) - 1 : len(asked)]
        items = found[0] if found else []
        return Reply({"items": items, "paging": {"next": f"p{len(asked)}"}})

    server.get_at = get
    recommender = mapped(PAGED.replace("pages = 3", "pages = 9"))
    assert items_of(*ask(recommender, request(candidates=None, k=9))) == ("a", "b", "c")
    assert len(asked) == 3
    (note,) = recommender.notes
    assert note.startswith(f"{server.url}: 1 list ends at a page without items")


def test_a_cursor_that_nothing_sends_is_named(
    server: FaultServer, mapped: Made
) -> None:
    server.get_at = lambda path: Reply({"items": ["a"], "paging": {"next": "p2"}})
    text = 'query = {user = "{user}"}\nitems = "items"\nnext = "paging.next"\n'
    said = reason(mapped(text))
    assert "line 3: next = 'paging.next' leads to 'p2', which is no address" in said
    assert "put '{cursor}' into query or body" in said


def test_lists_that_are_short_or_repeat_items_are_counted(
    server: FaultServer, mapped: Made
) -> None:
    lists = {"1": ["a"], "2": ["a", "a"], "3": ["a", "b"], "4": []}
    server.answer = lambda asked: Reply(lists[asked["of"]])
    recommender = mapped('items = "@"\nbody = {of = "{user}", n = "{k}"}')
    ask(recommender, *map(request, lists))
    ask(recommender, request("1", candidates=(item(3),)))
    short, repeated = sorted(recommender.notes, reverse=True)
    assert repeated == f"{server.url}: 1 list has an item more than once"
    assert short.startswith(f"{server.url}: 2 lists have fewer items than asked for")
    assert "if the server has more, compare map.toml with what it takes" in short


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"items": ["a", "b"], "v": "1"}, "line 2: version = 'model' finds nothing in the answer; it has the fields 'items', 'v'"),
        ({"items": ["a", "b"], "model": None}, "version = 'model' finds nothing in the answer"),
        ({"items": ["a", "b"], "model": " "}, "version = 'model' finds an empty text"),
        ({"fault": "no shelf"}, "the server says: no shelf"),
    ],
)  # fmt: skip
def test_a_version_that_is_not_found_is_no_answer(
    server: FaultServer,
    mapped: Made,
    said: Any,
    told: str,
) -> None:
    server.answer = lambda _: Reply(said)
    text = 'items = "items"\nversion = "model"\nerror = "fault"\nbody = {}\n'
    assert told in reason(mapped(text))
    server.answer = lambda _: Reply({"of": said} if "fault" not in said else said)
    text = text.replace("{}", '{u = "{users}"}') + 'batch = 2\nanswers = "of"\n'
    assert told.partition(" finds")[0] in reason(mapped(text))


def test_a_batch_is_answered_by_user(server: FaultServer, mapped: Made) -> None:
    def answer(payload: dict[str, Any]) -> Reply:
        users = [each["uid"] for each in payload["queries"]]
        assert len({*users}) == len(users)
        found = [
            {"uid": user, "top": [{"film": f"{user}.1"}, {"film": 2}]}
            for user in reversed(users)
            if user != "5"
        ]
        return Reply({"results": found})

    server.answer = answer
    recommender = mapped(BATCHED)
    requests = [request(str(number % 6)) for number in range(12)]
    answers = ask(recommender, *requests, request("1", k=3))
    for asked, each in zip(requests, answers[:-1], strict=True):
        if asked.user != "5":
            assert items_of(each) == (f"{asked.user}.1", "2")
    missing = answers[5]
    assert isinstance(missing, Recommendation)
    assert missing.error is not None
    assert missing.error.startswith(f"{server.url}: map.toml, line 5: answers = 'results' has no answer to user '5'")  # fmt: skip
    assert sorted(len(each["queries"]) for each in server.asked) == [1, 4, 4, 4]
    sent = [each for payload in server.asked for each in payload["queries"]]
    assert {"uid": "0", "liked": ["1", "2"]} in sent
    assert recommender.identity == {
        "recommender": server.url,
        "map": recommender.map.digest,
    }


def test_numbers_and_users_without_a_list(server: FaultServer, mapped: Made) -> None:
    def answer(payload: dict[str, Any]) -> Reply:
        return Reply([5, 3])

    server.answer = answer
    recommender = mapped(NUMBERED)
    assert items_of(*ask(recommender)) == ("5", "3")
    assert server.asked == [{"seen": [1, 2], "from": [3, 4, 5], "last": "item 2"}]
    assert "the id 'u7' of a user is no whole number" in reason(
        recommender,
        request("u7"),
    )
    for status in (404, 204):
        server.answer = lambda _, status=status: Reply(b"", status)  # type: ignore[misc]
        (none,) = ask(recommender)
        assert isinstance(none, NotApplicable)
        assert str(none) == f"HTTP {status}, which no_answer of map.toml names"
    ask(recommender, request(candidates=None))
    assert server.asked[-1]["from"] is None


def test_a_batch_with_one_unknown_user_loses_no_other(
    server: FaultServer,
    mapped: Made,
) -> None:
    def answer(payload: dict[str, Any]) -> Reply:
        users = payload["users"]
        if "3" in users:
            return Reply({}, 404)
        return Reply({user: [f"{user}.1", f"{user}.2", "more"] for user in users})

    server.answer = answer
    recommender = mapped(
        'batch = 8\nbody = {users = "{users}"}\nanswers = "@"\nitems = "@"\nno_answer = [404]',
    )
    answers = ask(recommender, *(request(str(number)) for number in range(6)))
    for number, each in enumerate(answers):
        if number == 3:
            assert isinstance(each, NotApplicable)
        else:
            assert items_of(each) == (f"{number}.1", f"{number}.2")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('itms = "a"', "map.toml, line 1: itms: there is no such key; did you mean 'items'?; valid ones: method, path"),
        ("", "map.toml: items: it is missing"),
        ("items = 3", "line 1: items: 3 is no path"),
        ('items = "a[.b"', "line 1: items: 'a[.b' is no JMESPath"),
        ('items = "a"\nmethod = "HEAD"', "line 2: method: it is 'HEAD'; it must be one of GET, POST, PUT"),
        ('items = "a"\npath = "/{usr}"', "line 2: path: there is no placeholder {usr} here; did you mean 'user'?; valid ones: {user}, {k}"),
        ('items = "a"\n\n[body.query]\nn = "{histry.ids}"', "line 4: body.query.n: there is no placeholder {histry.ids} here; did you mean 'history.ids'?"),
        ('items = "a"\nbody = {x = "{a"}', "line 2: body.x: '{a' has a brace alone"),
        ('items = "a"\nquery = {key = "{env.KEY}"}', "line 2: query.key: there is no placeholder {env.KEY} here"),
        ('items = "a"\nquery = {page = "{cursor}"}', "; {cursor} needs next"),
        ('items = "a"\nbody = ["{requests}"]', "; {requests} and {users} need batch"),
        ('items = "a"\nhistory = {x = "{user}"}', "line 2: history.x: there is no placeholder {user} here; valid ones: {id}, {title}"),
        ('items = "a"\nhistory = {x = "{id}"}', "line 2: history: it is the form of one entry of {history}, which nothing sends"),
        ('items = "a"\nmethod = "GET"\nbody = {}', "line 3: body: a GET has no body"),
        ('items = "a"\npages = 3', "line 2: pages: it needs next"),
        ('items = "a"\nbatch = 3\nbody = {}', "line 2: batch: it needs answers"),
        ('items = "a"\nbatch = 3\nanswers = "@"\nbody = {}', "nothing that is sent names the requests"),
        ('items = "a"\nuser = "u"', "line 2: user: it is for many requests in one; add batch"),
        ('items = "a"\nno_answer = 404', "line 2: no_answer: it is 404; it must be a list of HTTP statuses"),
        ('items = "a"\nno_answer = [404, 200]', "line 2: no_answer: it is [404, 200]; it must be a list of HTTP statuses of responses without a list, such as [404, 204]"),
        ('items = "a"\nids = "numbers"', "it must be 'text' or 'number'"),
        ('items = "a"\n[headers]\nX-Api-Key = "abc"', "line 3: headers.X-Api-Key: a key stands in the environment alone"),
        ('items = "a"\nquery = {api_key = "abc"}', "line 2: query.api_key: a key stands in the environment alone"),
        ('items = "a"\nquery = {api_key = ["abc"]}', "line 2: query.api_key: a key stands in the environment alone"),
        ('items = "a"\n[headers]\nX-Api-Key = "{{abc}}"', "line 3: headers.X-Api-Key: a key stands in the environment alone"),
        ('items = "a"\n[headers]\nCookie = "session=abc"', "line 3: headers.Cookie: a key stands in the environment alone: write Cookie = 'session={env.NAME}'"),
        ('items = "a"\n[headers]\ncookie = "u={user}; session=abc"', "line 3: headers.cookie: a key stands in the environment alone"),
        ('items = "a"\n[body]\ntoken = "abc"', "line 3: body.token: a key stands in the environment alone, and is sent as a header: headers = {token = '{env.NAME}'}"),
        ('items = "a"\n[body.login]\nuserPassword = "abc"', "line 3: body.login.userPassword: a key stands"),
        ('items = "a"\n[body]\nkey = "sk-T0PSECRET-9431"', "line 3: body.key: a key stands"),
        ('items = "a"\nhistory = {secret = "abc"}\nbody = ["{history}"]', "line 2: history.secret: a key stands"),
        ('items = "a"\n[headers]\nHost = "x"', "line 3: headers.Host: this header is set by the client"),
        ('items = "a"\n[about]\ndeterministic = "yes"', "deterministic is 'yes'; it must be true or false"),
        ('items = "a"\n[about]\nversions = "1"', "line 3: about.versions: there is no such key; did you mean 'version'?"),
        ('items = "a"\nbody = "text"', "line 2: body: it is 'text'; it must be a table or a list"),
        ('items = "a"\npath = "https://shop.example/a"', "line 2: path: it is a whole address; the spec names the server"),
        ("items = ", "the map 'map.toml' is not TOML: Invalid value (at end of document); texts stand in quotes"),
        ("body = {}\nitems = a.b", "is not TOML: Invalid value (at line 2, column 9); texts stand in quotes, such as items = 'result.hits[].id'"),
    ],
)  # fmt: skip
def test_a_mistake_of_a_map_is_named_with_its_line(
    mapped: Made,
    text: str,
    told: str,
) -> None:
    with pytest.raises(RecommenderError, match=re.escape(told)):
        mapped(text)


@pytest.mark.parametrize(
    "text",
    [
        'body = {sort = {key = "score"}, max_tokens = 5, token = "{user}", password = ""}',
        'headers = {Cookie = "u={user}", X-Tenant = "shop-1"}',
        'headers = {Cookie = "lang=de; session={env.SESSION}"}',
        'query = {sort = "key"}',
    ],
)
def test_what_only_sounds_like_a_key_is_no_mistake(mapped: Made, text: str) -> None:
    mapped(f'items = "a"\n{text}\n')


def test_a_map_that_is_missing_is_named(server: FaultServer) -> None:
    with pytest.raises(
        RecommenderError, match=r"'no\.toml' cannot be read: No such file"
    ):
        resolve(f"{server.url}?map=no.toml")


def test_a_map_that_is_not_utf_8_is_named_with_its_line(
    server: FaultServer, tmp_path: Path
) -> None:
    (tmp_path / "map.toml").write_bytes('items = "a"\n# für\n'.encode("latin-1"))
    told = "is not UTF-8: line 2 has the byte 0xfc; save it as UTF-8"
    with pytest.raises(RecommenderError, match=told):
        resolve(f"{server.url}?map={tmp_path / 'map.toml'}")


def test_a_missing_library_is_named_with_its_command(
    mapped: Made,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jmespath", None)
    command = re.escape("pip install 'pytest-recsys-mt[map]'")
    with pytest.raises(RecommenderError, match=command):
        mapped(GET)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"data": {"docs": []}}, "line 1: items = 'data.hits[].sku' finds nothing in the answer; 'data' has the fields 'docs'"),
        ({"other": 1}, "finds nothing in the answer; it has the fields 'other'"),
        ([1], "finds nothing in the answer; it has the value [1]"),
        ({"data": {"hits": [{"id": 1}, {"sku": "a"}]}}, "finds nothing in 1 of 2 entries, the first {'id': 1}, with the fields 'id'"),
        ({"data": {"hits": [{"sku": {"id": 1}}]}}, "finds {'id': 1} as entry 1 of its list, with the fields 'id'; name the one of the id"),
        ({"data": {"hits": [{"sku": 1.5}]}}, "finds 1.5 as entry 1 of its list; an id is a text or a whole number"),
        ({"data": {"hits": "a,b"}}, "finds nothing in the answer; 'data' has the fields 'hits'"),
    ],
)  # fmt: skip
def test_an_answer_without_the_list_says_what_it_has(
    server: FaultServer,
    mapped: Made,
    said: Any,
    told: str,
) -> None:
    server.answer = lambda _: Reply(said)
    recommender = mapped('items = "data.hits[].sku"\nbody = {}')
    assert told in reason(recommender)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply(b"", 204), "the answer is empty (HTTP 204); if this means that there is no list, add no_answer = [204]"),
        (Reply(b""), "the answer is not JSON but empty; check path in map.toml"),
        (Reply(b"cb([])"), "the answer is not JSON but 'cb([])'; check path in map.toml"),
        (Reply(b" <html>"), "looks like a web page, perhaps a login: '<html>'; check path in map.toml, and the key"),
        (Reply({}, 404), "HTTP 404 (check path in map.toml; if users without a list are answered so, add no_answer"),
        (Reply({}, 401), "HTTP 401 (set RECSYS_HTTP_AUTHORIZATION, or name a variable in headers of map.toml, and set"),
        (Reply(b"x", 200, {"content-encoding": "gzip"}), "/v1: the answer is packed as 'gzip', which was not asked for"),
        (Reply({}, 422), "HTTP 422 (compare what map.toml sends with what the server takes; recsys-mt try shows it)"),
        (Reply({}, 302, {"location": "https://evil.example/"}), "a redirect to https://evil.example/, which is not followed"),
    ],
)  # fmt: skip
def test_a_failure_names_the_address_and_the_next_step(
    server: FaultServer,
    mapped: Made,
    reply: Reply,
    told: str,
) -> None:
    server.answer = lambda _: reply
    said = reason(mapped('items = "@"\nbody = {}'))
    assert told in said
    assert said.startswith(server.url)


def test_scores_must_fit_the_items(server: FaultServer, mapped: Made) -> None:
    recommender = mapped('items = "a"\nscores = "b"\nbody = {}')
    server.answer = lambda _: Reply({"a": ["x"], "b": [1, 2]})
    assert "line 2: scores = 'b' finds 2 scores of 1 items" in reason(recommender)
    server.answer = lambda _: Reply({"a": ["x"], "b": ["high"]})
    assert "finds 'high' as entry 1 of its list, which is no number" in reason(
        recommender,
    )


LACKING = {
    "hits": [{"id": "a", "score": 1, "p": {"id": "a"}}, {"sku": "b", "p": None}, {"id": "c", "score": 3, "p": {"id": "c"}}],
    "tags": [{"label": "x"}, {}],
}  # fmt: skip


@pytest.mark.parametrize(
    "items",
    [
        "result.hits[*].id",
        "result.hits[].id",
        "result.hits[*].p.id",
        "result.hits[:10].id",
        "result.hits[::-1].id",
        "result.hits | [*].id",
        "result.hits[*] | [].id",
        "result.hits[*].p.id | []",
        "result.hits[*].[id][]",
        "result.* | [0][].id",
        "reverse(result.hits[*].id)",
        "result.[hits][].id | []",
        "result.hits[?p || sku].id",
        "result.none[*].id || result.hits[*].id",
        "[result][].hits[].id",
    ],
)
def test_an_entry_without_an_id_is_noticed_wherever_the_path_goes_through_it(
    server: FaultServer,
    mapped: Made,
    items: str,
) -> None:
    server.answer = lambda _: Reply({"result": LACKING})
    said = reason(mapped(f'items = "{items}"\nbody = {{}}'))
    assert f"line 1: items = {items!r} finds nothing in 1 of 3 entries" in said


def test_every_value_of_a_table_counts_as_an_entry(
    server: FaultServer,
    mapped: Made,
) -> None:
    server.answer = lambda _: Reply({"result": LACKING})
    said = reason(mapped('items = "result.*[].id | []"\nbody = {}'))
    assert "finds nothing in 3 of 5 entries" in said


@pytest.mark.parametrize(
    "items",
    [
        "hits[?id].id",
        "hits[?p.id].p.id",
        "hits[?not_null(tags[*].x, id)].id",
        "hits[].[id || sku][] | [?@ != 'b']",
        "hits[?x].id || hits[?id].id",
        "tags[*].id || hits[?id].id",
    ],
)
def test_entries_that_a_path_leaves_out_on_purpose_are_no_mistake(
    server: FaultServer,
    mapped: Made,
    items: str,
) -> None:
    server.answer = lambda _: Reply(LACKING)
    assert items_of(*ask(mapped(f'items = "{items}"\nbody = {{}}'))) == ("a", "c")


@pytest.mark.parametrize(
    ("items", "scores", "told"),
    [
        ("hits[*].id", "hits[*].score", "items = 'hits[*].id' finds nothing in 1 of 3 entries"),
        ("hits[?id].id", "hits[*].score", "scores = 'hits[*].score' finds nothing in 1 of 3 entries"),
        ("hits[?id].id", "hits[?score].score", "scores = 'hits[?score].score' does not read the entries that 'hits[?id].id' reads"),
        ("hits[:2].sku", "sort_by(hits[:2], &p)[].p", "does not read the entries that 'hits[:2].sku' reads"),
        ("hits[?id].id | []", "hits[1:].p", "does not read the entries"),
    ],
)  # fmt: skip
def test_scores_are_those_of_the_same_entries(
    server: FaultServer,
    mapped: Made,
    items: str,
    scores: str,
    told: str,
) -> None:
    hits = [{"id": "a", "sku": "a", "p": 2}, {"id": "b", "sku": "b", "p": 1, "score": 5}, {"sku": "c", "p": 3, "score": 4}]  # fmt: skip
    server.answer = lambda _: Reply({"hits": hits})
    text = f'items = "{items}"\nscores = "{scores}"\nbody = {{}}'
    assert told in reason(mapped(text))


@pytest.mark.parametrize(
    ("items", "scores"),
    [
        ("hits[?s].id", "hits[?s].s"),
        ("hits[*].film | [*].id", "hits[*].s"),
        ("hits[].film.id", "hits[:9].s"),
        ("keys(table)", "values(table)"),
        ("ids", "hits[*].s"),
    ],
)
def test_scores_of_the_same_entries_order_the_list(
    server: FaultServer,
    mapped: Made,
    items: str,
    scores: str,
) -> None:
    hits = [{"id": "a", "s": 1, "film": {"id": "a"}}, {"id": "b", "s": 2, "film": {"id": "b"}}]  # fmt: skip
    said = {"hits": hits, "ids": ["a", "b"], "table": {"a": 1, "b": 2}}
    server.answer = lambda _: Reply(said)
    recommender = mapped(f'items = "{items}"\nscores = "{scores}"\nbody = {{}}')
    assert items_of(*ask(recommender)) == ("b", "a")


def test_a_failure_that_passes_costs_one_more_call(
    server: FaultServer,
    mapped: Made,
) -> None:
    replies = [Reply({}, 503), Reply(None, missing=None)]
    server.answer = lambda _: replies.pop(0) if replies else Reply(["a"])
    assert items_of(*ask(mapped('items = "@"\nbody = {}', "&max_wait=30"))) == ("a",)
    assert len(server.asked) == 3


PAGE = (DOCS / "how-to" / "map-an-endpoint.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", re.findall(r"(?s)```toml[^\n]*\n(.*?)```", PAGE))
def test_each_map_of_the_page_is_sound(mapped: Made, text: str) -> None:
    assert len(text.splitlines()) <= 10
    mapped(text)


def test_the_page_has_every_key() -> None:
    rows = re.findall(r"(?m)^\| (`.*?) \|", PAGE)
    named = {word for row in rows for word in re.findall(r"`([^`]+)`", row)}
    placeholders = {f"{{{name}}}" for name in (*OF_REQUEST, *OF_BATCH, *OF_RATING)}
    assert {*KEYS, *placeholders} <= named | {"{attributes}"}


KEYED = 'items = "@"\nbody = {}\nheaders = {Authorization = "Bearer {env.MY_SHOP}", X-User = "{user}"}'  # fmt: skip


def test_a_key_of_the_environment_goes_to_its_server_and_into_no_report(
    server: FaultServer,
    mapped: Made,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_SHOP", TOKEN)
    monkeypatch.setenv(ORIGIN, f"http://127.0.0.1:{server.port}")
    server.answer = lambda _: Reply([TOKEN])
    recommender = mapped(KEYED)
    answers = ask(recommender)
    assert server.headers[0]["authorization"] == f"Bearer {TOKEN}"
    assert server.headers[0]["x-user"] == "7"
    assert items_of(*answers) == ("[MY_SHOP]",)
    server.answer = lambda _: Reply({"you sent": TOKEN}, 400)
    assert TOKEN not in reason(recommender)
    server.answer = lambda _: Reply({}, 403)
    assert "HTTP 403 (check MY_SHOP, which headers of map.toml name): " in reason(
        recommender
    )
    assert TOKEN not in repr(vars(recommender))
    assert TOKEN not in json.dumps(recommender.identity)


@pytest.mark.parametrize(
    ("key", "origin", "told"),
    [
        ("", "", "map.toml, line 3: headers: the environment variable MY_SHOP, which it names, is not set"),
        (TOKEN, "", f"MY_SHOP is set, and nothing says which server may get it: set {ORIGIN}"),
        (TOKEN, "https://shop.example", f"MY_SHOP is for the server that {ORIGIN} names, and this is http://127.0.0.1"),
    ],
)  # fmt: skip
def test_a_key_that_may_go_astray_goes_nowhere(
    server: FaultServer,
    mapped: Made,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    origin: str,
    told: str,
) -> None:
    monkeypatch.setenv("MY_SHOP", key)
    monkeypatch.setenv(ORIGIN, origin)
    monkeypatch.delenv(AUTHORIZATION, raising=False)
    with pytest.raises(RecommenderError, match=re.escape(told)):
        ask(mapped(KEYED))
    with pytest.raises(RecommenderError, match=re.escape(told)):
        mapped(KEYED).require_key()
    assert server.headers == []


def test_another_map_is_another_recommender(mapped: Made) -> None:
    one, same, other = mapped(GET), mapped(f"# why\n{GET}"), mapped(NESTED)
    assert one.identity == same.identity != other.identity
    pinned = mapped(GET + "[about]\nversion = '3'\ndeterministic = true\n")
    assert (pinned.fingerprint, pinned.deterministic) == ("3", True)
    assert mapped(GET, "&version=9").fingerprint == "9"
    assert one.fingerprint is None


def test_an_endpoint_is_tested_recorded_and_replayed_from_the_command_line(
    server: FaultServer,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_SHOP", TOKEN)
    monkeypatch.setenv(ORIGIN, f"http://127.0.0.1:{server.port}")
    pytester.makepyfile(
        """
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking
        from pytest_recsys_mt.relations import reorder_history, truncate_history

        @metamorphic(reorder_history, truncate_history(1))
        def test_ranking(source, followup):
            assert same_ranking(source, followup, margin=0.15)
        """,
    )
    text = """
    headers = {X-Api-Key = "{env.MY_SHOP}"}
    body = {seen = "{history.ids}", from = "{candidates.ids}", n = "{k}"}
    items = "top[].id"
    [about]
    version = "1"
    deterministic = true
    """
    Path("map.toml").write_text(text, encoding="utf-8")

    def ranked(payload: dict[str, Any]) -> Reply:
        best = sorted(payload["from"], key=lambda each: (len(payload["seen"]), each))
        return Reply(
            {"top": [{"id": each, "by": TOKEN} for each in best[: payload["n"]]]}
        )

    server.answer = ranked
    arguments = [
        "-p",
        "no:cacheprovider",
        "--recsys-users=30",
        "--recsys-json=record.json",
    ]
    arguments.append(f"--recsys-model={server.url}?map=map.toml")
    first = pytester.runpytest_inprocess(*arguments)
    first.assert_outcomes(passed=2)
    asked = len(server.asked)
    assert asked > 30
    assert {headers["x-api-key"] for headers in server.headers} == {TOKEN}
    record = record_of(Path("record.json"))
    assert TOKEN not in json.dumps(record)
    pytester.runpytest_inprocess(*arguments).assert_outcomes(passed=2)
    assert len(server.asked) == asked  # all answers were kept
    Path("map.toml").write_text(text + 'ignores = ["titles"]\n', encoding="utf-8")
    pytester.runpytest_inprocess(*arguments).assert_outcomes(passed=2)
    assert len(server.asked) == 2 * asked
    Path("map.toml").write_text(text.replace("top[]", "tip[]"), encoding="utf-8")
    wrong = pytester.runpytest_inprocess(*arguments)
    wrong.stdout.fnmatch_lines(
        ["*items = 'tip[[]].id' finds nothing in the answer; it has the fields 'top'*"]
    )
    Path("map.toml").write_text("itms = 'a'", encoding="utf-8")
    misspelt = pytester.runpytest_inprocess(*arguments)
    assert misspelt.ret == pytest.ExitCode.USAGE_ERROR
    misspelt.stderr.fnmatch_lines(
        ["*map.toml, line 1: itms: there is no such key; did you mean 'items'?*"]
    )
