"""The served model must be the trained one: two recommenders
that should be one give the same lists.
"""

from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.oracles.unmoved import judge_unmoved
from pytest_recsys_mt.verdict.answers import Answers
from pytest_recsys_mt.verdict.verdict import Verdict


def served_as_trained(
    source: Answers,
    followup: Answers,
    similarity: str = "rbo",
    margin: float = 0.05,
    *,
    changed: float = 0.02,
    slices: Slices | None = None,
) -> Verdict:
    """Two recommenders that should be one must give the same lists, but for the noise
    of both.

    They are a model and its service, an index and its rebuilt one, a release and its
    candidate, or one recommender on two days. The same users are asked, with the same
    candidates and the same `k`:

    * If both declare themselves deterministic, the number is the share of users whose list differs at all.
    * If one or both do not, it is the mean loss of agreement beyond the noise of both:
      ``(B + B') / 2 - M``, where B and B' are the agreements of two answers of one
      recommender to one request, and M that of the answers of both. That is 0 if both
      draw from the same lists. It is above 0 also if the lists are alike on average,
      and one recommender varies more than the other.

    Example:
        assert served_as_trained(recsys.run(), recsys_against.run(), margin=0.05, changed=0.02)

    Args:
        source: Answers of one recommender, such as ``recsys.run()``.
        followup: Answers of the other one to the same requests, such as
            ``recsys_against.run()``.
        similarity: As in `same_ranking`.
        margin: How much agreement the mean user may lose if one of both is noisy, in
            (0, 1). With 200 users a loss of about 0.03 can be shown to be no larger
            than that.
        changed: The share of users whose list may differ if both are deterministic, in
            (0, 1) and at most `margin`.
        slices: As in `same_ranking`.

    Returns:
        ``holds`` if the number is shown to be below the margin, ``violated`` if it is
        shown to be above.
    """
    return judge_unmoved(
        "served_as_trained",
        source,
        followup,
        similarity,
        margin,
        changed=changed,
        slices=slices,
    )
