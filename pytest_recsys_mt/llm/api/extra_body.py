"""Fields of one's own in the requests to an endpoint: which are refused, and why."""

from collections.abc import Collection

from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.redaction import HEADERS, holds_secret

_OWN_FIELDS = frozenset(
    ("model", "messages", "input", "instructions", "temperature", "top_p", "seed",
     "max_tokens", "max_completion_tokens", "max_output_tokens", "reasoning_effort", "reasoning",
     "response_format", "text", "stop"),
)  # fmt: skip
"""Fields of a request that are not for `extra_body`, since they are set here."""

_UNREAD_FIELDS = frozenset(("n", "stream", "logprobs", "top_logprobs"))
"""Those that ask for data that would not be read."""


def check(prefix: str, fields: Collection[str], file: str | None = None) -> None:
    """Raise `RecommenderError` for a field that would not be read, is set elsewhere, or
    looks like a key.

    Args:
        prefix: Begins the spec of the model, and the message.
        fields: Names of the fields.
        file: The file of settings that gives them; None for parameters of a spec.
    """

    def named(field: str) -> str:
        return f"extra_body.{field}" if file is None else f"{field!r} of {file!r}"

    unread = _UNREAD_FIELDS.intersection(fields)
    if unread:
        raise RecommenderError(
            f"{prefix}: {named(min(unread))} asks for what is not read: one call has one answer, "
            f"which is read whole and as text; leave it out",
        )
    own = _OWN_FIELDS.intersection(fields)
    if own:
        raise RecommenderError(
            f"{prefix}: {named(min(own))} would replace a field that this package sets; leave it "
            f"out, and use temperature, top_p, max_tokens, json, system, stop or reasoning_effort for what they say",
        )
    secrets = [name for name in fields if holds_secret(f"?{name}=")]
    if secrets:
        what = "a spec is" if file is None else "settings are kept and"
        raise RecommenderError(
            f"{prefix}: {named(secrets[0])} looks like a key, and {what} shown; give it in {HEADERS}",
        )
