"""A project whose recommenders, servers and tests tell keys in every way: what a run of
it writes must hold none.
"""

import hashlib
from typing import Any

from tests.models.faults import Reply


def drawn(name: str) -> str:
    """A key as a provider draws one, with characters that are encoded in addresses."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"{digest[:13]}/{digest[13:20].upper()}+{digest[20:31]}="


VARIABLES = {
    "class": "COHERE_API_KEY",
    "factory": "MY_SECRET_TOKEN",
    "dotenv": "VAULT_TOKEN",
    "chained": "DB_PASSWORD",
    "context": "JIRA_PASS",
    "repr": "AUTH",
    "warning": "SLACK_TOKEN",
    "warning of one's own": "MAIL_PASSWD",
    "log": "STRIPE_SECRET_KEY",
    "print": "NPM_TOKEN",
    "name": "MODEL_TOKEN",
    "identity": "HF_TOKEN",
    "fingerprint": "PROXY_PASSWORD",
    "notes": "NOTES_ACCESS_KEY",
    "refusal": "SENTRY_AUTH_TOKEN",
    "test id": "WANDB_API_KEY",
    "user of an address": "POSTGRES_PASSWORD",
    "query": "REDIS_AUTH",
    "base64": "BASIC_CREDENTIALS",
    "two lines": "SPLIT_TOKEN",
    "title": "TITLE_TOKEN",
    "PEM": "TLS_PRIVATE_KEY",
    "header": "RECSYS_HTTP_AUTHORIZATION",
    "endpoint": "OPENAI_API_KEY",
    "gateway": "AZURE_GATEWAY_KEY",
    "details": "REPORT_SECRET",
    "collection": "CI_JOB_TOKEN",
    "configuration": "GITHUB_TOKEN",
    "spec": "SPEC_API_KEY",
}
"""The variable that holds the key of each scenario."""
KEYS = {name: drawn(name) for name in VARIABLES}
LINES = [
    hashlib.sha512(str(n).encode()).hexdigest() + f"{n:02}aB/+xyzw" for n in range(4)
]
PEM = "\n".join(
    ["-----BEGIN PRIVATE KEY-----", *LINES, "-----END PRIVATE KEY-----", ""],
)
SECRETS = {name: (key,) for name, key in KEYS.items()} | {"PEM": tuple(LINES)}
"""What must stand nowhere, by scenario."""
ENVIRONMENT = {
    **{
        variable: KEYS[name] for name, variable in VARIABLES.items() if name != "dotenv"
    },
    "TLS_PRIVATE_KEY": PEM,
    "RECSYS_HTTP_HEADER": "X-API-Key",
}

OWN = """
import base64
import logging
import os
import sys
import warnings
from urllib.parse import quote

from pytest_recsys_mt import NotApplicable, Recommendation


class Base:
    def recommend(self, requests):
        return [self.answer(request, os.environ[self.variable]) for request in requests]

    def answer(self, request, key):
        self.tell(key)
        return Recommendation(tuple(item.id for item in request.candidates[: request.k]))


class Raises(Base):
    variable = "COHERE_API_KEY"

    def tell(self, key):
        raise ConnectionError(f"the service refused {key} " * 3)


class Made(Base):
    def __init__(self, key):
        self.key = key

    def recommend(self, requests):
        raise LookupError(self.key, {"headers": [self.key]})


def make():
    return Made(os.environ["MY_SECRET_TOKEN"])


def make_of_file():
    with open(".env") as lines:
        for line in lines:
            name, _, value = line.strip().partition("=")
            os.environ.setdefault(name, value)
    return Made(os.environ["VAULT_TOKEN"])


class Chained(Base):
    variable = "DB_PASSWORD"

    def tell(self, key):
        try:
            raise ValueError(f"no login with {key}")
        except ValueError as error:
            raise RuntimeError("the database is away") from error


class Context(Base):
    variable = "JIRA_PASS"

    def tell(self, key):
        try:
            raise KeyError(key)
        except KeyError:
            error = OSError("afterwards")
            error.add_note(f"with {key}")
            raise error


class Client:
    def __init__(self, key):
        self.key = key

    def __repr__(self):
        return f"Client(auth={self.key!r})"


class Shown(Base):
    variable = "AUTH"

    def tell(self, key):
        client = Client(key)
        raise TypeError(client, [client])


class Warns(Base):
    variable = "SLACK_TOKEN"

    def tell(self, key):
        warnings.warn(f"{key} expires soon", FutureWarning)


class Expires(UserWarning):
    def __init__(self, key):
        self.key = key

    def __str__(self):
        return f"{self.key} expires soon"


