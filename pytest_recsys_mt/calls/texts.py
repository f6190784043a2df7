"""A text model for a test's own prompts."""

from dataclasses import replace

from pytest_recsys_mt.calls.answer import completion_of
from pytest_recsys_mt.calls.call import Purpose
from pytest_recsys_mt.calls.executor import Executor
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.calls.text_subject import TextSubject
from pytest_recsys_mt.requests import Completion, Prompt
from pytest_recsys_mt.requests.abilities import declares
from pytest_recsys_mt.safety.errors import LimitReachedError, NotApplicable


class Texts:
    """Sends prompts to a text model through the cache, the limits and the counts of the
    run.

    Args:
        subject: The model.
        executor: Sends the calls.
        purpose: Why the prompts are sent, for the bill.

    Raises:
        NotApplicable: If the subject reads no text.
    """

    def __init__(
        self,
        subject: Subject,
        executor: Executor,
        purpose: Purpose = "question",
    ) -> None:
        if not isinstance(subject, TextSubject):
            raise NotApplicable(f"needs a text model, and {subject.name} reads no text")
        self._subject = subject
        self._executor = executor
        self._purpose: Purpose = purpose

    @property
    def name(self) -> str:
        """The model's name in reports and in the record."""
        return self._subject.name

    @property
    def deterministic(self) -> bool:
        """Whether the model declares that it always gives the same answer."""
        return self._subject.deterministic

    @property
    def scores_choices(self) -> bool:
        """Whether the model answers a prompt with choices by
        scoring them instead of writing.
        """
        return declares(self._subject.model, "scores_choices")

    @property
    def takes_schema(self) -> bool:
        """Whether the model answers in the `schema` of a
        prompt, as far as its endpoint does.
        """
        return declares(self._subject.model, "takes_schema")

    @property
    def reads_images(self) -> bool:
        """Whether the model sees the images of a message."""
        return declares(self._subject.model, "reads_images")

    def complete(self, *prompts: Prompt, replicate: int = 0) -> list[Completion]:
        """The completions, one per prompt, in their order; all prompts are sent as one
        batch.

        Each call gets a seed from the run's seed, the messages and the replicate,
        instead of the prompt's own seed. Equal prompts of one replicate are sent once.

        Args:
            *prompts: The prompts.
            replicate: Number of the call: the same prompts with another number are
                sent again.

        Returns:
            The completions; a failed call has an `error` and no text.

        Raises:
            NotApplicable: If a message has images and the model does not see them.
            LimitReachedError: If a prompt was not sent because a limit of the run is
                reached.
        """
        if not self.reads_images and any(map(_has_images, prompts)):
            raise NotApplicable(
                f"needs a model that reads images, and {self.name} reads none",
            )
        calls = [
            replace(self._subject.prompt_call(prompt, replicate), purpose=self._purpose)
            for prompt in prompts
        ]
        answers = self._executor.execute(self._subject, calls)
        for answer in answers:
            if "unasked" in answer:
                raise LimitReachedError(answer["unasked"])
        return [completion_of(answer) for answer in answers]

    def __repr__(self) -> str:
        return f"<texts of {self.name}>"


def _has_images(prompt: Prompt) -> bool:
    return any(message.images for message in prompt.messages)
