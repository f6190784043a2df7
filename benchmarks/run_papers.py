"""The protocols of the papers on data and with a model of your own: plan, ask, run.

    python -m benchmarks.run_papers --data ml-1m --model gpt-4o --usd 5 --papers multidimensional

First each protocol is planned: which tables it fills, and how many calls, tokens and
dollars that takes at most. After a yes (or with --yes) the protocols are run one after
the other. Every answer is kept in the folder of --output as it arrives, so Ctrl-C stops
the command, and the same command goes on with the calls that are left; those in flight
at that moment are asked again. --usd limits each start of the command. Records and a
page of tables for each paper are in the same folder. What stands behind `--` goes to
pytest: `-- --recsys-users=100`.
"""

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SUITE = "pytest_recsys_mt.suites"
CLASSICAL = ("random", "mostpop", "itemknn", "ease")
PLANNED = (0, 5)
"""Exit codes of pytest for a plan; 5 if no test of the paper asks anything."""
FINISHED = (0, 1)
"""Exit codes of pytest for a run that came to its end; promises may fail."""


@dataclass(frozen=True)
class Step:
    """A run of pytest for a paper.

    Attributes:
        record: The record that it writes.
        arguments: What it selects.
        text_only: Whether it asks the language model alone.
        as_judge: Whether the language model is the judge, and not under test.
    """

    record: str
    arguments: tuple[str, ...]
    text_only: bool = False
    as_judge: bool = False


PAPERS: dict[str, list[Step]] = {
    "metamorphic": [
        Step("metamorphic.json", (f"{SUITE}.metamorphic.test_paper",), text_only=True),
    ],
    "popularity": [Step("popularity.json", (f"{SUITE}.popularity.test_paper",))],
    "multidimensional": [
        Step(
            "multidimensional.json",
            (f"{SUITE}.multidimensional.test_paper", "-orecsys_core=5"),
        ),
        Step(
            "profiles.json",
            (
                f"{SUITE}.multidimensional.test_generation",
                "-orecsys_core=5",
                "-kfigure_6 or table_3",
            ),
            text_only=True,
        ),
    ],
    "lrworld": [Step("lrworld.json", (f"{SUITE}.lrworld",), text_only=True)],
    "arena": [
        Step(
            "arena.json",
            (f"{SUITE}.arena", "--recsys-against=mostpop"),
            as_judge=True,
        ),
    ],
}
"""The runs of each paper, by its suite."""


def command_of(step: Step, given: argparse.Namespace) -> list[str]:
    """The command of a run, without a limit and without its record."""
    models = [] if step.text_only else list(given.beside)
    roles = [f"--recsys-model={each}" for each in models]
    if step.as_judge:
        roles.append(f"--recsys-judge={given.model}")
    else:
        roles.append(f"--recsys-model={given.model}")
    return [
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--pyargs"),
        *step.arguments,
        *roles,
        f"--recsys-data={given.data}",
        f"--recsys-cache={given.output / 'answers'}",
        "--recsys-keep=no",
        *([f"--recsys-prices={given.prices}"] if given.prices else []),
        *given.pytest,
    ]


def status_of(command: Sequence[str]) -> int:
    """Run a command, and return its exit status.

    Raises:
        KeyboardInterrupt: If Ctrl-C was pressed, once the command has ended:
            `subprocess.run` would kill it while it still keeps answers that are paid.
    """
    interrupted = False
    with subprocess.Popen(command) as process:
        while True:
            try:
                status = process.wait()
            except KeyboardInterrupt:  # the command gets it, too
                interrupted = True
            else:
                break
    if interrupted:
        raise KeyboardInterrupt
    return status


def plan(papers: Sequence[str], given: argparse.Namespace) -> None:
    """Print the plan of each run; nothing is asked.

    Raises:
        SystemExit: If one cannot be planned.
    """
    for paper in papers:
        for step in PAPERS[paper]:
            print(f"\n#### {paper}: {step.record}\n", flush=True)
            command = [*command_of(step, given), *_limit(given.usd), "--recsys-plan"]
            code = status_of(command)
            if code not in PLANNED:
                raise SystemExit(
                    f"the plan of {paper!r} ended with status {code}, so nothing was asked; the lines above say why",
                )


