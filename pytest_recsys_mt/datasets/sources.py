"""The official sources of the named datasets.

The digests that are verified:

* ``ml-100k``, ``ml-1m``, ``ml-10m``, ``ml-25m``: the MD5 that GroupLens publishes
  with each archive (``ml-1m.zip.md5``). It is stored here, so that a changed archive
  is detected.
* ``ml-latest-small``, ``ml-latest``: GroupLens replaces these archives from time to
  time, so the MD5 is downloaded from its folder.  It detects a damaged
  download, not a false server.  A copy that was placed by hand is not verified.
* ``lastfm``: no digest of GroupLens is known; independent public copies agree on the SHA-256 here.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """The source of a named dataset."""

    path: str  # of the archive, below `download.BASE_URL`
    # ``md5:...`` or ``sha256:...``; None if a file next to the archive holds the MD5.
    digest: str | None
    most: int = 10_000_000  # bytes, about twice the size of the archive


SOURCES: Mapping[str, Source] = {
    "ml-latest-small": Source("movielens/ml-latest-small.zip", None),
    "ml-latest": Source("movielens/ml-latest.zip", None, 2_000_000_000),
    "ml-100k": Source("movielens/ml-100k.zip", "md5:0e33842e24a9c977be4e0107933c0723"),
    "ml-1m": Source("movielens/ml-1m.zip", "md5:c4d9eecfca2ab87c1945afe126590906"),
    "ml-10m": Source(
        "movielens/ml-10m.zip",
        "md5:ce571fd55effeba0271552578f2648bd",
        130_000_000,
    ),
    "ml-25m": Source(
        "movielens/ml-25m.zip",
        "md5:6b51fb2759a8657d3bfcbfc42b592ada",
        530_000_000,
    ),
    "lastfm": Source(
        "hetrec2011/hetrec2011-lastfm-2k.zip",
        "sha256:6738f48195667ff03caaab4d32ca9a3133d8cc026b7c3cdaf6ce1010e913c59c",
    ),
}

BY_HAND: Mapping[str, str] = {
    "netflix": "https://www.kaggle.com/datasets/netflix-inc/netflix-prize-data",
    "amazon": "https://cseweb.ucsd.edu/~jmcauley/datasets/amazon_v2/",
}
"""Names that are not downloaded, and the sources of their files."""
