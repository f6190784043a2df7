"""What users name as a file may be a link, a device, a folder or
a slip; what they read may be without an end.
"""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from pytest_recsys_mt import CacheError, DataError
from tests.support.calls import lines_of
from tests.support.cli import main
from tests.support.gate import load, record_in
from tests.support.llm_prompt_texts import read as texts_in
from tests.support.safety import appended_to, files

RUN = (
    "--pyargs",
    "pytest_recsys_mt.suites.metamorphic",
    "-k",
    "candidates",
    "--recsys-users=5",
)


def put(path: Path, text: str = "new") -> None:
    with files.written_or(DataError, path) as stream:
        stream.write(text)


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    kept = tmp_path / "far"
    kept.mkdir()
    for name in ("there", "not-yet"):
        link = tmp_path / name
        link.symlink_to(kept / name)
    (kept / "there").write_text("old")
    for name in ("there", "not-yet"):
        put(tmp_path / name)
        assert (tmp_path / name).is_symlink()
        assert (kept / name).read_text() == "new"


def test_a_pipe_and_a_device_are_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    while not read:
        try:
            put(pipe)
        except DataError:  # nobody reads yet
            time.sleep(0.01)
        reader.join(0.2)
    assert read == ["new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(DataError, match="'/dev/full' cannot be written: No space left"):
        put(Path("/dev/full"), "x" * 100_000)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_link_to_itself_is_one_line(
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("loop", "loop.html", "loop.json"):
        (pytester.path / name).symlink_to(name)
    for option in ("--recsys-json=loop.json", "--recsys-html=loop.html"):
        run = pytester.runpytest_inprocess(*RUN, option, "--recsys-keep=no")
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.stderr.fnmatch_lines(
            [f"ERROR: {option.replace('=', '=*loop')[:-9]}*symbolic links*"],
        )
    (pytester.path / "r.json").write_text("{}")
    capsys.readouterr()
    for command in ("report r.json -o loop.html", "compare r.json r.json -o loop.html"):
        assert main(command.split()) == 2, command
        assert capsys.readouterr().err.startswith("recsys-mt: ")


def test_a_record_that_cannot_be_begun_is_known_before_a_call(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (pytester.path / "r.json").write_text(
        '{"schema": "recsys-mt/2", "of": "an earlier run"}',
    )

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pytest_recsys_mt.report.record.Record.write", full)
    run = pytester.runpytest_inprocess(*RUN, "--recsys-json=r.json", "--recsys-keep=no")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(
        [
            "ERROR: --recsys-json='r.json' cannot be written: No space left*another place",
        ],
    )


def test_what_the_shell_sends_to_a_file_stays_in_order(tmp_path: Path) -> None:
    code = "from pathlib import Path; from pytest_recsys_mt.safety.files import written_to\nprint('before')\n"
    code += "with written_to(Path('/dev/stdout')) as stream: stream.write('between\\n')\nprint('after')"
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "before\nbetween\nafter\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("reports", "it is a folder"),
        ("report/a.json", "did you mean 'reports'"),
        ("Reports/a.json", "did you mean 'reports'"),
        ("reprots/b/a.json", "did you mean 'reports'"),
        ("/dev/nul", "there is no such device"),
        ("/proc/a.json", "there is no such device"),
    ],
)
def test_where_no_file_can_be_is_said_and_nothing_is_made(
    tmp_path: Path,
    name: str,
    said: str,
) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "run-1").mkdir()
    with pytest.raises(DataError, match=said):
        put(tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ["reports", "run-1"]
    put(tmp_path / "run-2" / "nights" / "a.json")  # no slip, so it is made


DEEP = {
    "brackets": "a = " + "[" * 100_000,
    "lists": "a = " + "[" * 40 + "]" * 40,
    "tables": "a = " + "{b = " * 5_000,
    "a dotted key": ".".join("a" * 100_000) + " = 1",
    "a quoted key": '[gate]\nx = {"a"' + " . 'a'" * 50_000 + " = 1}",
    "a header": "[" + ".".join(["gate"] * 40) + "]",
}


@pytest.mark.parametrize("kind", DEEP)
def test_a_deep_text_is_one_line_of_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "recsys.toml"
    path.write_text(DEEP[kind])
    began = time.process_time()
    with pytest.raises(
        Exception,
        match=r"is not TOML: it nests deeper than 32 levels",
    ) as caught:
        load(path)
    assert len(str(caught.value)) < 300
    assert time.process_time() - began < 5


def test_a_wide_text_is_one_line_of_error(tmp_path: Path) -> None:
    path = tmp_path / "recsys.toml"
    path.write_text("[gate]\n" + "".join(f"k{n} = 1\n" for n in range(70_000)))
    with pytest.raises(Exception, match=r"k0") as caught:
        load(path)
    assert len(str(caught.value)) < 1000
    path.write_text("#" * (files.MOST_TEXT + 1))
    with pytest.raises(Exception, match="larger than 1 MiB"):
        load(path)


def test_what_would_be_waited_for_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "recsys.toml").symlink_to("/dev/stdin")
    for name in ("pipe", "recsys.toml"):
        with pytest.raises(Exception, match="it is a pipe or a device, no file"):
            load(tmp_path / name)


