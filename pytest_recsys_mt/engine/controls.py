"""Whether a recommender reads the aspect that a relation changes: else it keeps any
promise about that vacuously.

For each aspect of a request there is one relation that changes it as far as possible
and promises that the answer differs: the positive control. When a verdict on another
relation of that aspect holds, the control is sent for the same users. "It does not read
the aspect" is a claim at the error rate of the run, made once for each recommender,
design and aspect:

* of a deterministic recommender: the control changes the answers of less than a share
  `SHARE` of all users. Of a larger share, so many users as `users_for` counts would
  show one with a probability of at least 1 - alpha.
* of another one: the mean loss of agreement beyond noise is below `MARGIN`, as in `oracles.same_ranking`.
"""

import contextlib
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType

from pytest_recsys_mt import relations
from pytest_recsys_mt.calls.call import CONTROL
from pytest_recsys_mt.calls.scheduling import UnknownError
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.engine.sides import Side
from pytest_recsys_mt.metamorphic import AnyTransformation, name_of
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.effect import similarity_effects
from pytest_recsys_mt.oracles.judging.encoding import open_to_both
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.steps import step_by_step
from pytest_recsys_mt.oracles.judging.together import with_versions
from pytest_recsys_mt.oracles.similarities.rbo import rbo
from pytest_recsys_mt.relations.transformation import Transformation, aspect_of
from pytest_recsys_mt.requests import Aspect, Request
from pytest_recsys_mt.safety.errors import MissingAnswerError
from pytest_recsys_mt.verdict.answers import Answers, Unread
from pytest_recsys_mt.verdict.wording import unread as unread_words

SHARE = 0.05
"""The share of users that a deterministic recommender is shown to stay below."""

MARGIN = 0.05
"""The loss of agreement that another one is shown to stay
below: the smallest margin of the shipped suites.
"""

MOVED = 1e-9
"""Lists that differ at all lose more agreement than this."""

FIRST_EXACT = 3
"""Users whom a control of a deterministic recommender asks first: one who gets another
answer shows that the aspect is read.
"""

FIRST_NOISY = 8
"""The same of another recommender: so few show a large effect."""

SHARE_MEASURED = "share of users whose answer changes"
LOSS_MEASURED = "loss of agreement beyond noise"


def unread(source: Answers, followup: Answers) -> Unread | None:
    """The aspect that relations between two sides change, if it is not read.

    Returns:
        None if it reads it, or if this is not known: the relations have no aspect or
        several, too few users have requests, or answers are missing whose calls may
        not be sent; see `_may_send`.
    """
    if not isinstance(source, Side) or not isinstance(followup, Side):
        return None
    runner, aspect = followup.runner, _aspect_of(source, followup)
    if runner is not source.runner or runner.purpose is not None or aspect is None:
        return None
    if aspect in runner.subject.ignores:
        return Unread(aspect, {"declared": True})
    if not runner.subject.live or runner.design.refits:
        return None
    # Answers to other tests may show it, so it is looked at once more when these are
    # there.
    for _ in range(2):
        with (
            contextlib.suppress(UnknownError, MissingAnswerError),
            _within_limit(runner),
        ):
            return _shown(runner, aspect)
        if not runner.executor.settles():
            break
    return None


def ignored(source: Answers, followup: Answers) -> str:
    """Why the change between two sides cannot matter: the recommender declares that it
    does not read the changed aspect.

    Empty if it may, or if the aspect of a transformation is unknown.
    """
    if not isinstance(source, Side) or not isinstance(followup, Side):
        return ""
    subject = followup.runner.subject
    aspects = [getattr(each, "aspect", None) for each in _further(source, followup)]
    if not aspects or not all(aspect in subject.ignores for aspect in aspects):
        return ""
    return declared_unread(subject.name, str(aspects[0]))


def declaration(source: Answers, followup: Answers, wants_change: bool) -> str:
    """The declaration by which a recommender means to break a promise of two sides;
    see `Transformation.declaration`.

    Empty if the sides differ in more than one transformation, or if nothing that it may
    declare excuses it.
    """
    if not isinstance(source, Side) or not isinstance(followup, Side):
        return ""
    further = _further(source, followup)
    if len(further) != 1 or not isinstance(further[0], Transformation):
        return ""
    # A model that is named by its spec has no attributes to declare.
    if followup.runner.subject.reads_text:
        return ""
    return further[0].declaration(wants_change=wants_change)


def _further(source: Side, followup: Side) -> list[AnyTransformation]:
    """The transformations that only the follow-up has."""
    known = [name_of(each) for each in source.transformations]
    return [each for each in followup.transformations if name_of(each) not in known]


def declared_unread(model: str, aspect: str) -> str:
    """That a recommender declares not to read a part of a request."""
    return f"{model} declares that it {unread_words(aspect)}"


def _shown(runner: Runner, aspect: Aspect) -> Unread | None:
    found: list[Unread | None] = []
    for control in CONTROLS[aspect][: None if _may_send(runner) else 1]:
        key: tuple[str, int] = (control.name, runner.replicates)
        if key not in runner.controls:
            runner.controls[key] = _Control(runner, control, aspect)
        known: _Control = runner.controls[key]
        found.append(known.unread)
        if found[-1] is None:
            return None
    return found[0]


