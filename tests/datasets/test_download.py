from __future__ import annotations

import hashlib
import io
import shutil
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import load
from tests.datasets import files
from tests.support.datasets import SOURCES, Source, data_directory, download, obtain

PATH = "movielens/ml-1m.zip"


def archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as content:
        for name, text in files.MOVIELENS_1M.items():
            # A ZipInfo has one fixed date: workers that start at different seconds must
            # agree.
            content.writestr(zipfile.ZipInfo(f"ml-1m/{name}"), text)
    return buffer.getvalue()


ARCHIVE = archive()
MD5 = hashlib.md5(ARCHIVE).hexdigest()
SHA256 = hashlib.sha256(ARCHIVE).hexdigest()


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {
            f"/{PATH}": ARCHIVE,
            f"/{PATH}.md5": f"MD5 (ml-1m.zip) = {MD5}\n".encode(),
        }
        self.asked: list[str] = []
        self.missing_bytes = 0
        self.length: str | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        server.asked.append(self.path)
        content = server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        length = str(len(content)) if server.length is None else server.length
        if length:
            self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(content[: len(content) - server.missing_bytes])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.mark.parametrize("digest", [f"md5:{MD5}", f"sha256:{SHA256}", None])
def test_a_set_that_is_not_there_is_downloaded_once(
    server: Server,
    tmp_path: Path,
    digest: str | None,
) -> None:
    source = Source(PATH, digest)
    folder = obtain("ml-1m", tmp_path / "new", source=source, base_url=server.url)
    assert len(load(folder).interactions) == 3
    assert (
        obtain("ml-1m", tmp_path / "new", source=source, base_url=server.url) == folder
    )
    assert server.asked == [f"/{PATH}"] if digest else [f"/{PATH}.md5", f"/{PATH}"]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        ".ml-1m.lock",
        "ml-1m",
    ]


def test_archives_without_a_top_folder_are_unpacked_too(
    server: Server,
    tmp_path: Path,
) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as content:
        for name, text in files.LASTFM.items():
            content.writestr(name, text)
    server.files["/x.zip"] = buffer.getvalue()
    source = Source("x.zip", f"md5:{hashlib.md5(buffer.getvalue()).hexdigest()}")
    assert (
        len(load(obtain("lastfm", tmp_path, source=source, base_url=server.url)).items)
        == 3
    )


def test_a_named_set_is_loaded_from_where_it_is_kept(tmp_path: Path) -> None:
    files.write(tmp_path / "ml-1m", files.MOVIELENS_1M)
    assert load("ml-1m", cache_dir=tmp_path).name == "ml-1m"


