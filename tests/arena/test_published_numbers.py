"""Every Q and the correlations that "RecSys Arena" prints, from its own percentages."""

import math

import pytest

from pytest_recsys_mt.oracles import q_score
from tests.arena.published import AUC, COPIED, RELEASED, TABLE_2, TABLE_3, TABLE_4
from tests.support.report_paper_tables import tables_of

ROWS = {
    (*block, name): row
    for table in (TABLE_2, TABLE_4)
    for block, rows in table.items()
    for name, row in rows.items()
}


def truncated(q: float) -> float:
    """The paper cuts Q off behind four digits."""
    return math.floor(q * 10_000 + 1e-6) / 10_000


def test_all_tables_are_here() -> None:
    assert len(ROWS) == 24 + 8
    for win, tie, lose, _, _ in ROWS.values():
        assert win + tie + lose == pytest.approx(100)


@pytest.mark.parametrize("key", [key for key in ROWS if key != COPIED], ids="-".join)
def test_a_printed_q_follows_from_its_row(key: tuple[str, str, str]) -> None:
    win, tie, lose, printed, _ = ROWS[key]
    counts = [round(10 * share) for share in (win, tie, lose)]
    assert truncated(q_score(*counts)) == printed


def test_what_stands_beside_ones_own_values_is_what_the_paper_prints() -> None:
    printed = {table.name: table.printed for table in tables_of("arena")}
    for name, blocks in (("table-2", TABLE_2), ("table-4", TABLE_4)):
        rows = [row[:4] for block in blocks.values() for row in block.values()]
        assert [
            tuple(map(float, cells[:4])) for cells in printed[name].values()
        ] == rows
    told = [tuple(map(float, cells)) for cells in printed["table-3"].values()]
    assert told == list(TABLE_3.values())
    for name, (auc, _) in printed["table-1"].items():
        model, data = name.split(", ")
        assert model == "FM" or float(auc) == AUC[data][model]


def test_one_row_has_the_percentages_of_another() -> None:
    *shares, printed, _ = ROWS[COPIED]
    assert truncated(q_score(*shares)) == 2.1898 != printed
    assert shares == list(ROWS[*COPIED[:2], "NRMS"][:3])
    assert truncated(q_score(*RELEASED)) == printed


@pytest.mark.parametrize("block", [*TABLE_2, *TABLE_4], ids="-".join)
def test_printed_ranks_are_those_of_q(block: tuple[str, str]) -> None:
    rows = {**TABLE_2, **TABLE_4}[block]
    by_q = sorted(rows.values(), key=lambda row: -row[3])
    assert [row[4] for row in by_q] == [1, 2, 3, 4]


@pytest.mark.parametrize("block", TABLE_3, ids="-".join)
def test_the_correlations_with_auc_come_out_on_mind_and_not_on_movielens(
    block: tuple[str, str],
) -> None:
    from scipy.stats import pearsonr

    accuracy = AUC[block[1]]
    found = pearsonr(
        list(accuracy.values()),
        [TABLE_2[block][name][3] for name in accuracy],
    )
    cut_off = tuple(
        math.floor(each * 10_000) / 10_000 for each in (found.statistic, found.pvalue)
    )
    assert (cut_off == TABLE_3[block]) == (block[1] == "MIND")
    if block[1] == "MovieLens":
        assert abs(cut_off[0] - TABLE_3[block][0]) > 0.008
