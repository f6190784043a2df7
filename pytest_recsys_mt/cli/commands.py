"""The functions behind the commands of `recsys-mt`; the help describes each."""

# ruff: noqa: D103

import argparse
import sys
from pathlib import Path


def report(given: argparse.Namespace) -> None:
    from pytest_recsys_mt.report.html import read_record, render
    from pytest_recsys_mt.report.outputs import require_output, write_out
    from pytest_recsys_mt.safety.errors import DataError

    path: Path = given.record
    document = read_record(path)
    kept = path.suffix == ".gz"  # a kept run
    default = (
        Path(f"run-{path.parent.name}.html") if kept else path.with_suffix(".html")
    )
    output: Path = given.output or default
    require_output(output, (".html", ".htm"), [path])
    try:
        text = render(document)
    except DataError as error:
        raise DataError(f"{str(path)!r}: {error}") from error
    write_out(text, output, "report")


def log(given: argparse.Namespace) -> None:
    from pytest_recsys_mt.report.outputs import record_at
    from pytest_recsys_mt.report.trackers import send, waits

    if waiting := waits(given.to):
        print(f"recsys-mt: {waiting}", file=sys.stderr, flush=True)
    print(f"logged: {send(given.to, record_at(given.record))}")


def view(given: argparse.Namespace) -> None:
    from pytest_recsys_mt.report.many_runs import serve, view_of
    from pytest_recsys_mt.report.outputs import require_output, write_out

    require_output(given.output, (".html",), given.records)
    text = view_of(given.records, Path.cwd())
    if given.serve:
        serve(text)
    else:
        write_out(text, given.output, "page")


def runs(given: argparse.Namespace) -> None:
    from pytest_recsys_mt.report.kept import runs

    print(*runs(Path.cwd()), sep="\n")


def accept(given: argparse.Namespace) -> None:
    from pytest_recsys_mt.report.kept import accept

    print(accept(Path.cwd(), given.number))


def compare(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.report.two_runs import compare_runs

    if len(given.records) > 2:
        given.parser.error("two records are compared; recsys-mt view takes more")
    return compare_runs(given.records, given.output)


def leaderboard(given: argparse.Namespace) -> None:
    from pytest_recsys_mt.report.leaderboard.command import write_leaderboard

    write_leaderboard(given.records, given.output, given.suite, given.models)


def paper(given: argparse.Namespace) -> None:
    from pytest_recsys_mt.report.paper_tables.command import write_tables

    if given.table and given.figure:
        given.parser.error("give --table or --figure, not both")
    name = (
        f"figure-{given.figure}"
        if given.figure
        else given.table and f"table-{given.table}"
    )
    write_tables(given.suite, given.records, given.output, name)


def prompts(given: argparse.Namespace) -> None:
    from pytest_recsys_mt.extensions import paper_prompts
    from pytest_recsys_mt.llm.prompt_texts import PAPER, SHIPPED, as_toml, read
    from pytest_recsys_mt.safety.errors import DataError
    from pytest_recsys_mt.safety.files import expanded, written_or

    if given.words == PAPER:
        quoted = read(PAPER, paper_prompts())
        suites = ", ".join(quoted.suites)
        content = f"# The words of the papers of the suites {suites}, as --recsys-prompts={PAPER} sends them.\n"
        content += f"\n{as_toml(quoted.texts)}"
    else:
        content = SHIPPED.read_text(encoding="utf-8")
    if given.output is None:
        print(content, end="")
        return
    output: Path = expanded(given.output)
    if output.is_file():
        raise DataError(
            f"{str(output)!r} exists, and may hold texts of yours; name a new file",
        )
    with written_or(DataError, output, 0o644) as file:
        file.write(content)
    print(
        f"texts written to {output}; keep what you change, and name it with --recsys-prompts={output}",
    )


def comment(given: argparse.Namespace) -> None:
    from pytest_recsys_mt.report.comment import comment

    comment(given.record, given.name, given.baseline)


def answers(given: argparse.Namespace) -> None:
    from pytest_recsys_mt.report.answers_command import show_answers
    from pytest_recsys_mt.report.user_answers import show_user

    if given.user is not None:
        if given.kind:
            given.parser.error("give --user or --kind, not both")
        print("\n".join(show_user(given.records, given.user, given.limit)))
        return
    print("\n".join(show_answers(given.records, given.kind, given.limit)))


def init(given: argparse.Namespace) -> None:
    from pytest_recsys_mt.cli.starter import begin
    from pytest_recsys_mt.cli.starter.messages import lines
    from pytest_recsys_mt.cli.starter.written import write_tests
    from pytest_recsys_mt.safety.files import expanded

    folder: Path = expanded(given.folder)
    spec = "itemknn" if given.model is None else given.model
    start = begin(spec, given.data, given.ci, folder)
    kept = None
    if given.model is not None and given.tests == "written":
        kept = write_tests(start, folder)
    print(*lines(start, folder, given.model, kept), sep="\n")


def try_model(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.cli import trying

    return trying.run(given)


def monitor(given: argparse.Namespace) -> int:
    from pytest_recsys_mt.gate.monitor import monitor, records
    from pytest_recsys_mt.gate.store import Store
    from pytest_recsys_mt.report.monitored import idle, lines

    paths, store = given.records, Store.around(Path.cwd())
    if not paths:
        paths = [kept.record for kept in store.like_the_latest()]
        if store.runs()[0].number > 1:
            print(
                "recsys-mt: earlier runs are kept no more, and neither are their alarms",
                file=sys.stderr,
            )
    nights = records(paths, skip=not given.records)
    findings = monitor(nights, given.alpha, change=given.change)
    print(*lines(nights, findings, given.alpha, given.change), sep="\n")
    if any(found.alarm is not None for found in findings):
        return 1
    if not any(found.users[-1] for found in findings):
        print(f"recsys-mt: {idle(nights, given.change)}", file=sys.stderr)
        return 2
    return 0
