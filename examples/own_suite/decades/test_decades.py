"""The promises of the suite."""

from collections import Counter

from pytest_recsys_mt import thresholds
from pytest_recsys_mt.oracles import Score, at_most

LIMIT = thresholds(__file__, "share")["decade"]


def one_decade(period):
    """The score of a list: the share of its most frequent period."""

    def largest_share(answer, asked, context):
        """The share, and how many titles have no year."""
        years = [
            context.items[item].year for item in answer.items if item in context.items
        ]
        periods = Counter(year // period for year in years if year)
        known = periods.total()
        share = max(periods.values()) / known if known else None
        return share, len(answer.items) - known

    return Score("one_decade", largest_share, span=(0, 1))


def test_a_list_is_not_of_one_decade(recsys):
    assert at_most(recsys.run(), one_decade(recsys.option("period")), LIMIT)


def test_the_baseline_is_not_either(recsys, decades_baseline):
    assert at_most(decades_baseline.run(), one_decade(recsys.option("period")), LIMIT)
