"""The command `recsys-mt decades`: how many items of some data are of each decade."""

from collections import Counter


def add(groups):
    """Add the parser of the command to those of recsys-mt; see `argparse`."""
    command = groups.add_parser(
        "decades",
        help="count the items of some data by decade",
    )
    command.add_argument(
        "data",
        nargs="?",
        default="mini",
        help="as --recsys-data (default: mini)",
    )
    command.set_defaults(command=run)


def run(given):
    """Print a line for each decade."""
    from pytest_recsys_mt.datasets import load

    years = [item.year for item in load(given.data).items.values() if item.year]
    for decade, count in sorted(Counter(year // 10 for year in years).items()):
        print(f"{decade}0s {count}")
