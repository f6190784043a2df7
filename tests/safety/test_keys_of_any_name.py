"""A key in a variable of any name stands nowhere; a value
that is no key stays where it stood.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from tests.durability.test_secrets import files_of, leaks
from tests.support.safety import keys_of, redact, redaction, without_keys

KEY, TOKEN = "co-9fQ2/xT7+vL4mZ8pR1sW", "tok_5Hn3Jd8Kq1Zx7Vb2Lp6M"
SHOP = '''
import os

from pytest_recsys_mt import Recommendation

KEY, TOKEN = os.environ["COHERE_API_KEY"], os.environ["MY_SECRET_TOKEN"]


class Telling:
    """Says its keys wherever it can."""

    deterministic = True
    name = f"cohere {KEY}"
    fingerprint = ["v1", KEY, {TOKEN: TOKEN}]
    notes = [f"asked with {KEY}"]

    def recommend(self, requests):
        if any(request.scale.high != 5 for request in requests):
            raise RuntimeError(f"401: {KEY} is not {TOKEN!r}")
        return [
            Recommendation(tuple(item.id for item in request.candidates[: request.k]), how=f"by {KEY}")
            for request in requests
        ]


class Identical(Telling):
    fingerprint = None
    identity = {"model": "cohere", "key": KEY}
'''
TESTS = """
import logging

import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import unmoved
from pytest_recsys_mt.relations import scale_ratings
from shop import KEY, TOKEN, Identical, Telling

@pytest.fixture(scope="session", params=[KEY, f"another {KEY}"])
def recommender(request):
    return Telling() if request.param == KEY else Identical()

@metamorphic(scale_ratings(2))
def test_scale(source, followup):
    assert unmoved(source, followup)

@pytest.mark.parametrize("given", [pytest.param(1, id=f"as {TOKEN}"), KEY, f"{TOKEN}.x"])
def test_of_ones_own(recsys, given):
    logging.getLogger().warning("asked with %s", given)
    print(TOKEN)
    assert len(recsys.run().sample()) == len(KEY + TOKEN) * 1000, KEY
"""
BROKEN = "from shop import KEY\nraise RuntimeError(f'{KEY} is refused')"


def answers_of(folder: Path) -> dict[str, bytes]:
    """The rows of a cache, which stand in it compressed."""
    connection = sqlite3.connect(next(folder.rglob("cache.db")))
    rows = connection.execute("SELECT key, value FROM Cache").fetchall()
    connection.close()
    return {
        key: zlib.decompress(value) if isinstance(value, bytes) else str(value).encode()
        for key, value in rows
    }


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A run in a folder, with all the files that a run may write."""
    named = {"COHERE_API_KEY": KEY, "MY_SECRET_TOKEN": TOKEN, "XDG_CACHE_HOME": str(folder / "home"),
             "GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_ACTIONS": "true"}  # fmt: skip
    written = (
        "--junitxml=junit.xml",
        "--recsys-json=record.json",
        "--recsys-html=report.html",
    )
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-rA", "--recsys-users=10",
         f"--recsys-cache={folder / 'cache'}", *written, *arguments],
        cwd=folder, env={**os.environ, **named}, capture_output=True, check=False,
    )  # fmt: skip


def test_keys_of_ones_own_recommender_are_in_no_artefact(tmp_path: Path) -> None:
    for name, text in (("shop", SHOP), ("test_mine", TESTS), ("test_broken", BROKEN)):
        (tmp_path / f"{name}.py").write_text(text)
    done = run(tmp_path, "--continue-on-collection-errors")
    rows = answers_of(tmp_path)
    texts = {**files_of(tmp_path), **rows, "stdout": done.stdout, "stderr": done.stderr}
    assert leaks(texts, KEY, TOKEN) == []
    assert rows
    assert {"junit.xml", "record.json", "report.html", "summary.md"} <= texts.keys()
    assert any(name.startswith(".recsys/runs") for name in texts)
    record = json.loads(texts["record.json"])
    name = "fixture:cohere [COHERE_API_KEY][[COHERE_API_KEY]]"
    assert name in record["models"]
    ids = set(
        re.findall(
            r"^FAILED (test_mine.*\])(?: - |$)",
            done.stdout.decode(),
            re.MULTILINE,
        ),
    )
    assert len(ids) == 8, done.stdout
    assert (
        "test_mine.py::test_of_ones_own[[COHERE_API_KEY]-as [MY_SECRET_TOKEN]]" in ids
    )
    assert (
        "401: [COHERE_API_KEY] is not '[MY_SECRET_TOKEN]'"
        in texts["junit.xml"].decode()
    )
    again = run(tmp_path, *sorted(ids))
    assert b"8 failed" in again.stdout.splitlines()[-1]


