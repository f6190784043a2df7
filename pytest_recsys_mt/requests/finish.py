"""Why an answer of a text model ended, in the words of many providers.

Providers name the same end differently: OpenAI's ``length`` is ``max_tokens`` at
Anthropic and ``MAX_TOKENS`` at Gemini. Words are compared without case, and ``-`` is
``_``.
"""

_ENDED = frozenset((
    "stop", "end_turn", "stop_sequence", "stop_criteria_met", "eos", "eos_token",
    "tool_call", "tool_calls", "tool_use", "function_call",
    "complete", "completed", "finish", "finished", "done",
    "choice",  # of a local model that scores the choices of a question
))  # fmt: skip
"""The model ended its answer."""

_UNSAID = frozenset(("", "none", "null", "unknown", "finish_reason_unspecified"))
"""The provider does not say why the answer ended."""

_OUT_OF_TOKENS = frozenset((
    "length", "max_length", "max_tokens", "max_output_tokens", "max_completion_tokens", "max_new_tokens",
    "token_limit", "error_limit", "model_length", "model_context_window_exceeded", "context_length_exceeded",
))  # fmt: skip
"""A limit of length ended the answer."""

_FILTERED = frozenset((
    "content_filter", "content_filtered", "refusal", "guardrail_intervened", "error_toxic",
    "safety", "recitation", "blocklist", "prohibited_content", "spii",
))  # fmt: skip
"""A filter ended the answer."""


def is_cut_off(finish_reason: object) -> bool:
    """Whether something other than the model ended an answer with this `finish_reason`.

    Every reason counts as such that does not say that the model ended: a limit of
    tokens, a filter, an error, or a word that is not known here. An answer without a
    reason counts as whole.
    """
    return _plain(finish_reason) not in _ENDED | _UNSAID


def is_out_of_tokens(finish_reason: object) -> bool:
    """Whether a limit of length ended an answer, so that more tokens may help."""
    return _plain(finish_reason) in _OUT_OF_TOKENS


def is_final(finish_reason: object) -> bool:
    """Whether the model or a filter ended an answer, so that even an empty one is an
    answer and no failed call.
    """
    return _plain(finish_reason) in _ENDED | _FILTERED


def _plain(finish_reason: object) -> str:
    """The reason as it is compared; empty for anything but a text."""
    if not isinstance(finish_reason, str):
        return ""
    return finish_reason.strip().casefold().replace("-", "_")
