from __future__ import annotations

import contextlib
import random
import re
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_recsys_mt import DataError
from tests.support.datasets import Limits, extract

TEXT = b"1::1193::5::978300760\n" * 50


def zipped(
    path: Path,
    members: dict[str, bytes],
    change: Callable[..., None] | None = None,
) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            if change is not None:
                change(info)
            archive.writestr(info, content)
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "target").mkdir()
    return tmp_path / "target"


def refused(
    archive: Path,
    target: Path,
    member: str,
    problem: str,
    **limits: float,
) -> None:
    with pytest.raises(
        DataError,
        match=re.escape(f"{archive.name}', member {member!r}: "),
    ) as error:
        extract(archive, target, Limits(**limits))  # type: ignore[arg-type]
    assert problem in str(error.value)
    assert {path.name for path in target.parent.iterdir()} <= {"target", archive.name}


def test_archives_are_unpacked(tmp_path: Path, target: Path) -> None:
    archive = zipped(
        tmp_path / "a",
        {"ml-1m/ratings.dat": TEXT, "ml-1m/deep/README": b""},
    )
    extract(archive, target)
    assert (target / "ml-1m" / "ratings.dat").read_bytes() == TEXT
    assert (target / "ml-1m" / "deep" / "README").read_bytes() == b""


def test_folders_in_archives_are_made(tmp_path: Path, target: Path) -> None:
    archive = zipped(tmp_path / "a.zip", {"ml-1m/": b""})
    extract(archive, target)
    assert (target / "ml-1m").is_dir()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("../evil", "leaves the folder"),
        ("a/../../evil", "leaves the folder"),
        ("/tmp/evil", "absolute"),
        ("C:/evil", "absolute"),
        ("..\\evil", "backslash"),
        ("..", "leaves the folder"),
        (".", "has no name"),
    ],
)
def test_paths_out_of_the_folder_are_refused(
    name: str,
    problem: str,
    tmp_path: Path,
    target: Path,
) -> None:
    refused(zipped(tmp_path / "a", {"fine": TEXT, name: TEXT}), target, name, problem)


def test_links_are_refused(tmp_path: Path, target: Path) -> None:
    def linked_zip(info: zipfile.ZipInfo) -> None:
        info.create_system = 3
        info.external_attr = (stat.S_IFLNK | 0o777) << 16

    refused(
        zipped(tmp_path / "a.zip", {"l": b"/etc"}, linked_zip),
        target,
        "l",
        "a link",
    )


def test_zip_bombs_are_refused(tmp_path: Path, target: Path) -> None:
    archive = zipped(tmp_path / "a", {"bomb": bytes(3 << 20)})
    refused(archive, target, "bomb", "zip bomb", grace=1000)
    assert sum(path.stat().st_size for path in target.iterdir()) <= 3 << 20


def test_a_member_without_a_name_is_refused(tmp_path: Path, target: Path) -> None:
    archive = zipped(tmp_path / "a.zip", {"fine": TEXT, "e": TEXT})
    data = archive.read_bytes()
    entry = data.rindex(
        b"PK\1\2",
    )  # of the last member; 28 bytes on stands the length of its name
    end = bytearray(data[data.rindex(b"PK\5\6") :])
    end[12] -= 1  # the length of all entries
    nameless = data[entry : entry + 28] + b"\0\0" + data[entry + 30 : entry + 46]
    archive.write_bytes(data[:entry] + nameless + end)
    refused(archive, target, "", "has no name")


def test_many_small_members_are_a_bomb_too(tmp_path: Path, target: Path) -> None:
    archive = zipped(
        tmp_path / "a",
        {str(number): bytes(1000) for number in range(100)},
    )
    with pytest.raises(DataError, match="zip bomb"):
        extract(archive, target, Limits(grace=1000, ratio=2))
    assert sum(path.stat().st_size for path in target.iterdir()) < 50_000


def test_bytes_at_random_are_an_archive_or_an_error(
    tmp_path: Path,
    target: Path,
) -> None:
    whole = zipped(
        tmp_path / "a",
        {"ml-1m/ratings.dat": TEXT, "ml-1m/é": b"x"},
    ).read_bytes()
    rng = random.Random(0)
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(rng.randrange(1, 5)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        (tmp_path / "a").write_bytes(damaged)
        with contextlib.suppress(DataError):
            extract(tmp_path / "a", target)
        shutil.rmtree(target)
        target.mkdir()


def test_the_total_is_limited(tmp_path: Path, target: Path) -> None:
    archive = zipped(tmp_path / "a", {"a": TEXT, "b": TEXT})
    refused(archive, target, "b", "more than", total=len(TEXT) + 10)


def test_a_zip_member_that_declares_too_little_is_refused(
    tmp_path: Path,
    target: Path,
) -> None:
    archive = zipped(tmp_path / "a.zip", {"liar": TEXT})
    data = archive.read_bytes().replace(
        len(TEXT).to_bytes(4, "little"),
        (5).to_bytes(4, "little"),
    )
    archive.write_bytes(data)
    refused_as_damaged(archive, target, "liar")
    assert (target / "liar").stat().st_size <= 5


def refused_as_damaged(archive: Path, target: Path, member: str) -> None:
    with pytest.raises(DataError, match=f"member '{member}' is no sound zip file"):
        extract(archive, target)


def test_the_number_of_members_is_limited(tmp_path: Path, target: Path) -> None:
    archive = zipped(tmp_path / "a", {"a": b"", "b": b"", "c": b""})
    refused(archive, target, "c", "more than 2 members", members=2)


def test_a_member_twice_is_refused(tmp_path: Path, target: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("same", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("same", "2")
    refused(tmp_path / "a", target, "same", "twice")


def test_encrypted_members_are_refused(tmp_path: Path, target: Path) -> None:
    archive = zipped(tmp_path / "a.zip", {"secret": TEXT})
    data = bytearray(archive.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(data)
    refused(archive, target, "secret", "encrypted")


def test_truncated_archives_are_refused(tmp_path: Path, target: Path) -> None:
    noise = random.Random(0).randbytes(30_000)
    archive = zipped(tmp_path / "a.zip", {"a": noise})
    archive.write_bytes(archive.read_bytes()[:-40])
    with pytest.raises(DataError, match="no sound zip file, or cut off"):
        extract(archive, target)


def test_a_damaged_member_is_named(tmp_path: Path, target: Path) -> None:
    archive = zipped(tmp_path / "a.zip", {"fine": b"x", "broken": TEXT})
    data = bytearray(archive.read_bytes())
    start = data.index(b"broken") + len(b"broken")
    data[start : start + 8] = b"\xff" * 8
    archive.write_bytes(data)
    refused_as_damaged(archive, target, "broken")


def test_other_files_are_no_archives(tmp_path: Path, target: Path) -> None:
    (tmp_path / "a").write_bytes(b"<html>")
    with pytest.raises(DataError, match="no sound zip file"):
        extract(tmp_path / "a", target)