class WarnsOfItsOwn(Base):
    variable = "MAIL_PASSWD"

    def tell(self, key):
        warnings.warn(Expires(key))


class Logs(Base):
    variable = "STRIPE_SECRET_KEY"

    def tell(self, key):
        logging.getLogger("shop").error("sent %s", key)
        raise OSError("see the log")


class Prints(Base):
    variable = "NPM_TOKEN"

    def tell(self, key):
        print("sent", key)
        print("sent", key, file=sys.stderr)
        raise OSError("see the output")


class Named(Base):
    variable = "MODEL_TOKEN"

    def __init__(self):
        self.name = f"shop {os.environ[self.variable]}"

    def tell(self, key):
        pass


class Identified(Base):
    variable = "HF_TOKEN"
    fingerprint = "1"

    def __init__(self):
        key = os.environ[self.variable]
        self.identity = {"address": "https://shop.example", "with": [key], key: key}

    def tell(self, key):
        pass


class Fingerprinted(Base):
    variable = "PROXY_PASSWORD"

    def __init__(self):
        self.fingerprint = f"1-{os.environ[self.variable]}"

    def tell(self, key):
        pass


class Notes(Base):
    variable = "NOTES_ACCESS_KEY"

    def __init__(self):
        self.notes = [f"asked with {os.environ[self.variable]}"]

    def tell(self, key):
        pass


class Refuses(Base):
    variable = "SENTRY_AUTH_TOKEN"

    def tell(self, key):
        raise NotApplicable(f"{key} allows no such question")


class Connects(Base):
    variable = "POSTGRES_PASSWORD"

    def tell(self, key):
        raise ConnectionError(f"postgres://shop:{key}@db.example/shop")


class Asks(Base):
    variable = "REDIS_AUTH"

    def tell(self, key):
        raise ConnectionError(f"https://shop.example/?auth={quote(key, safe='')}&auth={quote(key)}")


class Basic(Base):
    variable = "BASIC_CREDENTIALS"

    def tell(self, key):
        said = base64.b64encode(f"shop:{key}".encode()).decode()
        raise ConnectionError({"Authorization": f"Basic {said}"})


class Wraps(Base):
    variable = "SPLIT_TOKEN"

    def tell(self, key):
        raise ConnectionError(f"refused: {key[:9]}\\n{key[9:]}")


class Titles(Base):
    variable = "TITLE_TOKEN"
    fingerprint = "titles"

    def answer(self, request, key):
        return Recommendation((f"The {key} Story", key, *(item.id for item in request.candidates[:3])))


class Pem(Base):
    variable = "TLS_PRIVATE_KEY"

    def tell(self, key):
        raise ConnectionError(f"no key: {key}")
"""
TESTS = """
import os

import pytest

from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings


@metamorphic(scale_ratings(2), reorder_history)
def test_shop(source, followup):
    assert same_ranking(source, followup, margin=0.5)


@pytest.mark.parametrize("key", [os.environ["WANDB_API_KEY"]])
def test_id(recsys, key):
    recsys.run()


def test_details(recsys):
    key = os.environ["REPORT_SECRET"]
    recsys.run()
    assert {"auth": key} == {}, f"not {key}"
"""
NAMED = """
import pytest

import own
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings


@pytest.fixture(params=[own.Named, own.Identified, own.Fingerprinted, own.Notes])
def recommender(request):
    return request.param()


@metamorphic(scale_ratings(2))
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.5)
"""
CLASSES = (
    "Raises", "make", "make_of_file", "Chained", "Context", "Shown", "Warns", "WarnsOfItsOwn", "Logs", "Prints",
    "Notes", "Refuses", "Connects", "Asks", "Basic", "Wraps", "Titles", "Pem", "Identified", "Fingerprinted",
)  # fmt: skip
BROKEN = 'import os\n\n\ndef test_it(recsys):\n    pass\n\n\nraise RuntimeError(os.environ["CI_JOB_TOKEN"])\n'
"""A file that cannot be collected."""
CONFTEST = """
import os


def pytest_configure(config):
    if "GIVES_UP" in os.environ:
        raise RuntimeError(f"no access with {os.environ['GITHUB_TOKEN']}")
"""


def says(payload: dict[str, Any]) -> Reply:
    """What both servers answer: an error in JSON with the key
    that they got, and with another one.
    """
    if "messages" in payload:
        told = f"{KEYS['endpoint']} is no key of {KEYS['gateway']}"
        return Reply(
            {"error": {"message": told, "param": {"key": KEYS["gateway"]}}},
            401,
        )
    told = f"X-API-Key: {KEYS['header']}"
    return Reply(
        {
            "answers": [{"error": told} for _ in payload.get("requests", [])],
            "detail": told,
        },
    )