def test_a_named_set_is_looked_for_where_the_environment_says(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files.write(tmp_path / "ml-100k", files.MOVIELENS_100K)
    monkeypatch.setenv("RECSYS_MT_DATA", str(tmp_path))
    assert len(load("ml-100k").items) == 3


def test_without_a_word_data_are_kept_in_the_user_s_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RECSYS_MT_DATA", raising=False)
    assert data_directory().parts[-2:] == ("pytest-recsys-mt", "data")


def nothing_is_left(folder: Path) -> bool:
    return [path.name for path in folder.iterdir()] == [".ml-1m.lock"]


@pytest.mark.parametrize("digest", ["md5:" + "0" * 32, "sha256:" + "0" * 64])
def test_another_digest_is_an_error(
    server: Server,
    tmp_path: Path,
    digest: str,
) -> None:
    with pytest.raises(DataError, match=f"published one is {digest}"):
        obtain("ml-1m", tmp_path, source=Source(PATH, digest), base_url=server.url)
    assert nothing_is_left(tmp_path)


def test_a_published_digest_that_differs_is_an_error(
    server: Server,
    tmp_path: Path,
) -> None:
    server.files[f"/{PATH}.md5"] = b"0" * 32
    with pytest.raises(DataError, match=f"has the digest md5:{MD5}"):
        obtain("ml-1m", tmp_path, source=Source(PATH, None), base_url=server.url)
    server.files[f"/{PATH}.md5"] = b"<html>moved</html>"
    with pytest.raises(DataError, match="holds no MD5 digest but '<html>moved"):
        obtain("ml-1m", tmp_path, source=Source(PATH, None), base_url=server.url)
    assert nothing_is_left(tmp_path)


def test_a_download_that_breaks_off_is_an_error(server: Server, tmp_path: Path) -> None:
    server.missing_bytes = 10
    with pytest.raises(DataError, match=r"cut off after|broke off"):
        obtain(
            "ml-1m",
            tmp_path,
            source=Source(PATH, f"md5:{MD5}"),
            base_url=server.url,
        )
    assert nothing_is_left(tmp_path)


@pytest.mark.parametrize(
    ("length", "problem"),
    [
        ("abc", "Content-Length of 'abc', which is not a number of bytes"),
        ("-5", "Content-Length of '-5'"),
        ("1e3", "Content-Length of '1e3'"),
        ("1, 2", "Content-Length of '1, 2'"),
        ("9" * 4000, "Content-Length of '999"),
        (str(10**12), "has more than 10,000,000 bytes"),
        (str(len(ARCHIVE) + 5), "cut off after"),
        (str(len(ARCHIVE) - 5), "has the digest"),
        ("0", "has the digest"),
    ],
)
def test_a_length_that_is_not_true_is_an_error(
    server: Server,
    tmp_path: Path,
    length: str,
    problem: str,
) -> None:
    server.length = length
    with pytest.raises(DataError, match=problem):
        obtain(
            "ml-1m",
            tmp_path,
            source=Source(PATH, f"md5:{MD5}"),
            base_url=server.url,
        )
    assert nothing_is_left(tmp_path)


@pytest.mark.parametrize("length", [None, ""])
def test_a_file_has_a_limit_whether_or_not_its_length_is_said(
    server: Server,
    tmp_path: Path,
    length: str | None,
) -> None:
    server.length = length
    source = Source(PATH, f"md5:{MD5}", len(ARCHIVE))
    shutil.rmtree(obtain("ml-1m", tmp_path, source=source, base_url=server.url))
    smaller = Source(PATH, f"md5:{MD5}", len(ARCHIVE) - 1)
    with pytest.raises(
        DataError,
        match=r"more than .* bytes, .* get it by other means",
    ):
        obtain("ml-1m", tmp_path, source=smaller, base_url=server.url)
    assert nothing_is_left(tmp_path)


def test_without_network_the_error_names_the_address_and_where_to_put_a_copy(
    server: Server,
    tmp_path: Path,
) -> None:
    with pytest.raises(DataError) as caught:
        obtain(
            "ml-1m",
            tmp_path,
            source=Source("gone.zip", "md5:0"),
            base_url=server.url,
        )
    assert f"{server.url}gone.zip cannot be downloaded" in str(caught.value)
    assert str(tmp_path / "gone.zip") in str(caught.value)
    server.server_close()
    server.shutdown()
    with pytest.raises(DataError, match=f"{server.url}{PATH} cannot be downloaded"):
        obtain(
            "ml-1m",
            tmp_path,
            source=Source(PATH, f"md5:{MD5}"),
            base_url=server.url,
        )


def test_a_copy_put_there_by_hand_is_checked_and_used(tmp_path: Path) -> None:
    (tmp_path / "ml-1m.zip").write_bytes(ARCHIVE)
    folder = obtain(
        "ml-1m",
        tmp_path,
        source=Source(PATH, f"md5:{MD5}"),
        base_url="http://[::1]:1/",
    )
    assert len(load(folder).interactions) == 3

    other = tmp_path / "other"
    files.write(other, {"ml-1m.zip": ARCHIVE + b"x"})
    with pytest.raises(DataError, match=r"ml-1m\.zip has the digest"):
        obtain("ml-1m", other, source=Source(PATH, f"md5:{MD5}"))


def test_an_unsafe_archive_leaves_no_dataset(server: Server, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as content:
        content.writestr("../evil", "x")
    server.files[f"/{PATH}"] = buffer.getvalue()
    digest = f"md5:{hashlib.md5(buffer.getvalue()).hexdigest()}"
    with pytest.raises(DataError, match=r"member '\.\./evil'"):
        obtain("ml-1m", tmp_path, source=Source(PATH, digest), base_url=server.url)
    assert not (tmp_path / "ml-1m").exists()
    assert not (tmp_path.parent / "evil").exists()


def test_a_data_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="RECSYS_MT_DATA"):
        obtain("ml-1m", tmp_path / "file" / "below")


def test_workers_that_ask_at_once_download_once(server: Server, tmp_path: Path) -> None:
    source = Source(PATH, f"md5:{MD5}")
    folders: list[Path] = []

    def ask() -> None:
        folders.append(obtain("ml-1m", tmp_path, source=source, base_url=server.url))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert folders == [tmp_path / "ml-1m"] * 4
    assert server.asked == [f"/{PATH}"]


def test_all_official_addresses_are_archives_with_sound_digests() -> None:
    for source in SOURCES.values():
        assert (download.BASE_URL + source.path).startswith(
            "https://files.grouplens.org/",
        )
        if source.digest is not None:
            algorithm, _, digest = source.digest.partition(":")
            assert len(bytes.fromhex(digest)) == hashlib.new(algorithm).digest_size


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_line_on_a_terminal_and_nothing_elsewhere(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr("sys.stderr", stream)
        obtain(
            f"{stream.isatty()}",
            tmp_path,
            source=Source(PATH, f"md5:{MD5}"),
            base_url=server.url,
        )
        shown = stream.getvalue()
        assert (
            ("ml-1m.zip: 100%" in shown and shown.endswith("\n"))
            if stream.isatty()
            else not shown
        )
