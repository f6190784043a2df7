from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import load
from tests.datasets import files
from tests.support.datasets import literal


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def review(
    user: str,
    asin: str,
    rating: float,
    when: int,
    **more: Any,
) -> dict[str, Any]:
    return {
        "reviewerID": user,
        "asin": asin,
        "overall": rating,
        "unixReviewTime": when,
        "reviewText": "Nice.",
        **more,
    }


META_2014 = (
    "{'asin': 'B0001', 'title': \"Men's &quot;Slim&quot; Tie\", 'price': 9.5, 'imUrl': 'http://i/1.jpg',"
    " 'related': {'also_bought': ['B0002']}, 'salesRank': {'Clothing': 7}, 'brand': 'Acme',"
    " 'categories': [['Clothing', 'Men', 'Ties'], ['Gifts']]}\n"
    "{'asin': 'B0009', 'title': 'Nobody bought this', 'categories': [['Clothing']]}\n"
    "{'asin': 'B0002', 'description': 'Black\\nhat', 'categories': [['Clothing', 'Hats']]}\n"
)
REVIEWS = lines(review("A1", "B0001", 5.0, 1000), review("A2", "B0002", 3.0, 2000))
META_2018 = lines(
    {
        "asin": "B0001",
        "title": "Red &amp; Blue  Tie",
        "brand": "by\n    \n    Acme",
        "category": ["Clothing", "Ties &amp; Bows", "<span>3 cm</span>"],
        "description": ["<p>Silk.</p>", "Long."],
        "feature": ["Silk", "Machine <b>wash</b>"],
        "imageURL": ["http://i/1.jpg", "http://i/2.jpg"],
    },
    {
        "asin": "B0002",
        "title": "var aPageStart = (new Date()).getTime();",
        "category": [],
    },
)


def test_the_set_of_2014_has_python_literals(tmp_path: Path) -> None:
    dataset = load(
        files.write(
            tmp_path,
            {
                "reviews_Clothing_5.json.gz": gzip.compress(REVIEWS.encode()),
                "meta_Clothing.json.gz": gzip.compress(META_2014.encode()),
            },
        ),
    )
    assert list(dataset.interactions.itertuples(index=False, name=None)) == [
        ("A1", "B0001", 5.0, 1000),
        ("A2", "B0002", 3.0, 2000),
    ]
    assert dataset.items["B0001"].title == 'Men\'s "Slim" Tie'
    assert dataset.items["B0001"].attributes == {
        "brand": "Acme",
        "categories": ("Clothing", "Men", "Ties"),
        "image_url": "http://i/1.jpg",
    }
    assert dataset.items["B0002"].attributes["description"] == "Black hat"
    assert list(dataset.items) == ["B0001", "B0002"]


def test_the_set_of_2018_counts_a_user_and_product_once(tmp_path: Path) -> None:
    black, white = {"Color:": " Black"}, {"Color:": " White", "Size:": " L"}
    reviews = lines(
        review("A1", "B0001", 1.0, 3000, style=white),
        review("A1", "B0001", 5.0, 1000, style=black),
        review(
            "A2",
            "B0001",
            4.0,
            1000,
            style=black,
            vote="2",
            image=["http://i/r.jpg"],
        ),
        review("A2", "B0002", 2.0, 1001),
        review("A2", "B0003", 2.0, 1002),
    )
    dataset = load(
        files.write(tmp_path, {"Ties_5.json": reviews, "meta_Ties.json": META_2018}),
    )
    assert list(dataset.interactions.itertuples(index=False, name=None)) == [
        ("A1", "B0001", 1.0, 3000),
        ("A2", "B0001", 4.0, 1000),
        ("A2", "B0002", 2.0, 1001),
        ("A2", "B0003", 2.0, 1002),
    ]
    tie = dataset.items["B0001"]
    assert tie.title == "Red & Blue Tie"
    assert tie.attributes == {
        "brand": "Acme",
        "categories": ("Clothing", "Ties & Bows"),
        "description": "Silk. Long.",
        "features": ("Silk", "Machine wash"),
        "image_url": "http://i/1.jpg",
        "colour": "Black",
    }
    assert dataset.items["B0002"].label == "B0002", "a script is no title"
    assert dataset.items["B0003"].attributes == {}


