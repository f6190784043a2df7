"""The download of the named datasets from their official sources."""

import hashlib
import os
import re
import shutil
import tempfile
import urllib.error
import urllib.request
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock
from tqdm import tqdm

from pytest_recsys_mt.datasets.archives import extract
from pytest_recsys_mt.datasets.sources import SOURCES, Source
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.files import cache_folder, expanded

BASE_URL = "https://files.grouplens.org/datasets/"
TIMEOUT = 30.0
"""Seconds without a byte after which a download is given up."""
_CHUNK = 1 << 18


def data_directory() -> Path:
    """Where named datasets are kept: ``RECSYS_MT_DATA``, else
    ``data`` in the project's cache folder.
    """
    chosen = os.environ.get("RECSYS_MT_DATA")
    if chosen:
        return expanded(chosen)
    return cache_folder() / "data"


def obtain(
    name: str,
    directory: Path,
    *,
    source: Source | None = None,
    base_url: str = BASE_URL,
) -> Path:
    """The folder of a named dataset, downloaded if it is missing. Processes wait for
    each other.

    Args:
        name: The name, which the folder has.
        directory: Holds the folder. An archive that was placed there by hand, under its
            official name, is unpacked in place of a downloaded one.
        source: The archive; by default that of the name.
        base_url: The address below which the archive is.

    Raises:
        DataError: If there is no network, the archive is not the published one, or it
            is unsafe.
    """
    source = source or SOURCES[name]
    folder = directory / name
    if folder.is_dir():
        return folder
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with FileLock(directory / f".{name}.lock"):
            if not folder.is_dir():
                _install(source, folder, base_url)
    except OSError as problem:
        raise DataError(
            f"dataset {name!r} cannot be kept in {str(directory)!r}: {problem}; choose another "
            f"folder with the environment variable RECSYS_MT_DATA",
        ) from problem
    return folder


def _install(source: Source, folder: Path, base_url: str) -> None:
    """Unpack the archive; the folder appears only when it is complete."""
    archive = folder.parent / Path(source.path).name
    if archive.is_file():
        if source.digest is not None:
            algorithm, _, _ = source.digest.partition(":")
            with archive.open("rb") as stream:
                digest = hashlib.file_digest(stream, algorithm)
            _verify(digest, source.digest, str(archive))
    else:
        download(base_url + source.path, archive, source.digest, source.most)
    with tempfile.TemporaryDirectory(
        dir=folder.parent,
        prefix=f".{folder.name}-",
    ) as scratch:
        unpacked = Path(scratch) / folder.name
        unpacked.mkdir()
        extract(archive, unpacked)
        inside = [path for path in unpacked.iterdir() if path.name != "__MACOSX"]
        if len(inside) == 1 and inside[0].is_dir():
            unpacked = inside[0]
        shutil.move(unpacked, folder)
    archive.unlink()


def download(url: str, target: Path, digest: str | None, most: int) -> None:
    """Download one file of at most `most` bytes; it appears only when it is complete
    and verified.

    A `digest` is ``md5:...`` or ``sha256:...``; None takes the MD5 from the file
    ``URL.md5``.

    Raises:
        DataError: If the address cannot be reached, the file is cut off or too long, or
            its digest differs.
    """
    help_text = f"get it by other means and put it at {str(target)!r}"
    too_long = f"{url} has more than {most:,} bytes, so it is not the official file; {help_text}"
    if digest is None:
        digest = _published_md5(url, help_text)
    algorithm, _, _ = digest.partition(":")
    total = hashlib.new(algorithm, usedforsecurity=False)
    handle, part = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(handle, "wb") as sink, _open(url, help_text) as response:
            length = _length(response, url, help_text)
            if length > most:
                raise DataError(too_long)
            done = 0
            with tqdm(
                desc=target.name,
                total=length or None,
                unit="B",
                unit_scale=True,
                disable=None,
            ) as progress:
                while chunk := _chunk(response, url, help_text):
                    if done + len(chunk) > most:
                        raise DataError(too_long)
                    sink.write(chunk)
                    total.update(chunk)
                    done += len(chunk)
                    progress.update(len(chunk))
        if length and done != length:
            raise DataError(
                f"{url} was cut off after {done:,} of {length:,} bytes; {help_text}",
            )
        _verify(total, digest, url)
        os.replace(part, target)
    finally:
        Path(part).unlink(missing_ok=True)


def _published_md5(url: str, help_text: str) -> str:
    """The digest in the file next to the archive, as ``md5:...``."""
    with _open(url + ".md5", help_text) as response:
        text = response.read(4096).decode("ascii", "replace")
    match = re.search(r"\b[0-9a-fA-F]{32}\b", text)
    if match is None:
        raise DataError(f"{url}.md5 holds no MD5 digest but {text[:80]!r}; {help_text}")
    return f"md5:{match[0].lower()}"


def _open(url: str, help_text: str) -> HTTPResponse:
    request = urllib.request.Request(url, headers={"User-Agent": "pytest-recsys-mt"})
    try:
        response: HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT)
    except (OSError, HTTPException) as problem:
        if isinstance(problem, urllib.error.HTTPError):
            problem.close()
        raise DataError(
            f"{url} cannot be downloaded ({problem}); {help_text}",
        ) from problem
    if urlsplit(response.url).scheme != urlsplit(url).scheme:
        response.close()
        raise DataError(f"{url} leads to {response.url}, another scheme; {help_text}")
    return response


def _length(response: HTTPResponse, url: str, help_text: str) -> int:
    """The length that the server reports, in bytes; 0 if it reports none."""
    length = response.headers.get("Content-Length", "0").strip()
    if not re.fullmatch(r"[0-9]{1,18}", length):
        raise DataError(
            f"{url} is said to have a Content-Length of {length[:80]!r}, which is not a number of bytes: the "
            f"server, or a proxy before it, is broken; try again later, or {help_text}",
        )
    return int(length)


def _chunk(response: HTTPResponse, url: str, help_text: str) -> bytes:
    try:
        return response.read(_CHUNK)
    except (OSError, HTTPException) as problem:
        raise DataError(f"{url} broke off ({problem}); {help_text}") from problem


def _verify(total: "hashlib._Hash", expected: str, what: str) -> None:
    found = f"{total.name}:{total.hexdigest()}"
    if found != expected:
        raise DataError(
            f"{what} has the digest {found}, the published one is {expected}: it is damaged or not "
            f"the official file; delete any copy of it and try again",
        )