@pytest.mark.parametrize("given", [f"api_key={'Zq8Lm' * 3}", f"shop={TOKEN}"])
def test_a_spec_with_a_key_is_refused(
    given: str,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_SECRET_TOKEN", TOKEN)
    result = pytester.runpytest_inprocess(f"--recsys-model=shop.py:Shop?{given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --recsys-model='shop.py:Shop?*' holds a key, and a spec*"],
    )
    assert given.partition("=")[2] not in result.stderr.str() + result.stdout.str()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COHERE_API_KEY", KEY),
        ("STRIPE_KEY", "live-4eC39HqLyjWDarjtT1zdp7dc"),
        ("my.SecretToken2", TOKEN),
        ("stripeApiKey", TOKEN),
        ("PGPASSWORD", "Summer-of-69"),
        ("MYSQL_PWD", "correct-horse-battery-staple"),
        ("SMTP_PASS", "abcdefghijklmnop"),
        ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "/wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"),
        ("SIGNING_KEY", "7169605F62C751356D054A26A821E680E5FA6305"),
        ("AUTH_HEADER", f"Bearer {TOKEN}"),
        ("NPM_AUTHTOKEN", f"  {TOKEN}\n"),
    ],
)
def test_what_counts_as_a_key(name: str, value: str) -> None:
    assert list(keys_of(name, value)) == [value.strip()]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COHERE_API_KEY", "1234567"),
        ("DB_PASSWORD", "changeme"),
        ("DB_PASSWORD", "password1"),
        ("DB_PASSWORD", "********"),
        ("API_KEY", "your-api-key-here"),
        ("AUTH_MODE", "client-credentials"),
        ("MAX_TOKENS", "1234567890"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-XXXXAbC123/agent.1234"),
        ("SSH_KEY_PATH", "~/.ssh/id_ed25519"),
        ("TLS_KEY", r"C:\keys\server-2025.pem"),
        ("TLS_KEY", "keys/server-2025.pem"),
        ("KEY_FILE", "server-key-2025.pem"),
        ("OPENAI_API_KEY_NAME", "ci-key-2025"),
        ("AUTH_URL", "https://login.example/oauth2/token?api-version=2.0"),
        ("GPG_KEY", "7169605F62C751356D054A26A821E680E5FA6305"),
        ("TOKENIZERS_PARALLELISM", KEY),
        ("KEYBOARD", KEY),
        ("MONKEY", KEY),
    ],
)
def test_what_is_no_key(
    name: str,
    value: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "server-2025.pem").touch()
    assert list(keys_of(name, value)) == []


def test_of_a_usual_environment_only_the_keys_are_taken() -> None:
    """A job of GitHub Actions in Python's image, with what users set besides."""
    lines = Path(__file__).with_name("github_actions.env").read_text().splitlines()
    environment = dict(line.split("=", 1) for line in lines)
    assert len(environment) > 60
    taken = [name for name, value in environment.items() if list(keys_of(name, value))]
    assert taken == [
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
        "ACTIONS_RUNTIME_TOKEN",
        "GITHUB_TOKEN",
    ]


def test_the_keys_in_an_address_and_in_documents() -> None:
    address = f"https://shop-user:{TOKEN}%2Fx@h.example/recommend?api_key={'Zq8Lm' * 3}&k=12345678a"
    assert set(keys_of("AUTH_URL", address)) == {
        f"{TOKEN}%2Fx",
        f"{TOKEN}/x",
        "Zq8Lm" * 3,
    }
    line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj"
    pem = f"-----BEGIN PRIVATE KEY-----\n{line}\n-----END PRIVATE KEY-----\n"
    assert list(keys_of("DEPLOY_KEY", pem)) == [line]
    assert list(keys_of("DEPLOY_KEY", pem.replace("\n", "\\n"))) == [line]
    account = {
        "type": "service_account", "project_id": "recommender-2025", "private_key": pem,
        "private_key_id": "1b9d6bcdbbfd4b2d9b5dab8dfbbd4bed", "users": [{"password": "Summer-of-69"}],
        "auth_uri": "https://accounts.google.com/o/oauth2/auth",
    }  # fmt: skip
    found = ["1b9d6bcdbbfd4b2d9b5dab8dfbbd4bed", line, "Summer-of-69"]
    assert sorted(keys_of("GOOGLE_CREDENTIALS", json.dumps(account))) == sorted(found)


def test_words_that_a_key_shares_with_any_report_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_SECRET", "Recommender-of-recommendations-7Gh")
    said = "recommendations of the Recommender of recommenders"
    assert redact(said) is said
    for part in (
        "ommender-of-recommendations",
        "dations-7G",
        "Recommender-of-recommendations-7Gh",
    ):
        assert redact(f"({part})") == "([SHOP_SECRET])", part


def test_a_change_of_the_environment_is_seen_and_what_was_there_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert redact(KEY) == KEY
    monkeypatch.setenv("STRIPE_KEY", KEY)
    assert without_keys({KEY: [KEY, (1, KEY)]}) == {
        "[STRIPE_KEY]": ["[STRIPE_KEY]", [1, "[STRIPE_KEY]"]],
    }
    monkeypatch.setenv("STRIPE_KEY", TOKEN)
    assert redact(f"{TOKEN} {KEY}") == "[STRIPE_KEY] [STRIPE_KEY]"
    monkeypatch.delenv("STRIPE_KEY")
    assert redact(KEY) == "[STRIPE_KEY]"
    monkeypatch.setattr(os, "environ", {"A_TOKEN": "Zq8Lm" * 3})
    monkeypatch.setattr(redaction, "_known", {})
    assert redact(f"{'Zq8Lm' * 3} {KEY}") == f"[A_TOKEN] {KEY}"
