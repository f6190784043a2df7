"""What careless and hostile users give the program
``recsys-mt``: one line that names it, never a traceback.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import main

FILES = {
    "cut.json": b'{"schema": "recsys-mt/2", "resul',
    "list.json": b"[1, 2]",
    "other.json": b'{"a": 1}',
    "later.json": b'{"schema": "recsys-mt/9", "results": []}',
    "row.json": b'{"schema": "recsys-mt/2", "results": [{"nodeid": 5}]}',
    "deep.json": b"[" * 100_000,
    "empty.json": b"",
    "noise.bin": bytes(range(256)) * 9,
    "notes.txt": b"hello\n",
    "bad.jsonl": b'{"key": "x"}\n',
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    printed = capsys.readouterr()
    return code, printed.err


@pytest.mark.parametrize("command", ["report", "monitor"])
@pytest.mark.parametrize("name", [*FILES, "folder", "nothere.json"])
def test_what_is_no_record_is_named(
    command: str,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, error = said(capsys, command, name)
    assert code == 2
    assert error.startswith("recsys-mt: ")
    assert repr(name) in error
    assert "Traceback" not in error
    assert error.count("\n") == 1
    assert not list(Path().glob("*.html"))


@pytest.mark.parametrize(
    "name",
    ["noise.bin", "notes.txt", "bad.jsonl", "cut.json", "deep.json"],
)
def test_what_is_no_answer_is_refused(
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, error = said(capsys, "cache", "import", "--cache=kept", name)
    assert code == 1
    assert f"recsys-mt: refused: {name}:1: " in error
    assert all(line.startswith("recsys-mt: refused: ") for line in error.splitlines())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("repport other.json", "invalid choice: 'repport'*did you mean 'report'?"),
        ("cahce stats", "invalid choice: 'cahce'*did you mean 'cache'?"),
        ("parity a", "required: B"),
        ("parity a b c", "'c' is one too many"),
        ("parity a b --recsys-model=c", "--recsys-model: A is the model"),
        ("parity a b --exact --margin 5", "--margin: not allowed with argument --exact"),
        ("parity a b --margin 3", "invalid choice: '3'*1*2*5*10"),
        ("spent", "invalid choice: 'spent'*did you mean 'recsys-mt cache spent'?"),
        ("cache spent --cache nowhere", "there is no folder 'nowhere'*--cache"),
        ("cache exprt x", "invalid choice: 'exprt'*did you mean 'export'?"),
        ("bananas", "invalid choice: 'bananas'*see recsys-mt --help"),
        ("report other.json --outptu=x", "unrecognized arguments: --outptu*did you mean '--output'?"),
        ("init itemknn --ci=gitlib", "invalid choice: 'gitlib'*did you mean 'gitlab'?"),
        ("cache import nothere.jsonl --cache=kept", "'nothere.jsonl' cannot be read: No such file"),
        ("cache import folder --cache=kept", "'folder' cannot be read: Is a directory"),
        ("cache stats --cache=notes.txt", "there are no answers in 'notes.txt'; name the folder"),
        ("cache export --cache=nowhere x", "there are no answers in 'nowhere'"),
        ("cache prune --cache=kept", "say what to remove: --model, --not-in, --refused"),
        ("batch import notes.txt --batch=b.jsonl --cache=kept", "'b.calls.jsonl' cannot be read*recsys_batch"),
        ("monitor other.json --alpha=2", "'2' is not a chance above 0 and up to 0.5"),
        ("monitor other.json --alpha=nan", "'nan' is not a chance"),
        ("report .", "'.': it cannot be read: Is a directory"),
        ("monitor", "no run is kept in"),
        ("", "required: COMMAND"),
    ],
)  # fmt: skip
def test_a_wrong_command_is_answered_with_the_next_step(
    arguments: str,
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, error = said(capsys, *arguments.split())
    assert code == 2
    for part in says.split("*"):
        assert part in error
    assert "Traceback" not in error


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert not ended.value.code
    assert capsys.readouterr().out.startswith("recsys-mt 0.")