def spent(record: Path) -> float:
    """The dollars that the run of a record paid; a call of unknown price counts 0."""
    calls = json.loads(record.read_text(encoding="utf-8"))["calls"]
    return float(calls["usd"] or 0.0)


def run(papers: Sequence[str], given: argparse.Namespace) -> None:
    """Run the papers one after the other, and write the page of each.

    Raises:
        SystemExit: If a run breaks off, or the money is spent.
    """
    left = given.usd
    for paper in papers:
        records = []
        for step in PAPERS[paper]:
            if left is not None and left <= 0:
                raise SystemExit(
                    f"the ${given.usd:g} of --usd are spent before {step.record!r}; {_go_on(given)}",
                )
            record = given.output / step.record
            command = [*command_of(step, given), *_limit(left)]
            command.append(f"--recsys-json={record}")
            print(f"\n#### {paper}: {shlex.join(command)}\n", flush=True)
            code = status_of(command)
            if code not in FINISHED:
                raise SystemExit(
                    f"the run for {step.record!r} ended with status {code}; {_go_on(given)}",
                )
            records.append(record)
            if left is not None:
                left -= spent(record)
        page = given.output / f"{paper}.md"
        write = ["paper", paper, *map(str, records), "--output", str(page)]
        program = str(Path(sys.executable).with_name("recsys-mt"))
        if status_of([program, *write]):
            print(f"{paper}: no page; the line above says why", flush=True)


def _limit(usd: float | None) -> list[str]:
    return [] if usd is None else [f"--recsys-max-usd={usd:g}"]


def _go_on(given: argparse.Namespace) -> str:
    """What to do after a run that broke off."""
    return f"its answers are in {str(given.output / 'answers')!r}, and the same command goes on from there"


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The arguments of the command; those of pytest stand behind ``--``."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n\n")[0],
        usage="python -m benchmarks.run_papers --data DATA --model MODEL [options] [-- PYTEST ...]",
    )
    parser.add_argument("--data", required=True, help="as --recsys-data: ml-1m, FOLDER")
    parser.add_argument("--model", required=True, help="a language model: gpt-4o")
    parser.add_argument(
        "--papers",
        default=",".join(PAPERS),
        help=f"of {', '.join(PAPERS)} (default: all)",
    )
    parser.add_argument(
        "--beside",
        default=",".join(CLASSICAL),
        help="recommenders beside it (default: %(default)s)",
    )
    parser.add_argument("--usd", type=float, help="most dollars of this call of it")
    parser.add_argument("--prices", type=Path, help="as --recsys-prices")
    parser.add_argument("--output", type=Path, default=Path("papers"), metavar="FOLDER")
    parser.add_argument("--yes", action="store_true", help="do not ask before the run")
    at = list(arguments).index("--") if "--" in arguments else len(arguments)
    own, behind = arguments[:at], arguments[at + 1 :]
    given = parser.parse_args(own)
    given.pytest = behind
    given.papers = given.papers.split(",")
    given.beside = [each for each in given.beside.split(",") if each]
    unknown = [each for each in given.papers if each not in PAPERS]
    if unknown:
        parser.error(f"--papers names {unknown[0]!r}; it takes {', '.join(PAPERS)}")
    if given.usd is not None and given.usd <= 0:
        parser.error(f"--usd must be above 0, got {given.usd:g}; leave it out for none")
    return given


def main(arguments: Sequence[str] | None = None) -> None:
    """Plan, ask, run."""
    given = parsed(sys.argv[1:] if arguments is None else arguments)
    given.output.mkdir(parents=True, exist_ok=True)
    plan(given.papers, given)
    if not given.yes:
        print(f"\nRun {', '.join(given.papers)} with {given.model}? [y/N] ", end="")
        try:
            answer = input()
        except EOFError:
            answer = ""
        if answer.strip().lower() not in ("y", "yes"):
            raise SystemExit("nothing was asked; --yes runs without this question")
    try:
        run(given.papers, given)
    except KeyboardInterrupt:
        raise SystemExit(f"\nstopped; {_go_on(given)}") from None


if __name__ == "__main__":
    main()