CONTROLS: Mapping[Aspect, tuple[Transformation, ...]] = MappingProxyType(
    {
        "ratings": (relations.invert_ratings, relations.level_ratings),
        "history": (relations.swap_history,),
        "candidates": (relations.swap_candidates,),
        "user": (relations.swap_user,),
        "titles": (relations.swap_titles,),
        "instruction": (relations.order_by_title,),
    },
)
"""The relations that change an aspect as far as possible; the second changes requests
that are symmetric under the first.
"""


def users_for(alpha: float) -> int:
    """Users of whom none may change, so that less than
    `SHARE` of all change at this error rate.
    """
    return math.ceil(math.log(alpha) / math.log1p(-SHARE))


def _aspect_of(*sides: Side) -> Aspect | None:
    aspects: set[Aspect | None] = set()
    for side in sides:
        for each in side.transformations:
            if not isinstance(each, Transformation):
                aspects.add(_seen_in(side))
            else:
                aspects.add(None if each.promises_change else each.aspect)
    return aspects.pop() if len(aspects) == 1 else None


def _seen_in(side: Side) -> Aspect | None:
    names = Request.__dataclass_fields__.keys() - {
        "seen",
    }  # which follows from the history
    changed: set[str] = set()
    reread = False
    for own, request in side.changed():
        changed |= {
            name for name in names if getattr(own, name) != getattr(request, name)
        }
        items = [[rating.item.id for rating in each.history] for each in (own, request)]
        reread |= items[0] != items[1]
    aspect = aspect_of(changed)
    return (
        "ratings"
        if aspect == "history" and not reread and "history" in changed
        else aspect
    )


def _within_limit(runner: Runner) -> contextlib.AbstractContextManager[None]:
    """Surrounds the requests: only known answers may be read, unless `_may_send`."""
    if _may_send(runner):
        return contextlib.nullcontext()
    if runner.settings.plan:
        raise UnknownError
    return runner.executor.only_known()


def _may_send(runner: Runner) -> bool:
    most = runner.settings.controls
    return runner.at_hand if most is None else most > 0


class _Control:
    def __init__(self, runner: Runner, control: Transformation, aspect: Aspect) -> None:
        self.runner, self.control, self.aspect = runner, control, aspect
        self._context = replace(runner.context(), family=1, ask_everybody=False)
        # Numbered as in a test of this relation, whose answers then serve.
        self._source = Side(runner, self._context, purpose=CONTROL)
        self._followup = Side(runner, self._context, (control,), 1, purpose=CONTROL)

    @cached_property
    def unread(self) -> Unread | None:
        """The aspect that the recommender does not read; None if it reads it.

        Answers that allow neither claim are an `UnknownError`.
        """
        context, most = self._context, self.runner.settings.controls
        users = self._source.applicable(self._followup)
        if most is not None and _may_send(self.runner):
            users = min(users, most // self.runner.replicates)
        wanted = users_for(context.alpha)
        if users < wanted:
            raise UnknownError
        if context.made_up:
            self._source.pair(
                self._followup,
                wanted if context.deterministic else users,
            )
            raise UnknownError
        user_count = (
            self._of_exact(users, wanted)
            if context.deterministic
            else self._of_noisy(users)
        )
        if user_count is None:
            return None
        exact = context.deterministic
        shown = {
            "relation": self.control.name,
            "measures": SHARE_MEASURED if exact else LOSS_MEASURED,
            "below": SHARE if exact else MARGIN,
            "users": user_count,
        }
        if not exact:
            shown["noisy"] = True
        return Unread(self.aspect, shown)

    def _of_exact(self, users: int, wanted: int) -> int | None:
        user_count = min(FIRST_EXACT, users)
        while True:
            pairs = self._source.pair(self._followup, user_count)
            effects = similarity_effects(open_to_both(pairs), self._context, rbo)
            broken = any(lost.source is not None for lost in pairs.lost)
            if broken or (effects.effect > MOVED).any():
                return None
            if pairs.unread:
                raise UnknownError
            scored = len(effects.rows)
            if scored >= wanted:
                return scored
            if pairs.unasked or pairs.lost or user_count >= users:
                raise UnknownError
            user_count = min(users, user_count + wanted - scored)

    def _of_noisy(self, users: int) -> int | None:
        def see(user_count: int) -> Seen:
            pairs = self._source.pair(self._followup, user_count)
            effects = similarity_effects(open_to_both(pairs), self._context, rbo)
            return Seen.of(
                with_versions(effects, pairs),
                pairs,
                pairs.source,
                pairs.followup,
            )

        claim = Claim(CONTROL, "at most", MARGIN)
        verdict = step_by_step(
            claim,
            self.control.name,
            self._context,
            users,
            see,
            first=FIRST_NOISY,
        )
        if verdict.status == "holds":
            return verdict.users
        if verdict.status == "violated":
            return None
        raise UnknownError