def test_the_berkeley_objects_add_pictures_and_colours(tmp_path: Path) -> None:
    listings = lines(
        {
            "item_id": "B0001",
            "brand": [{"language_tag": "en_IN", "value": "Other"}],
            "color": [
                {"language_tag": "de_DE", "value": "Rot"},
                {"language_tag": "en_US", "value": "Red"},
            ],
            "main_image_id": "81a",
        },
        {
            "item_id": "B0002",
            "item_name": [{"language_tag": "nl_NL", "value": "Hoed"}],
            "main_image_id": "81b",
            "node": [{"node_id": 5, "node_name": "/Categories/Fashion/Hats"}],
        },
        {"item_id": "B0008", "main_image_id": "81c"},
    )
    images = "image_id,height,width,path\n81a,10,10,aa/1.jpg\n81b,10,10,bb/2.jpg\n81c,1,1,c/3.jpg\n"
    files.write(tmp_path, {"Ties_5.json": REVIEWS, "meta_Ties.json": META_2018})
    files.write(
        tmp_path / "listings" / "metadata",
        {"listings_0.json.gz": gzip.compress(listings.encode())},
    )
    files.write(
        tmp_path / "images" / "metadata",
        {"images.csv.gz": gzip.compress(images.encode())},
    )
    files.write(tmp_path / "images" / "small" / "aa", {"1.jpg": b"picture"})
    items = load(tmp_path).items
    assert items["B0001"].attributes["image"] == str(tmp_path / "images/small/aa/1.jpg")
    assert items["B0001"].attributes["colour"] == "Red"
    assert items["B0001"].attributes["brand"] == "Acme", (
        "the reviews' own metadata come first"
    )
    assert items["B0002"].title == "Hoed"
    assert items["B0002"].attributes == {"categories": ("Fashion", "Hats")}, (
        "no such picture here"
    )


@pytest.mark.parametrize(
    "line",
    [
        "__import__('os').system('true')",
        "{'asin': open('/etc/passwd').read()}",
        "{'asin': 'B' * 3}",
        "{'asin': ",
        "(" * 5000,
        "[" * 500_000,
    ],
)
def test_a_literal_is_never_run(line: str) -> None:
    with pytest.raises(ValueError, match=r"literal|malformed|nested"):
        literal(line)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("Ties_5.json", "['A1']\n", r"line 1: .* is not a record"),
        ("Ties_5.json", REVIEWS + '{"asin": "B0001"}\n', r"line 3: no 'user' among"),
        (
            "Ties_5.json",
            lines(review("A1", "B0001", 9, 1)),
            r"line 1: rating 9 is outside",
        ),
        ("Ties_5.json", "\n", "has no rows"),
        ("meta_Ties.json", "[1, 2]\n", "line 1: .* is not a record"),
        ("meta_Ties.json", "{'title': 'x'}\n", "line 1: no 'item' among"),
        (
            "meta_Ties.json",
            '{"asin": "B0001", "a": ' + "1" * (4 << 20),
            "line 1: longer than",
        ),
    ],
)
def test_a_wrong_line_is_named(
    tmp_path: Path,
    name: str,
    content: str,
    said: str,
) -> None:
    files.write(
        tmp_path,
        {"Ties_5.json": REVIEWS, "meta_Ties.json": META_2018, name: content},
    )
    with pytest.raises(DataError, match=said):
        load(tmp_path)


def test_a_cut_off_file_is_named(tmp_path: Path) -> None:
    packed = gzip.compress(REVIEWS.encode())
    files.write(tmp_path, {"Ties_5.json.gz": packed[:-9], "meta_Ties.json": META_2018})
    with pytest.raises(DataError, match=r"Ties_5\.json\.gz.* damaged or cut off"):
        load(tmp_path)
