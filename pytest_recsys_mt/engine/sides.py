"""One side of a relation: the answers that an oracle reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pytest_recsys_mt.calls.call import AGAIN, CONTROL, Call, Purpose
from pytest_recsys_mt.engine import call_times
from pytest_recsys_mt.engine.outcomes import (
    Outcome,
    apart_by,
    cannot_answer,
    first_unasked,
    lost,
    of_one_time,
    parted,
    unasked,
)
from pytest_recsys_mt.engine.questions import (
    Questions,
    SideRequests,
    _widest,
    interleaved,
    send,
)
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.metamorphic import AnyTransformation
from pytest_recsys_mt.relations.ask_alone import ask_alone
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.requests.design import generator
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import (
    Answers,
    Asked,
    Context,
    Drawn,
    Pairs,
    Sample,
    Span,
)
from pytest_recsys_mt.verdict.answers.times import Times


class Side(SideRequests):
    """One side of a relation, lazy: it makes and sends
    requests when an oracle reads the answers.
    """

    def __init__(
        self,
        runner: Runner,
        context: Context,
        transformations: Sequence[AnyTransformation] = (),
        block: int = 0,
        label: str = "",
        purpose: Purpose | None = None,
    ) -> None:
        super().__init__(runner, transformations, block, label, purpose)
        # Calls with another purpose are kept apart from the tests' answers.
        own = bool(self.transformations or purpose)
        self._outcomes = {} if own else runner.source_outcomes
        self.context = context
        # How often each answer counts: one for each of the partner's, of a recommender
        # whose calls are not repeated.
        self._copies = 1
        self._ends: dict[Span, tuple[float, float]] = {}

    def on(self, runner: Runner, context: Context) -> Side:
        """The same side of another runner."""
        return Side(runner, context, self.transformations, self._block, self._label)

    def beside(self, other: Answers) -> tuple[Answers, Answers]:
        """This side and another one, ready to be compared, if different recommenders
        answer.

        No change of an answer is noise only if both recommenders always answer alike.
        If one does not, the single answer of the other one counts as often as that
        one answers: its own noise is none.

        Raises:
            OracleError: If one recommender gave the same answers to both.
        """
        if not isinstance(other, Side):
            return self, other
        if self._is_of(other):
            if other is not self and other._outcomes is self._outcomes:
                raise OracleError(
                    f"both sides are the same answers, those of {self.model} to the unchanged requests; compare those "
                    f"of two recommenders, or name what is changed: recsys.run(a_transformation)",
                )
            return self, other
        ours, theirs = self.context, other.context
        context = replace(
            ours,
            deterministic=ours.deterministic and theirs.deterministic,
            in_process=ours.in_process and theirs.in_process,
            unsure=lambda: ours.unsure() or theirs.unsure(),
        )
        most = max(self.replicates, other.replicates)
        pair = []
        for side in (self, other):
            ready = side.on(side.runner, context)
            ready._copies = most if side.replicates == 1 else 1
            pair.append(ready)
        pair[1]._against = f"against {other.model}"
        return pair[0], pair[1]

    def applicable(self, followup: Answers | None = None, /) -> int:
        """How many users this side can serve, and `followup` too. Sends no calls."""
        return len(self._served(None if followup is None else self._partner(followup)))

    def sample(self, users: int | None = None) -> Sample:
        """The answers of the first `users` users that this
        side can serve; of all if None.
        """
        positions = self._served()[:users]
        self._send(positions)
        outcomes = [self._counted(self._outcomes[position]) for position in positions]
        order = self._users(positions)
        answered = first_unasked(outcomes)
        seen = outcomes[:answered]
        asked = [outcome.asked for outcome in seen if outcome.asked is not None]
        found = [
            each
            for one in zip(order, seen, strict=False)
            if (each := lost(*one)) is not None
        ]
        counted, refused = parted(found, cannot=cannot_answer(seen))
        return Sample(
            asked=tuple(each for each in asked if not each.unread),
            not_applicable=Counter(self._made[1].values()) + Counter(refused.values()),
            lost=counted,
            unasked=unasked(outcomes[answered:]),
            unread=tuple(each for each in asked if each.unread),
            order=tuple(user for user in order if user not in refused),
            ends=self._ends_of,
            drawn=self._drawn_for(positions, self._served()),
            sampled=len(self.runner.cases),
        )

    def times(self) -> Times:
        """How long the calls of this side take, each sent by itself."""
        runner = self.runner
        if why := call_times.obstacle(runner):
            return Times(obstacle=why)
        runner.timed = True
        side: Side = self
        if not runner.subject.streams and self.asked == "together":
            changes: list[AnyTransformation] = [*self.transformations, ask_alone]
            side = Side(runner, self.context, changes, self._block)
        if not side.requests:
            return Times(uncounted=Counter(side._made[1].values()))
        questions = side._questions(list(side.requests))
        [outcomes] = send(questions, since=call_times.since(runner))
        side._outcomes.update(outcomes)
        return call_times.times_of(
            runner,
            {position: side._outcomes[position] for position in side.requests},
        )

    def _drawn_for(
        self,
        positions: Sequence[int],
        everybody: Sequence[int],
    ) -> frozenset[Drawn]:
        """The things drawn for the users at these positions,
        of `everybody` who has a request.
        """
        part: frozenset[Drawn] = frozenset({"users"})
        return self.drawn | part if len(positions) < len(everybody) else self.drawn

    def _ends_of(self, span: Span) -> tuple[float, float]:
        if span not in self._ends:
            found = []
            for case in self.runner.everyone():
                request = self.runner.transformed(case, self.transformations)
                if isinstance(request, Request):
                    asked = Asked(request, (), case.held_out, case.past)
                    found.append(span(asked, self.context))
            self._ends[span] = _widest(*found) if found else (0.0, 0.0)
        return self._ends[span]

    def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
        """The answers of both sides, for the first `users` users that both can serve."""
        partner = self._partner(followup)
        positions = self._served(partner)[:users]
        self._send(positions, partner)
        return self._paired(partner, positions, self._outcomes, partner._outcomes)

    def pair_anew(
        self,
        followup: Answers,
        /,
        users: int,
        *,
        without: Collection[str] = (),
        alone: bool = False,
    ) -> Pairs | None:
        """Both sides of `pair` sent once more, except for the users in `without`, as
        one batch that treats them alike.

        None if the answers cannot change. If `alone`, each request is sent by itself.

        These calls have their own numbers, so an earlier answer to the same request
        does not count. The numbers follow from the two transformations, so a resumed
        run sends nothing twice.
        """
        partner = self._partner(followup)
        runner = self.runner
        both = (runner, partner.runner)
        if not all(each.subject.live for each in both):
            return None
        for each in both:
            each.sent_apart = True
        positions = self._served(partner)[:users]
        served = zip(self._users(positions), positions, strict=True)
        positions = [position for user, position in served if user not in without]
        if runner.settings.plan:
            self._plan_again(partner, len(positions))
            return None
        draw = generator(runner.settings.seed, "anew", self.label, partner.label)
        first = int(draw.integers(AGAIN, 2**31))
        # A side sent alone now would differ from the side sent with many others before.
        of_ours = (
            list(dict.fromkeys((*self._outcomes, *positions)))
            if partner.asked != self.asked
            else positions
        )
        ours, theirs = send(
            Questions(self, of_ours, first + self._first, "alone" if alone else None),
            Questions(
                partner,
                positions,
                first + partner._first,
                "alone" if alone else None,
            ),
        )
        self._compare_with_earlier(ours)
        partner._compare_with_earlier(theirs)
        return self._paired(partner, positions, ours, theirs)

    def _plan_again(self, partner: Side, users: int) -> None:
        """Count the calls that repeat both sides of so many users."""
        calls: Counter[Runner] = Counter()
        for side in (self, partner):
            calls[side.runner] += users * side.replicates
        for each, count in calls.items():
            each.plan_again(count, self.label, partner.label)

    def _compare_with_earlier(self, outcomes: Mapping[int, Outcome]) -> None:
        """Note whether answers to the same calls differ from the earlier ones."""
        if self.asked != "together":
            return
        for position in outcomes.keys() & self._outcomes.keys():
            self.runner.answered_twice(self._outcomes[position], outcomes[position])

    def _paired(
        self,
        partner: Side,
        positions: Sequence[int],
        ours: Mapping[int, Outcome],
        theirs: Mapping[int, Outcome],
    ) -> Pairs:
        both = [
            (self._counted(ours[position]), partner._counted(theirs[position]))
            for position in positions
        ]
        order = self._users(positions)
        # Answers past a limit are no sample: users count in the order drawn, or not at
        # all.
        answered = (
            min(first_unasked(side) for side in zip(*both, strict=True)) if both else 0
        )
        source, other, unread, found = [], [], [], []
        apart, mixed = 0.0, set[str]()
        afresh = "afresh" in (self.asked, partner.asked)
        for user, (one, two) in zip(order, both[:answered], strict=False):
            if one.asked is None or two.asked is None:
                found += [each for each in [lost(user, one, two)] if each is not None]
                continue
            if one.asked.unread or two.asked.unread:
                unread.append((one.asked, two.asked))
            else:
                source.append(one.asked)
                other.append(two.asked)
            if between := apart_by(one.times, two.times):
                apart = max(apart, between)
                if not of_one_time(one, two, one_recommender=self._is_of(partner)):
                    mixed.add(user)
            if self._same_question(partner):
                self.runner.answered_twice(one, two, reported=True)
        if (
            self._purpose != CONTROL and not afresh
        ):  # on which no verdict's status depends
            self.runner.sent_apart |= bool(apart)
            partner.runner.sent_apart |= bool(apart)
        sides = zip(*both[:answered], strict=True)
        counted, refused = parted(found, cannot=cannot_answer(*sides))
        without_request = Counter({**partner._made[1], **self._made[1]}.values())
        return Pairs(
            tuple(source),
            tuple(other),
            without_request + Counter(refused.values()),
            counted,
            unasked([two if two.unasked else one for one, two in both[answered:]]),
            unread=tuple(unread),
            order=tuple(user for user in order if user not in refused),
            ends=lambda span: _widest(self._ends_of(span), partner._ends_of(span)),
            drawn=self._drawn_for(positions, self._served(partner)) | partner.drawn,
            sampled=len(self.runner.cases),
            apart=apart,
            mixed=frozenset(mixed),
            days=afresh,
            refits=(self.runner.design.refits or partner.runner.design.refits)
            and not self._same_question(partner),
        )

    def _counted(self, outcome: Outcome) -> Outcome:
        """An outcome with each answer as often as it counts
        with those of another recommender.
        """
        if self._copies == 1 or outcome.asked is None:
            return outcome
        asked = outcome.asked
        return replace(
            outcome,
            asked=replace(asked, answers=asked.answers * self._copies),
        )

    def calls(
        self,
        followup: Answers,
        /,
        users: int | None = None,
    ) -> list[tuple[int, Call]]:
        """The calls of `pair` that are not answered yet, each with the position of its
        case.

        Sends no calls.
        """
        partner = self._partner(followup)
        positions = self._served(partner)[:users]
        return [
            call
            for side in (self, partner)
            for call in side._questions(positions).sent()
        ]

    def first_calls(self, followup: Answers, /) -> list[Call]:
        """The unanswered calls for the users whom every verdict needs first, in the
        order to send.

        Empty if the follow-up is not sent together with others, or if fits answer that
        are made when the first call is.
        """
        from pytest_recsys_mt.oracles.judging.steps import next_step  # see `engine.run`

        if self._partner(followup).asked != "together" or self.runner.design.refits:
            return []
        users = self.applicable(followup)
        first = users if self.context.ask_everybody else next_step(0, users)
        calls = self.calls(followup, first)
        return interleaved(calls, by_user=self.runner.subject.streams)

    def _partner(self, followup: Answers) -> Side:
        if not isinstance(followup, Side) or not followup.runner.pairs_with(
            self.runner,
        ):
            raise OracleError(
                f"an oracle compares answers to one design (the length of histories alone may differ), got "
                f"{self!r} and {followup!r}",
            )
        return followup

    def _questions(self, positions: Sequence[int]) -> Questions:
        missing = [
            position
            for position in positions
            if position not in self._outcomes or self._outcomes[position].unasked
        ]
        return Questions(self, missing, self._first)

    def _send(self, positions: Sequence[int], *partners: Side) -> None:
        sides = (self, *partners)
        questions = [side._questions(positions) for side in sides]
        for side, each in zip(sides, questions, strict=True):
            known = (side._outcomes[at] for at in positions if at not in each.requests)
            side.runner.uses(known, side._purpose)
        if any(each.requests for each in questions):
            for side, outcomes in zip(sides, send(*questions), strict=True):
                side._outcomes.update(outcomes)
