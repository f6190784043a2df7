from collections.abc import Callable

import pytest

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.requests import Message, Prompt
from tests.support.llm_api import Endpoint, OpenAIModel

KEY = "sk-sentinel-0123456789"
SetURL = Callable[[str], None]
PROMPT = Prompt((Message("user", "Name a film."),))


@pytest.fixture
def base_url(monkeypatch: pytest.MonkeyPatch) -> SetURL:
    return lambda url: monkeypatch.setenv("OPENAI_BASE_URL", url)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("", "https://api.openai.com/v1"),
        ("https://Example.org/v1/", "https://example.org/v1"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_the_environment_names_the_endpoint(
    base_url: SetURL,
    given: str,
    url: str,
) -> None:
    base_url(given)
    assert Endpoint.from_environment().url == url
    assert OpenAIModel("m").identity["host"] == url


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org",
        "example.org/v1",
        "http://",
        "http://a:b@example.org/v1",
        "https://example.org/v1?key=pass-word",
        "http://example.org:99999/v1",
        "https://127.0.0.1\\@example.org/v1",
        "https://exa mple.org",
        "http://[::1",
    ],
)
def test_an_unusable_address_is_refused(base_url: SetURL, url: str) -> None:
    base_url(url)
    with pytest.raises(RecommenderError, match="OPENAI_BASE_URL"):
        OpenAIModel("m").complete([PROMPT])


def test_a_password_in_the_address_is_not_repeated(base_url: SetURL) -> None:
    base_url("https://user:pass-word@example.org/v1")
    with pytest.raises(RecommenderError) as raised:
        Endpoint.from_environment()
    assert "pass-word" not in str(raised.value)


def test_a_missing_key_says_what_to_do_when_first_asked() -> None:
    model = OpenAIModel("gpt-4o")
    assert model.identity["model"] == "gpt-4o"
    with pytest.raises(RecommenderError, match="set OPENAI_API_KEY"):
        model.complete([PROMPT])


@pytest.mark.parametrize(
    "host",
    ["10.0.0.7", "localhost.example.org", "127.0.0.1.example.org"],
)
def test_the_key_does_not_leave_the_machine_unencrypted(
    base_url: SetURL,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
) -> None:
    base_url(f"http://{host}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(RecommenderError, match="unencrypted") as raised:
        OpenAIModel("m").complete([PROMPT])
    shown = raised.getrepr(showlocals=True, funcargs=True)
    assert KEY not in str(shown)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "[::1]", "localhost"])
def test_this_machine_needs_neither_key_nor_https(
    base_url: SetURL,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
) -> None:
    base_url(f"http://{host}:1/v1")
    assert Endpoint.from_environment().key() is None
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert Endpoint.from_environment().key() == KEY


@pytest.mark.parametrize(
    "spec",
    ["m?temperature=0&max_tokens=9", "openai:m?max_tokens=9&temperature=0"],
)
def test_a_spec_gives_the_sampling_parameters(spec: str) -> None:
    model = OpenAIModel.from_spec(spec)
    assert model.identity["sampling"] == {
        "temperature": 0.0,
        "max_tokens": 9,
        "top_p": None,
    }
    assert model.name == "m"
    assert (
        OpenAIModel.from_spec(f"{spec}&json=true").identity["sampling"]["json"] is True
    )
    promising = OpenAIModel.from_spec(f"{spec}&seeded=true")
    assert promising.seeded
    assert promising.identity == OpenAIModel.from_spec(spec).identity
    asked_as_json = OpenAIModel.from_spec(f"{spec}&answer=json")
    assert (model.lists_as_json, asked_as_json.lists_as_json) == (False, True)
    assert asked_as_json.identity == model.identity


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("openai:m?temprature=0", "did you mean 'temperature'"),
        ("openai:m?base_url=http://evil", "valid ones: 'temperature', 'max_tokens'"),
        ("openai:m?model=x", "unknown parameter 'model'"),
        ("openai:m?temperature=warm", "'warm' is not a number"),
        ("openai:m?temperature=-1", "temperature must be .*, got -1.0"),
        ("openai:m?temperature=nan", "temperature must be .*, got nan"),
        ("openai:m?max_tokens=0", "max_tokens must be .*, got 0"),
        ("openai:m?top_p=0", "top_p must be .*, got 0.0"),
        (
            "openai:m?answer=choices",
            "answer='choices' is not one of 'generate', 'json'",
        ),
        ("openai:m?concurrency=0", "concurrency must be .*, got 0"),
        ("openai:m?max_wait=-1", "max_wait must be .*, got -1.0"),
        ("openai:m?timeout=0", "timeout must be .*, got 0.0"),
        ("openai:", "the name of a model"),
    ],
)
def test_a_bad_spec_says_what_is_allowed(spec: str, says: str) -> None:
    with pytest.raises(RecommenderError, match=says):
        OpenAIModel.from_spec(spec)
