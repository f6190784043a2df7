"""What tests use of `report.leaderboard`."""

from pytest_recsys_mt.report.leaderboard.board import Board, boards_of
from pytest_recsys_mt.report.leaderboard.command import sheets_of

__all__ = [
    "Board",
    "boards_of",
    "sheets_of",
]
