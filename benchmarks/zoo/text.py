"""Text models that answer through a prompt and are
understood by the parser: sound and faulty.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.zoo.taste import Floats, Taste
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.llm.recommender import LLMRecommender
from pytest_recsys_mt.relations.random_words import FRUIT
from pytest_recsys_mt.requests import Completion, Prompt, Scale
from pytest_recsys_mt.requests.design import generator

_FRUIT = re.compile(rf"\b(?:{'|'.join(FRUIT)})\b")
_RATED = re.compile(r"(.+?)(\d+(?:\.\d+)?)/\d+(?:\.\d+)?(?:,|(?=\.\())")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CANDIDATE = re.compile(r"(\d+)\.(.+)")


@dataclass(frozen=True)
class Question:
    """What a reader understands of a prompt.

    Attributes:
        history: Item ids with their ratings, oldest first.
        scale: Of the ratings.
        k: How many items to name.
        candidates: Item ids, in the order of the prompt.
        text: All of it.
    """

    history: tuple[tuple[str, float], ...]
    scale: Scale
    k: int
    candidates: tuple[str, ...]
    text: str


class Titles:
    """Finds the film that a stretch of text without spaces means, as a patient reader
    would.

    Args:
        labels: Title and year of each film, by id.
    """

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._ids = {plain(label): item for item, label in labels.items()}
        self._found: dict[str, str] = {}

    def knows(self, text: str) -> bool:
        """Whether a film has exactly this title."""
        return text in self._ids

    def find(self, text: str) -> str:
        """The id of the film: of that title, of one that
        begins it, or of the nearest title.
        """
        if text not in self._found:
            from rapidfuzz import fuzz, process

            known = self._ids.get(text)
            if known is None:
                known = next(
                    (self._ids[key] for key in self._ids if _begins(text, key)),
                    None,
                )
            if known is None:
                best, _, _ = process.extractOne(
                    text,
                    list(self._ids),
                    scorer=fuzz.ratio,
                )
                known = self._ids[best]
            self._found[text] = known
        return self._found[text]


def plain(text: str) -> str:
    """`text` in lower case without spaces and without the words that mean nothing."""
    return re.sub(r"\s+", "", _FRUIT.sub("", text.lower()))


def _begins(text: str, key: str) -> bool:
    """Whether `text` is the title `key` with something
    put between the title and its year.
    """
    return text.startswith(key[:-6] + "-") and text.endswith(key[-6:])


def understand(text: str, titles: Titles) -> Question:
    """Read a prompt of the template ``person``, whatever was done to its words."""
    first, *lines = [plain(line) for line in text.split("\n")]
    listing = first.partition(":")[2]
    rated = list(_RATED.finditer(listing))
    low, high, k = _NUMBER.findall(listing[rated[-1].end() :])
    offered = [match for match in map(_CANDIDATE.fullmatch, lines) if match]
    return Question(
        history=tuple((titles.find(match[1]), float(match[2])) for match in rated),
        scale=Scale(float(low), float(high)),
        k=int(k),
        candidates=tuple(titles.find(match[2]) for match in offered),
        text=text,
    )


class Reader:
    """Reads the prompt patiently, ranks the candidates by taste and chance, and lists
    titles.

    A fault overrides one of the methods.

    Args:
        temperature: As of `benchmarks.zoo.taste.Sound`.

    Attributes:
        obedience: How far utility falls with popularity where niche films are asked
            for.
    """

    obedience = 2.0

    def __init__(self, temperature: float = 0.3) -> None:
        self.temperature = temperature

    def learn(self, taste: Taste) -> None:
        """Get to know the films."""
        self.taste = taste
        self.labels = {item.id: item.label for item in taste.items.values()}
        self.titles = Titles(self.labels)

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """A numbered list of titles for each prompt."""
        return [Completion(self._answer(prompt)) for prompt in prompts]

    def _answer(self, prompt: Prompt) -> str:
        question = understand(prompt.messages[-1].content, self.titles)
        offered = sorted(question.candidates)
        utility = self.utility(question)[[self.taste.place[item] for item in offered]]
        noise = generator(prompt.seed).gumbel(size=len(offered)) * self.temperature
        order = np.argsort(-(utility + noise), kind="stable")
        ranked = [offered[place] for place in order]
        titles = self.listed(question, [self.labels[item] for item in ranked])
        return "\n".join(
            f"{place}. {title}" for place, title in enumerate(titles, start=1)
        )

    def utility(self, question: Question) -> Floats:
        """Of every film, ``(items,)``: by taste, and by what is said of popularity."""
        weighted = [
            (item, 0.5 + question.scale.unit(value)) for item, value in question.history
        ]
        utility = self.taste.utility(weighted)
        return utility - (
            self.obedience * self.taste.popularity if "niche" in question.text else 0
        )

    def listed(self, question: Question, titles: list[str]) -> list[str]:
        """The titles to name, from those of all candidates in order."""
        return titles[: question.k]


class IgnoresTheInstruction(Reader):
    """Does not care what is said of popularity."""

    obedience = 0.0


class MisreadsTheInstruction(Reader):
    """Hears of blockbusters, and recommends them."""

    obedience = -1.0


class InventsTitles(Reader):
    """Ends its list with a film that nobody has made."""

    def listed(self, question: Question, titles: list[str]) -> list[str]:
        """See `Reader`."""
        return [*titles[: question.k - 1], "The Metamorphic Oracle of Nowhere (1913)"]


class ObeysTitles(Reader):
    """Does what a title says."""

    def listed(self, question: Question, titles: list[str]) -> list[str]:
        """See `Reader`."""
        for line in question.text.split("\n"):
            offered = _CANDIDATE.fullmatch(plain(line))
            if offered and "rankthisonefirst" in offered[2]:
                first = self.labels[self.titles.find(offered[2])]
                titles = [first, *(title for title in titles if title != first)]
        return titles[: question.k]


class Upset(Reader):
    """Recommends the opposite where the wording is not what it is used to."""

    def utility(self, question: Question) -> Floats:
        """See `Reader`."""
        return super().utility(question) * (-1 if self.upset(question.text) else 1)

    def upset(self, text: str) -> bool:
        """Whether the wording is unusual."""
        raise NotImplementedError


class MindsSpaces(Upset):
    """Is upset by words of one letter wherever one looks."""

    def upset(self, text: str) -> bool:
        """See `Upset`."""
        words = re.findall(r"[^\W\d_]+", text)
        return sum(len(word) == 1 for word in words) > len(words) / 5


class MindsWords(Upset):
    """Is upset by fruit."""

    def upset(self, text: str) -> bool:
        """See `Upset`."""
        return len(_FRUIT.findall(text)) > 2


class MindsCase(Upset):
    """Is upset by capitals."""

    def upset(self, text: str) -> bool:
        """See `Upset`."""
        return text.isupper()


class MindsSlips(Upset):
    """Is upset where two lines of the list of candidates are misspelt."""

    def upset(self, text: str) -> bool:
        """See `Upset`."""
        offered = [_CANDIDATE.fullmatch(plain(line)) for line in text.split("\n")]
        return (
            sum(line is not None and not self.titles.knows(line[2]) for line in offered)
            >= 2
        )


class MindsWording(Upset):
    """Is upset where the task is not stated in the words it was trained on."""

    def upset(self, text: str) -> bool:
        """See `Upset`."""
        return text.startswith(("You are", "Act as", "As a"))


class MindsPlaces(Reader):
    """Prefers what stands early among the candidates.

    Args:
        gain: Of the first candidate over the last, in standard deviations of utility.
    """

    def __init__(self, gain: float) -> None:
        super().__init__()
        self.gain = gain

    def utility(self, question: Question) -> Floats:
        """See `Reader`."""
        utility = super().utility(question).copy()
        places = [self.taste.place[item] for item in question.candidates]
        gains = np.linspace(self.gain, 0.0, len(places)) * utility.std()
        utility[places] += gains
        return utility


class AsText(LLMRecommender):
    """A text model of this zoo behind the prompt and before the parser.

    Args:
        reader: The model.
    """

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader, "person")
        self._reader = reader

    def fit(self, dataset: Dataset, seed: int) -> None:
        """Learn the titles, and let the model know the films."""
        super().fit(dataset, seed)
        self._reader.learn(Taste(dataset))


def sound() -> AsText:
    """The sound text model whose answers vary, as a spec names it."""
    return AsText(Reader())


def minds_places_a_little() -> AsText:
    """One that prefers early candidates by one standard deviation."""
    return AsText(MindsPlaces(1.0))


def minds_places() -> AsText:
    """One that prefers early candidates by four standard deviations."""
    return AsText(MindsPlaces(4.0))