def test_what_has_no_end_is_read_in_part(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr("pytest_recsys_mt.calls.cache_files.MOST_LINE", 1000)
    monkeypatch.setattr("pytest_recsys_mt.gate.baseline.MOST_DATA", 1000)
    endless = Path("/dev/zero")
    with pytest.raises(CacheError, match="/dev/zero:1: a line of more than"):
        list(lines_of(endless))
    with pytest.raises(ValueError, match=r"cannot be read \(it is larger than 1 MiB\)"):
        texts_in(str(endless))
    with pytest.raises(Exception, match="larger than"):
        record_in(endless)


def test_without_a_home_answers_are_kept_in_a_folder_of_ones_own(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    own = tmp_path / "mine"
    monkeypatch.setattr(files, "TEMPORARY", own)

    def homeless(*_: object, **__: object) -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr("platformdirs.user_cache_path", homeless)
    assert files.cache_folder() == own
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    own.chmod(0o777)
    with pytest.raises(CacheError, match="can be written by others"):
        files.cache_folder()


def test_a_run_writes_where_its_options_lead(pytester: pytest.Pytester) -> None:
    (pytester.path / "far.json").touch()
    (pytester.path / "near.json").symlink_to("far.json")
    (pytester.path / "near.xml").symlink_to("far.xml")
    pytester.runpytest_inprocess(*RUN, "--recsys-json=near.json", "--junitxml=near.xml")
    assert record_in(pytester.path / "far.json")["models"] == ["itemknn"]
    assert "recsys-mt" in (pytester.path / "far.xml").read_text()
    assert (pytester.path / "near.xml").is_symlink()
    (pytester.path / "recsys.toml").write_text(DEEP["lists"])
    result = pytester.runpytest_inprocess(*RUN)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert len(result.errlines) < 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--recsys-json=b.json", "--recsys-baseline=b.json"), "it is the file of --recsys-baseline, which would be lost"),
        (("--recsys-json=a", "--recsys-html=./a"), "--recsys-html='a': it is the file of --recsys-json"),
        (("--recsys-json=a", "--junitxml=a"), "it is the file of --junitxml"),
        (("--junitxml=b.json", "--recsys-baseline=./b.json"), "it is the file of --recsys-baseline, which would be lost"),
        (("--recsys-json=recsys.toml",), "that is the name of a policy"),
        (("--recsys-json=a.txt",), "there is a file that --recsys-json did not write"),
        (("--recsys-html=b.json",), "there is a file that --recsys-html did not write"),
        (("--recsys-json=.recsys/runs/1/head.json",), "it would be one of the kept runs' own files"),
        (("--recsys-json=--recsys-html",), "that is an option, or standard output"),
        (("--recsys-json=-",), "standard output, which is pytest's; name a file to write"),
    ],
)  # fmt: skip
def test_no_output_takes_the_place_of_what_a_run_needs_or_writes(
    pytester: pytest.Pytester,
    options: tuple[str, ...],
    said: str,
) -> None:
    for name, text in {
        "recsys.toml": "",
        "a.txt": "mine",
        "b.json": '{"schema": "recsys-mt/9"}',
    }.items():
        (pytester.path / name).write_text(text)
    before = {path.name: path.read_text() for path in pytester.path.iterdir()}
    result = pytester.runpytest_inprocess(*RUN, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said in str(result.stderr)
    assert {path.name: path.read_text() for path in pytester.path.iterdir()} == before


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no files in memory here")
def test_a_file_in_memory_is_a_file() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for text in ("old", "new"):
            put(Path(folder, "a.json"), text)
        assert Path(folder, "a.json").read_text() == "new"
        assert os.listdir(folder) == ["a.json"]


def test_a_pipe_that_nobody_reads_holds_nothing_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="cannot be written: No such device or address"):
        put(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device or address"):
        appended_to(tmp_path / "pipe")  # GITHUB_STEP_SUMMARY


def test_prices_that_cannot_be_read_end_a_plan_too(pytester: pytest.Pytester) -> None:
    (pytester.path / "p.toml").write_text("x = '" + "1" * 100_000 + "'")
    result = pytester.runpytest_inprocess(
        *RUN,
        "--recsys-plan",
        "--recsys-prices=p.toml",
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert len(str(result.stderr)) < 1000
