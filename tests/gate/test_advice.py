"""What a message tells users to remove is the broken thing
itself, never what else may lie beside it.
"""

from pathlib import Path

import pytest

from pytest_recsys_mt import CacheError, DataError, PolicyError
from pytest_recsys_mt.datasets import load
from tests.support.gate import document_in
from tests.support.safety import require_own

BROKEN = {"not packed": b"{", "not a record": b"\x1f\x8b nonsense"}


def advice(path: Path) -> str:
    with pytest.raises(PolicyError) as raised:
        document_in(path)
    return str(raised.value)


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize(
    "place",
    ["x.json.gz", "record.json.gz", "7/record.json.gz", "runs/7/record.json.gz"],
)
def test_of_a_packed_record_that_is_no_kept_run_the_file_alone_is_named(
    place: str,
    content: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = Path(place)
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    said = advice(path)
    assert f"remove the file {str(path)!r}" in said
    assert "folder" not in said


def test_a_packed_record_that_is_too_large_is_named_itself(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_recsys_mt.gate.baseline.MOST_DATA", 10)
    monkeypatch.chdir(tmp_path)
    Path("x.json.gz").write_bytes(b"x" * 100)
    assert "remove the file 'x.json.gz'" in advice(Path("x.json.gz"))


def test_of_a_kept_run_its_folder_is_named_wherever_it_is_read_from(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / ".recsys" / "runs" / "7"
    folder.mkdir(parents=True)
    (folder / "record.json.gz").write_bytes(b"{")
    monkeypatch.chdir(folder)
    assert f"remove the folder of this kept run, {str(folder)!r}" in advice(
        Path("record.json.gz"),
    )


def test_files_that_users_obtained_by_hand_are_not_to_be_deleted(
    tmp_path: Path,
) -> None:
    (tmp_path / "netflix").mkdir()
    (tmp_path / "netflix" / "nf_prize_dataset.tar.gz").write_bytes(b"theirs")
    with pytest.raises(DataError) as raised:
        load("netflix", cache_dir=tmp_path)
    assert "put those of" in str(raised.value)
    assert "delete" not in str(raised.value)


def test_of_a_link_not_what_it_leads_to_is_removed(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    with pytest.raises(CacheError, match="remove it, not what it leads to"):
        require_own(link)
