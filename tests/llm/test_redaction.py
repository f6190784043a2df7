"""A key is found whole, cut and encoded, before anything is cut; what is no key stays."""

import base64
import json

import pytest

from pytest_recsys_mt import RecsysError
from tests.support.safety import (
    AUTHORIZATION,
    KEY,
    carries_key,
    redact,
    redaction,
    shortened,
    shown,
    without_controls,
)

SECRET = "sk-proj-Ab12/Cd34+Ef56=Gh78%Ij90_Kl12-Mn34.Op56"
NAME = f"[{KEY}]"
TITLES = "\n".join(f"{n}. The Recommendation of Project {n} (1999)" for n in range(100))


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, SECRET)


def shares(text: str, key: str = SECRET) -> bool:
    return any(key[at : at + 10] in text for at in range(len(key) - 9))


@pytest.mark.parametrize("most", [80, 160, 300])
def test_no_cut_of_ours_leaves_a_part(most: int) -> None:
    for before in range(most):
        assert not shares(shortened("x" * before + SECRET + "y" * most, most)), before


def test_what_an_abridged_error_leaves_of_a_key_is_no_part() -> None:
    for before in range(90):
        for behind in (SECRET, "y" * 500 + SECRET + "y" * (before % 25)):
            error = RecsysError("x" * before + SECRET + "y" * 500 + behind)
            assert "..." in str(error)
            assert not shares(redact(str(error))), before


def test_no_cut_of_theirs_leaves_a_part() -> None:
    for start in range(len(SECRET)):
        for end in range(start, len(SECRET) + 1):
            clean = redact(f"({SECRET[start:end]})")
            assert clean == (
                f"({NAME})" if end - start >= 10 else f"({SECRET[start:end]})"
            )


@pytest.mark.parametrize("around", ["", "x", "xy", "xyz"])
def test_a_key_within_longer_encoded_text_is_found(around: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(f"{around}{SECRET}{around}".encode()).decode()
        clean = redact(encoded)
        assert NAME in clean
        assert len(clean) - len(NAME) <= len(encoded) - len(SECRET) * 4 // 3 + 2


def test_several_keys_at_several_places_are_replaced_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    password = "correct horse ü battery"
    basic = base64.b64encode(f"me:{password}".encode()).decode()
    monkeypatch.setenv(AUTHORIZATION, f"Basic {basic}")
    text = f"é {SECRET}, Basic {basic}: {password}; {json.dumps(SECRET)} 世"
    name = f"[{AUTHORIZATION}]"
    assert redact(text) == f'é {NAME}, Basic {name}: {name}; "{NAME}" 世'


@pytest.mark.parametrize(
    "between",
    ["\0", "\x1b[0m", "\u200b", "\xad", "\x9b1m", "\u200d", "\ufe0f", "\u3164", "\u2800", "\U000e0100", "\r", "\ufffe"],
)  # fmt: skip
def test_what_is_dropped_later_parts_no_key(between: str) -> None:
    parted = between.join(SECRET)
    for text in (
        f"by m A{parted}",
        f"by m A{parted}"[:-2],
        str([parted]),
        json.dumps(parted),
    ):
        assert not shares(without_controls(redact(text))), text
        assert NAME in redact(text)
    harmless = f"a{between}titlé, {[between]}"
    assert redact(harmless) == harmless


@pytest.mark.parametrize("placeholder", ["none", "ollama", "EMPTY", "", "1234567"])
def test_placeholders_stay(monkeypatch: pytest.MonkeyPatch, placeholder: str) -> None:
    monkeypatch.setenv(KEY, placeholder)
    text = f"{placeholder} And Then There Were None"
    assert redact(text) is text


def test_what_is_no_key_stays() -> None:
    for text in (TITLES, "sk-proj-Ax", "世" * 100, "\udcff broken", ""):
        assert redact(text) is text


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("https://shop.example/api", "https://shop.example/api"),
        ("https://shop.example/api?batch=4", "https://shop.example/api?..."),
        ("https://me:pass@shop.example/api", "https://..."),
        ("http:/me:pa/s?s#w@shop.example", "http:/..."),
        ("me:pass@shop.example", "..."),
        ("hf:org/model@0123abc", "hf:org/model@0123abc"),
        ("itemknn?neighbours=5", "itemknn?neighbours=5"),
        ("openai:tiny?api_key=abc", "openai:tiny?..."),
        (f"https://{SECRET}.example", f"https://{NAME}.example"),
    ],
)
def test_an_address_is_shown_without_what_it_should_not_carry(
    spec: str,
    said: str,
) -> None:
    assert shown(spec) == said
    assert carries_key(spec) == ("@" in spec and spec.startswith("http"))


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("openai:m?base_url=http://user:hunter2/v1", "openai:m?..."),
        ("openai:m?api_key=hunter2&base_url=http://shop.example", "openai:m?..."),
        ("http://hunter2:PORTx/v1", "http://..."),
        ("htp://user:hunter2/v1", "htp://..."),
        ("//user:hunter2/v1", "//..."),
        ("http://[::1]:8000/v1?x=hunter2", "http://[::1]:8000/v1?..."),
        ("https://shop.example:8000/v1", "https://shop.example:8000/v1"),
        ("http.py:Model?depth=3", "http.py:Model?depth=3"),
        ("hf:owner/name@main", "hf:owner/name@main"),
    ],
)
def test_of_an_address_only_what_cannot_be_a_key_is_shown(spec: str, told: str) -> None:
    assert shown(spec) == told


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "all_proxy", "OPENAI_BASE_URL"])
def test_what_others_say_of_an_address_in_the_environment_holds_no_key(
    variable: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(redaction, "_known", {})
    for address in (
        "http://user:hunter2%2F01@h:1",
        "http://user:hunter2%2F01/",
        "http://[hunter2%2F01]:1",
    ):
        monkeypatch.setenv(variable, address)
        assert (
            redact("Invalid port: 'hunter2%2F01', 'hunter2/01'")
            == f"Invalid port: '[{variable}]', '[{variable}]'"
        )
    for plain in ("localhost:3128", "http://localhost:3128", "socks5://localhost:1"):
        monkeypatch.setenv(variable, plain)
        assert redact("localhost cannot be reached") == "localhost cannot be reached"
