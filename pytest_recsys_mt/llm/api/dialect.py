"""The request fields that an endpoint is known to accept."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from pytest_recsys_mt.llm.api.endpoint import Endpoint

_RESPONSES_ONLY = re.compile(r"/responses\b|\bresponses api\b", re.IGNORECASE)

_UNSUPPORTED = re.compile(
    r"unsupported|not support|n't support|not permitted|not allowed|not accepted|unknown|"
    r"unrecogni[sz]ed|unexpected|extra_forbidden|deprecated|only the default|may only be|"
    r"only [\d.]+ is (?:allowed|supported|accepted)",
    re.IGNORECASE,
)
"""How endpoints say that they do not take a parameter, or take only its default."""

_OUT_OF_RANGE = re.compile(
    r"\b(range|between|above|below|maximum|minimum|less than|greater than|at most|at least"
    r"|too (?:large|big|high|low|small))\b|[<>]=",
    re.IGNORECASE,
)
"""How they say that they take the parameter, but not this value."""

_SCHEMA = re.compile(
    r"schema|maxItems|additionalProperties|(?:response|output|text)[_. ]format",
    re.IGNORECASE,
)
"""How they name the schema of an answer, or a part of it that they refuse."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The fields that an endpoint accepts."""

    limits: tuple[
        str,
        ...,
    ]  # names of the field for the token limit that are still to be tried
    seed: bool = True
    json: bool = True  # whether it can force answers to be JSON
    schema: bool = True
    temperature: bool = True
    top_p: bool = True
    stop: bool = True
    responses: bool = False  # whether the Responses API is used, which takes no seed
    stream: bool = False  # whether answers are asked for in pieces
    stream_options: bool = True  # whether it is then asked for the usage, too

    @classmethod
    def of(cls, endpoint: Endpoint) -> Dialect:
        """The dialect to try first.

        OpenAI's newer models refuse `max_tokens`; several other servers silently ignore
        `max_completion_tokens` and write without limit.
        """
        usual: dict[str, Any] = {"limits": ("max_tokens", "max_completion_tokens")}
        known = KNOWN.get(urlsplit(endpoint.url).hostname or "", {})
        return cls(**{**usual, **known})

    def unmet(
        self,
        usual: Dialect,
        asked: Mapping[str, bool],
        url: str,
        model: str,
    ) -> list[str]:
        """What one call did without, with effects; one sentence each.

        Args:
            usual: The dialect that was tried first.
            asked: Whether the call asked for each field that not all calls have: stop,
                schema, json.
            url: The endpoint.
            model: The name of the model.
        """
        # It may be known from the start that answers are not held to a form.
        wanted = replace(
            usual,
            schema=usual.schema or asked["schema"],
            json=usual.json or asked["json"],
        )
        others = {name: getattr(usual, name) for name in asked if not asked[name]}
        return replace(self, **others).notes_since(wanted, url, model)

    def of_responses(self) -> Dialect:
        """The same in the Responses API."""
        return replace(self, responses=True, seed=False, stop=False)

    def without_rejected(
        self,
        complaint: str,
        sent: Collection[str],
        *,
        schema: bool,
        missing: bool,
    ) -> Dialect | None:
        """The dialect to try after a complaint, or None if the complaint is about
        something else.

        `sent` are the fields of the request; `schema` says whether it had one,
        `missing` whether the status was 404.
        """
        if not self.responses and (
            _RESPONSES_ONLY.search(complaint)
            or (missing and not re.search(r"\bmodel\b", complaint, re.IGNORECASE))
        ):
            return self.of_responses()
        if missing:
            return None

        def names(field: str) -> bool:
            return re.search(rf"\b{field}\b", complaint) is not None

        out_of_range = _OUT_OF_RANGE.search(complaint)
        if _UNSUPPORTED.search(complaint) and not out_of_range:
            if "temperature" in sent and names("temperature"):
                return replace(self, temperature=False)
            if "top_p" in sent and names("top_p"):
                return replace(self, top_p=False)
            if "stop" in sent and names("stop"):
                return replace(self, stop=False)
        if len(self.limits) > 1 and not out_of_range and names(self.limits[0]):
            return replace(self, limits=self.limits[1:])
        if "stream_options" in sent and names("stream_options"):
            return replace(self, stream_options=False)
        if not self.stream and re.search(
            r"\bstream(?:ing|ed)?\b",
            complaint,
            re.IGNORECASE,
        ):
            return replace(self, stream=True)
        if self.seed and names("seed"):
            return replace(self, seed=False)
        if schema and self.schema and _SCHEMA.search(complaint):
            return replace(self, schema=False)
        # OpenAI names the field also if the prompt does not ask for JSON: that is a
        # prompt error.
        about_json = names("response_format") or names(r"text\.format")
        if self.json and about_json and "must contain the word" not in complaint:
            return replace(self, json=False)
        return None

    def notes_since(self, before: Dialect, url: str, model: str) -> list[str]:
        """The fields no longer sent since `before`, with effects; one sentence each."""
        lost = {
            "responses": f"{url} has {model} in the Responses API alone, so it is asked there",
            "stream": f"{url} has {model} in streams alone, so its answers are asked for in pieces",
            "temperature": f"{url} takes no temperature for {model}: the given one was not used",
            "top_p": f"{url} takes no top_p for {model}: the given one was not used",
            "stop": f"{url} takes no stop for {model}: answers end where the model ends them",
            "seed": f"{url} takes no seed, so answers cannot be reproduced",
            "json": f"{url} takes no response_format, so JSON output is not enforced",
            "schema": f"{url} takes no JSON schema, so answers may have any form",
            "limits": f"{url} takes {self.limits[0]}, not {before.limits[0]}",
        }
        return [
            note
            for name, note in lost.items()
            if getattr(self, name) != getattr(before, name)
        ]


KNOWN: Mapping[str, Mapping[str, Any]] = {
    "api.openai.com": {"limits": ("max_completion_tokens", "max_tokens")},
}
"""Fields of `Dialect` that are known before an endpoint refuses anything, by its host.

No other endpoint needs an entry: the usual dialect is tried, and refused fields are
left out from then on. An entry saves that one refused call.
"""
