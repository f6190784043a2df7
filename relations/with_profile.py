"""A description of the user in the prompt, with or instead of the history."""

from collections.abc import Iterator, Mapping
from copy import copy

from pytest_recsys_mt.llm.prompt_texts import said
from pytest_recsys_mt.relations.histories import instructed
from pytest_recsys_mt.relations.sources import MULTIDIMENSIONAL
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


class Everybody(Mapping[str, str]):
    """One description for every user."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __getitem__(self, user: str) -> str:
        return self._text

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


@usual(Everybody("Watches comedies and light thrillers."))
@usual(Everybody("Likes slow films, and whatever was made before 1970."), history=False)
def with_profile(
    profiles: Mapping[str, str],
    *,
    history: bool = True,
) -> Transformation:
    """Add the description of the user in `profiles` to the prompt, with or without the
    `history` that it is written from.

    It is not applicable to a user without a description.

    Source:
        The generation of profiles in section 3.4.5 of https://arxiv.org/abs/2411.00331,
        which compares the history, the profile, and both.

    Example:
        >>> request = Request("u", (Rating(Item("a"), 5),), Scale(), candidates=None, k=5)
        >>> alone = with_profile({"u": "Likes short films."}, history=False)
        >>> followup = alone(request, np.random.default_rng(0))
        >>> followup.instruction, followup.history
        ('What is known of the user: Likes short films.', ())
    """
    known = copy(profiles)

    def apply(request: Request, rng: Generator, world: World) -> Request:
        profile = " ".join(known.get(request.user, "").split())
        if not profile:
            raise NotApplicable("this user has no description")
        added = said("instructions.with_profile", profile=profile)
        described = instructed(request, added, "description")
        return described if history else described.replace(history=())

    return built_in(
        f"with_profile(profiles{'' if history else ', history=False'})",
        apply=apply,
        promise="The answer is not worse when the prompt describes the user.",
        changes={"history", "instruction"},
        needs={"text"},
        origin=MULTIDIMENSIONAL,
    )
