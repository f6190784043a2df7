"""MovieLens 100K, from the folder of data or from the wheel
of RecBole, which brings it as an example.
"""

from __future__ import annotations

import csv
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pytest_recsys_mt.datasets import Dataset, load
from tests.support.datasets import data_directory, descriptions

WHEEL = "recbole==1.2.1"
INSIDE = "recbole/dataset_example/ml-100k/ml-100k"
DIGEST = "4edb74e2a81178c2ba9ff381495f754f996c4aea351b1272ca36b43da0935eff"
"""SHA-256 of the interactions in the wheel; they are
those of GroupLens in another order.
"""


def movielens_100k(folder: Path) -> Dataset:
    """The data; the test that calls this is skipped if they cannot be had.

    Args:
        folder: An empty folder for what is downloaded.
    """
    there = data_directory() / "ml-100k"
    return load(str(there if there.is_dir() else _from_wheel(folder)))


def _from_wheel(folder: Path) -> Path:
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--quiet",
        "-d",
        str(folder),
        WHEEL,
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    wheels = list(folder.glob("*.whl"))
    if not wheels:
        last = (done.stderr.strip().splitlines() or ["no wheel"])[-1]
        pytest.skip(
            f"MovieLens 100K is neither in the folder of data nor in pip's reach: {last}",
        )
    with zipfile.ZipFile(wheels[0]) as wheel:
        interactions = wheel.read(f"{INSIDE}.inter")
        films = wheel.read(f"{INSIDE}.item").decode("utf-8").splitlines()[1:]
        users = wheel.read(f"{INSIDE}.user").decode("utf-8").splitlines()[1:]
    assert hashlib.sha256(interactions).hexdigest() == DIGEST
    made = folder / "ml-100k"
    made.mkdir()
    (made / "u.data").write_bytes(interactions.partition(b"\n")[2])
    form = next(form for form in descriptions() if form.name == "MovieLens 100K")
    assert form.items is not None
    genres_of_flags = form.items.flags["genres"]
    lines = []
    for item, title, year, genres in csv.reader(
        films,
        delimiter="\t",
        quoting=csv.QUOTE_NONE,
    ):
        flags = ["1" if genre in genres.split() else "0" for genre in genres_of_flags]
        lines.append(
            "|".join(
                [item, f"{title} ({year})" if year else title, "", "", "", *flags],
            ),
        )
    (made / "u.item").write_text("\n".join(lines), encoding="latin-1", errors="replace")
    (made / "u.user").write_text(
        "\n".join(users).replace("\t", "|"),
        encoding="latin-1",
    )
    return made
