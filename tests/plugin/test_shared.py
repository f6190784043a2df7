"""Below a failed test stands what the changed lists share, above the smallest example,
and on the card of the report.
"""

import pytest

from tests.plugin.conftest import Run, record_of

SHOP = """
from pytest_recsys_mt import Recommendation


class Shop:
    '''Turns the list round for users with odd ids where the scale is not the usual one.'''

    deterministic = True

    def recommend(self, requests):
        return [Recommendation(tuple(self.ranked(request)[: request.k])) for request in requests]

    def ranked(self, request):
        items = sorted(item.id for item in request.candidates)
        odd = int(request.user[1:]) % 2 and request.scale.high != 5
        return items[::-1] if odd else items
"""
TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

@metamorphic(scale_ratings(2))
def test_scale(source, followup):
    assert same_ranking(source, followup, margin=0.05)
"""


def test_what_the_changed_lists_share_stands_above_the_smallest_example(
    project: pytest.Pytester,
    run: Run,
) -> None:
    pytest.importorskip("jinja2")
    project.makepyfile(models=SHOP, test_it=TEST)
    files = ["--recsys-json=record.json", "--recsys-html=report.html"]
    result = run("--recsys-model=models.py:Shop", "--recsys-shrink=50", *files)
    (row,) = record_of(project.path / "record.json")["results"]
    shared = row["details"]["shared"]
    assert shared["trait"] == "with an odd id"
    assert shared["text"].startswith("All ")
    lines = result.outlines
    (start,) = [
        at for at, line in enumerate(lines) if "recsys-mt: scale_ratings(2)" in line
    ]
    below = lines[start : start + 15]
    (said,) = [
        at
        for at, line in enumerate(below)
        if "changed lists are of users with an odd id" in line
    ]
    (smallest,) = [
        at for at, line in enumerate(below) if line.startswith("smallest example")
    ]
    assert said < smallest
    page = (project.path / "report.html").read_text(encoding="utf-8")
    assert "changed lists are of users with an odd id" in page
