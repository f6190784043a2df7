"""What may be sent to an actor."""

import pickle

import pytest

from tests.support.llm_api import Endpoint


def test_a_key_cannot_be_pickled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sentinel")
    key = Endpoint.from_environment().key()
    assert key == "sk-sentinel"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="a key cannot be pickled"):
            pickle.dumps({"key": key}, protocol)
