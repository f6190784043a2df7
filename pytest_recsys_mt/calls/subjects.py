"""A subject of any object that has one of the two protocols."""

import sys

from pytest_recsys_mt.calls.subject import RecommenderSubject, Subject
from pytest_recsys_mt.requests import Recommender, TextModel
from pytest_recsys_mt.safety.errors import RecommenderError


def subject(
    recommender: object,
    name: str,
    prompt: str,
    fixture: str = "",
    timeout: float | None = None,
) -> Subject:
    """Wrap an object that has either protocol.

    Args:
        recommender: An object with `recommend` or `complete`.
        name: Its name in reports and in the record.
        prompt: The template for text models.
        fixture: The fixture that gave it, if several fixtures may give objects of one
            name; else empty.
        timeout: Most seconds for one call of a method; None for no limit.

    Raises:
        RecommenderError: If it has neither protocol.
    """
    if isinstance(recommender, Recommender) and not _is_prompted(recommender):
        return RecommenderSubject(recommender, name, fixture, timeout)
    # Imported here: all that reads an answer's text takes a tenth of a second, which
    # only text models need.
    from pytest_recsys_mt.calls.text_subject import TextSubject
    from pytest_recsys_mt.llm.recommender import LLMRecommender

    if isinstance(recommender, LLMRecommender):
        return TextSubject(recommender, name, fixture, timeout)
    if isinstance(recommender, TextModel):
        return TextSubject(LLMRecommender(recommender, prompt), name, fixture, timeout)
    raise RecommenderError(
        f"{name}: {recommender!r} is not a recommender; it needs a method recommend(requests) that "
        f"returns a Recommendation for each request, or complete(prompts) that returns a "
        f"Completion for each prompt",
    )


def _is_prompted(recommender: object) -> bool:
    """Whether it is an `LLMRecommender`. It has a method
    `recommend` too, but it is sent prompts.
    """
    module = sys.modules.get("pytest_recsys_mt.llm.recommender")
    return module is not None and isinstance(recommender, module.LLMRecommender)
