"""The recommenders of a run as objects, before they are
fitted: made once, and known by a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_recsys_mt.calls.executor import Ask
from pytest_recsys_mt.engine.elsewhere import Elsewhere
from pytest_recsys_mt.recommenders import resolve
from pytest_recsys_mt.recommenders.own_objects import RECOMMENDS
from pytest_recsys_mt.recommenders.registry import is_made_by_each_process
from pytest_recsys_mt.recommenders.trained import Trained
from pytest_recsys_mt.requests import Recommender, TextModel
from pytest_recsys_mt.requests.abilities import method_of
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.requests.specs import resources
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.safety.redaction import redact, shown

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.remote import Needs, Recipe
    from pytest_recsys_mt.engine.run_parts import RunParts


def made_from(
    spec: str,
    exact: bool,
    max_wait: float,
    cache: Path,
    ahead: bool,
    verbs: Sequence[str] = RECOMMENDS,
) -> Recommender | TextModel:
    """The recommender that `spec` names, with the options for all recommenders."""
    made = resolve(spec, exact=exact, verbs=verbs)
    if getattr(made, "max_wait", 0) is None:
        made.max_wait = max_wait  # type: ignore[union-attr]
    if getattr(made, "ahead", None) is False:
        made.ahead = ahead  # type: ignore[union-attr]
    if isinstance(made, Trained) and made.folder is None:
        made.folder = cache / "models"
    return made


class MadeRecommenders:
    """Makes each recommender once per process, and names it."""

    def __init__(self, run: RunParts) -> None:
        self.settings = run.settings
        self._run = run
        self._recommenders: dict[str, object] = {}

    def recommender(self, spec: str) -> object:
        """The recommender that `spec` names; the same object every time."""
        if spec not in self._recommenders:
            self._recommenders[spec] = self.made(spec)
        return self._recommenders[spec]

    @property
    def _options(self) -> tuple[bool, float, Path, bool]:
        given = self.settings
        return given.exact, given.max_wait, given.cache, not given.every_limit

    def made(self, spec: str) -> object:
        """Another recommender that `spec` names."""
        with self._run.progress.doing(f"loading {shown(spec)}"):
            made = made_from(spec, *self._options)
        if isinstance(made, Trained):
            made.told = self._run.progress.report
        return made

    def name_of(
        self,
        recommender: object,
        parameters: Sequence[str] = (),
        place: str = "",
    ) -> tuple[str, str]:
        """The spec that made a recommender, and an empty text; or its name and its
        fixture.

        That is ``fixture:NAME`` with the parameters, and the place, which distinguishes
        the fixture from others whose recommender has the same name; both without keys.
        """
        for spec, known in self._recommenders.items():
            if known is recommender:
                return spec, ""
        name = getattr(recommender, "name", None)
        if not isinstance(name, str):
            name = getattr(recommender, "__name__", None) or type(recommender).__name__
        text = "-".join(parameters)
        named = f"fixture:{name}[{text}]" if text else f"fixture:{name}"
        return redact(named), redact(place)

    def _made_again(self, recommender: object, name: str) -> object:
        if self._run.ray is not None:
            raise NotApplicable(
                "with -o recsys_executor=ray a recommender is fitted once only",
            )
        if isinstance(recommender, type):
            return recommender()
        if self._recommenders.get(name) is recommender:
            made = self.made(name)
            if made is not recommender:
                return made
        if not hasattr(recommender, "fit"):
            return recommender
        raise NotApplicable(
            f"{name} is one object, and is fitted once only; name its class instead",
        )

    def _recipe(
        self,
        recommender: object,
        name: str,
        prompt: str,
        fixture: str,
    ) -> tuple[Recipe, object, Needs]:
        from pytest_recsys_mt.calls.remote import Needs, Recipe, itself

        seed = self.settings.seed
        limit = self.settings.timeout
        if self._recommenders.get(name) is not recommender:
            recipe = Recipe(
                name,
                partial(itself, recommender),
                prompt,
                seed,
                fixture,
                limit,
            )
            return recipe, recommender, Needs()
        make = partial(made_from, name, *self._options)
        return (
            Recipe(name, make, prompt, seed, timeout=limit),
            None,
            Needs(**resources(name)[1]),
        )

    def elsewhere(self, recommender: object, name: str, design: Design) -> Ask | str:
        """Sends calls to a recommender that another process
        makes again; or the reason why this is impossible.
        """
        if self._recommenders.get(name) is not recommender:
            return (
                "a fixture gives the recommender, and no other process has it; name it by a spec, "
                "--recsys-model=package.module:name"
            )
        if name.startswith("__main__:") or not is_made_by_each_process(name):
            return f"{name} does not run in this process, or is too large for two processes"
        return Elsewhere(self.settings, name, design)

    def object_named(self, spec: str, verbs: Sequence[str]) -> object:
        """An object that `spec` names and that has one of the
        methods `verbs`, made once more.
        """
        return made_from(spec, *self._options, verbs)

    def know(self, spec: str, recommender: object) -> None:
        """Take an object that was made already for the recommender that `spec` names,
        unless another is known.
        """
        self._recommenders.setdefault(spec, recommender)

    def close(self) -> None:
        """Release the resources of recommenders."""
        for recommender in self._recommenders.values():
            close = method_of(recommender, "close")
            if callable(close):
                close()
