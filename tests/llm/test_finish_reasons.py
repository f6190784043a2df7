"""Whether an answer was cut off, by the reasons that providers give for its end."""

from collections.abc import Mapping

import pytest
from _pytest.mark import ParameterSet

from pytest_recsys_mt.requests import is_cut_off, is_out_of_tokens

ENDED = {
    "OpenAI": ("stop", "tool_calls", "function_call"),
    "OpenAI Responses": ("completed",),
    "Anthropic": ("end_turn", "stop_sequence", "tool_use"),
    "Gemini": ("STOP", "FINISH_REASON_UNSPECIFIED"),
    "Cohere": ("COMPLETE", "STOP_SEQUENCE", "TOOL_CALL"),
    "Mistral": ("stop", "tool_calls"),
    "Bedrock": (
        "end_turn",
        "stop_sequence",
        "tool_use",
        "FINISHED",
        "FINISH",
        "STOP_CRITERIA_MET",
    ),
    "TGI": ("eos_token", "stop_sequence"),
    "vLLM": ("stop", "tool_calls"),
    "Ollama": ("stop",),
    "AI SDK": ("tool-calls", "unknown"),
    "hf: with answer=choices": ("choice",),
    "unknown": (None, "", " ", "none", "None", "null", 3, {"type": "stop"}),
}

OUT_OF_TOKENS = {
    "OpenAI": ("length",),
    "OpenAI Responses": ("max_output_tokens",),
    "Anthropic": ("max_tokens", "model_context_window_exceeded"),
    "Gemini": ("MAX_TOKENS",),
    "Cohere": ("MAX_TOKENS", "ERROR_LIMIT"),
    "Mistral": ("length", "model_length"),
    "Bedrock": ("max_tokens", "LENGTH", "model_context_window_exceeded"),
    "TGI": ("length",),
    "vLLM": ("length",),
    "Ollama": ("length",),
    "AI SDK": ("max-tokens",),
}

STOPPED = {
    "OpenAI": ("content_filter",),
    "Anthropic": ("refusal", "pause_turn"),
    "Gemini": ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "OTHER"),
    "Cohere": ("ERROR", "ERROR_TOXIC", "USER_CANCEL", "TIMEOUT"),
    "Mistral": ("error",),
    "Bedrock": ("guardrail_intervened", "content_filtered", "CONTENT_FILTERED"),
    "vLLM": ("abort", "error", "repetition"),
    "AI SDK": ("content-filter", "other"),
}  # fmt: skip


def every(table: Mapping[str, tuple[object, ...]]) -> list[ParameterSet]:
    return [
        pytest.param(reason, id=f"{provider}: {reason!r}")
        for provider, reasons in table.items()
        for reason in reasons
    ]


@pytest.mark.parametrize("reason", every(ENDED))
def test_an_answer_that_its_model_ended_is_whole(reason: object) -> None:
    assert not is_cut_off(reason)
    assert not is_out_of_tokens(reason)


@pytest.mark.parametrize("reason", every(OUT_OF_TOKENS))
def test_an_answer_at_a_limit_of_length_is_cut_off(reason: object) -> None:
    assert is_cut_off(reason)
    assert is_out_of_tokens(reason)


@pytest.mark.parametrize("reason", every(STOPPED))
def test_an_answer_that_anything_else_ended_is_cut_off(reason: object) -> None:
    assert is_cut_off(reason)
    assert not is_out_of_tokens(reason), "more tokens would not help"
