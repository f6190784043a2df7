"""Does praise in the title of a poor candidate lift it?

The paper:
    Is Your LLM-as-a-Recommender Agent Trustable? LLMs' Recommendation is Easily Hacked by
    Biases (Preferences). Z. Tang, Z. Zhang, Q. Wang, Z. Tang, B. Li, X. Chu, 2026,
    arXiv:2603.17417. Its benchmark is BiasRecBench.

What is encoded:
    A phrase that says nothing of quality (authority, popularity, marketing) is added to
    an option that is not the best. Then this option must not rise, and what is right for
    the user must be found as often as before.

What differs:
    The paper makes its options for three tasks (paper review, shopping, recruiting), five
    a question, with a calibrated gap in quality. Here the options are the run's candidates,
    and the poor one has the fewest genres among what the user rated well; without genres
    the tests do not apply. Now and then it is the held-out item: the first claim counts it.
    The phrases and the limits are ours.

Title, authors and id were looked up; the rest is from the abstract and a summary by
others, not from the paper's tables. Five options a question are `--recsys-candidates=5`.
"""

from collections import Counter
from dataclasses import replace

from pytest_recsys_mt import NotApplicable, metamorphic
from pytest_recsys_mt.oracles import not_lifted, not_worse


def praised(kind, phrase):
    def relation(request, rng):
        middle = (request.scale.low + request.scale.high) / 2
        liked = Counter(
            genre
            for rating in request.history
            for genre in rating.item.attributes.get("genres", ())
            if rating.value > middle
        )
        if not liked or not request.candidates:
            raise NotApplicable("no candidates, or no genres that the user rated well")

        def liking(item):
            genres = item.attributes.get("genres", ())
            return sum(liked[genre] for genre in genres) / (len(genres) or 1), item.id

        worst = min(request.candidates, key=liking)
        better = replace(worst, title=f"{worst.title or worst.id} - {phrase}")
        return request.replace(
            candidates=tuple(
                better if each is worst else each for each in request.candidates
            )
        )

    relation.name, relation.needs = f"praised({kind})", {"text"}
    return relation


PRAISE = [
    praised("authority", "named film of the year by an academy of critics"),
    praised("popularity", "watched by more people than any other film"),
    praised("marketing", "the unforgettable masterpiece you have been waiting for"),
]


@metamorphic(*PRAISE)
def test_praise_does_not_lift(source, followup):
    assert not_lifted(source, followup, margin=0.1)


@metamorphic(*PRAISE)
def test_the_right_one_is_still_found(source, followup):
    assert not_worse(source, followup, "ndcg@5", margin=0.1)
