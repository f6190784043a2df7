"""A text model as a test asks it: with prompts of the test's own."""

from __future__ import annotations

from pytest_recsys_mt.calls.executor import Executor
from pytest_recsys_mt.calls.subject import Subject, TextSubject, completion_of
from pytest_recsys_mt.errors import LimitReachedError, NotApplicable
from pytest_recsys_mt.requests import Completion, Prompt


class Texts:
    """Puts prompts to a text model through the cache, the limits and the counts of the run.

    Args:
        subject: The model, fitted.
        executor: Puts the calls.

    Raises:
        NotApplicable: If it reads no text.
    """

    def __init__(self, subject: Subject, executor: Executor) -> None:
        if not isinstance(subject, TextSubject):
            raise NotApplicable(f"needs a text model, and {subject.name} reads no text")
        self._subject = subject
        self._executor = executor

    @property
    def name(self) -> str:
        """As reports and the record know it."""
        return self._subject.name

    @property
    def deterministic(self) -> bool:
        """Whether it declares that it always answers alike."""
        return self._subject.deterministic

    @property
    def scores_choices(self) -> bool:
        """Whether it answers a prompt with choices by scoring them, rather than by writing."""
        return self._subject.scores_choices

    @property
    def takes_schema(self) -> bool:
        """Whether its answers can be held to the `schema` of a prompt, as far as its endpoint does."""
        return self._subject.takes_schema

    @property
    def reads_images(self) -> bool:
        """Whether it looks at the images of a message."""
        return self._subject.reads_images

    def complete(self, *prompts: Prompt, replicate: int = 0) -> list[Completion]:
        """The completions, one a prompt, in their order; all prompts are put as one batch.

        A seed is drawn for each call from the run's seed, the messages and the replicate, in place
        of the prompt's own; equal prompts of one replicate are put once.

        Args:
            *prompts: To put.
            replicate: Number of the call: the same prompts with another number are asked anew.

        Returns:
            Those whose call failed have an `error` and no text.

        Raises:
            NotApplicable: If a message has images and the model does not look at them.
            LimitReachedError: If a prompt was not put because a limit of the run is reached.
        """
        if not self.reads_images and any(m.images for prompt in prompts for m in prompt.messages):
            raise NotApplicable(f"needs a model that reads images, and {self.name} reads none")
        calls = [self._subject.prompt_call(prompt, replicate) for prompt in prompts]
        answers = self._executor.execute(self._subject, calls)
        unasked = next((answer["unasked"] for answer in answers if "unasked" in answer), None)
        if unasked is not None:
            raise LimitReachedError(unasked)
        return [completion_of(answer) for answer in answers]

    def __repr__(self) -> str:
        return f"<texts of {self.name}>"
