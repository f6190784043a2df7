"""Writes interactions as the files of each described format
have them, after its public description.
"""

from __future__ import annotations

import datetime
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """One interaction; numbers count from 0."""

    user: int
    item: int
    stars: int
    time: int


Files = dict[str, str | bytes]


def title(item: int) -> str:
    return f"The {['Long', 'Quiet', 'Red', 'Last'][item % 4]} {item}"


def date(time: int, form: str) -> str:
    return datetime.datetime.fromtimestamp(time, datetime.UTC).strftime(form)


def lines(rows: Sequence[object]) -> str:
    return "".join(f"{row}\n" for row in rows)


def records(rows: Sequence[Mapping[str, object]]) -> str:
    return lines([json.dumps(row) for row in rows])


def items_of(rows: Sequence[Row]) -> list[int]:
    return sorted({row.item for row in rows})


def users_of(rows: Sequence[Row]) -> list[int]:
    return sorted({row.user for row in rows})


def asin(item: int) -> str:
    return f"B{item:09}"


def movielens_100k(rows: Sequence[Row]) -> Files:
    flags = "|".join(["0"] * 5 + ["1"] + ["0"] * 13)
    return {
        "u.data": lines(
            [f"{r.user + 1}\t{r.item + 1}\t{r.stars}\t{r.time}" for r in rows],
        ),
        "u.item": lines(
            [
                f"{i + 1}|{title(i)} (1995)|01-Jan-1995||url|{flags}"
                for i in items_of(rows)
            ],
        ),
        "u.user": lines([f"{u + 1}|24|M|writer|85711" for u in users_of(rows)]),
    }


def movielens_1m(rows: Sequence[Row]) -> Files:
    return {
        "ratings.dat": lines(
            [f"{r.user + 1}::{r.item + 1}::{r.stars}::{r.time}" for r in rows],
        ),
        "movies.dat": lines(
            [f"{i + 1}::{title(i)} (1995)::Drama|War" for i in items_of(rows)],
        ),
        "users.dat": lines([f"{u + 1}::F::25::15::55117" for u in users_of(rows)]),
    }


def movielens_10m(rows: Sequence[Row]) -> Files:
    return {
        "ratings.dat": lines(
            [f"{r.user + 1}::{r.item + 1}::{r.stars}::{r.time}" for r in rows],
        ),
        "movies.dat": lines(
            [f"{i + 1}::{title(i)} (1995)::Drama|War" for i in items_of(rows)],
        ),
        "tags.dat": lines([f"1::{i + 1}::slow::1215184630" for i in items_of(rows)]),
    }


def movielens_csv(rows: Sequence[Row]) -> Files:
    return {
        "ratings.csv": lines(
            ["userId,movieId,rating,timestamp"]
            + [f"{r.user + 1},{r.item + 1},{r.stars}.0,{r.time}" for r in rows],
        ),
        "movies.csv": lines(
            ["movieId,title,genres"]
            + [f"{i + 1},{title(i)} (1995),Drama|War" for i in items_of(rows)],
        ),
    }


def amazon_2018(rows: Sequence[Row]) -> Files:
    reviews = [
        {
            "overall": float(r.stars),
            "verified": True,
            "reviewerID": f"A{r.user:013}",
            "asin": asin(r.item),
            "style": {"Color:": " Red"},
            "unixReviewTime": r.time,
        }
        for r in rows
    ]
    meta = [
        {"category": ["Beauty"], "title": title(i), "asin": asin(i)}
        for i in items_of(rows)
    ]
    return {
        "All_Beauty_5.json.gz": gzip.compress(records(reviews).encode()),
        "meta_All_Beauty.json": records(meta),
    }


def amazon_2023(rows: Sequence[Row]) -> Files:
    reviews = [
        {
            "rating": float(r.stars),
            "title": "Nice",
            "text": "Nice.",
            "images": [],
            "asin": f"{asin(r.item)}X",
            "parent_asin": asin(r.item),
            "user_id": f"AE{r.user:026}",
            "timestamp": r.time * 1000 + 123,
            "helpful_vote": 0,
            "verified_purchase": True,
        }
        for r in rows
    ]
    meta = [
        {
            "main_category": "All Beauty",
            "title": title(i),
            "features": [],
            "description": ["Soft.", "Good."],
            "price": None,
            "images": [{"large": "https://a/1.jpg"}],
            "store": "Acme",
            "categories": ["Hair"],
            "parent_asin": asin(i),
        }
        for i in items_of(rows)
    ]
    return {
        "All_Beauty.jsonl": records(reviews),
        "meta_All_Beauty.jsonl": records(meta),
    }


def amazon_ratings_2014(rows: Sequence[Row]) -> Files:
    written = [f"A{r.user:013},{asin(r.item)},{r.stars}.0,{r.time}" for r in rows]
    return {"ratings_Beauty.csv": lines(written)}


def amazon_ratings_2018(rows: Sequence[Row]) -> Files:
    return {
        "All_Beauty.csv": lines(
            [f"{asin(r.item)},A{r.user:013},{r.stars}.0,{r.time}" for r in rows],
        ),
    }


def goodreads_csv(rows: Sequence[Row]) -> Files:
    head = "user_id,book_id,is_read,rating,is_reviewed"
    return {
        "goodreads_interactions.csv": lines(
            [
                head,
                f"{rows[0].user},99999,1,0,0",
                *[f"{r.user},{r.item},1,{r.stars},0" for r in rows],
            ],
        ),
    }


def goodreads_json(rows: Sequence[Row]) -> Files:
    kept = [
        {
            "user_id": f"{r.user:032x}",
            "book_id": str(r.item),
            "review_id": "x",
            "is_read": True,
            "rating": r.stars,
            "date_added": date(r.time, "%a %b %d %H:%M:%S +0000 %Y"),
        }
        for r in rows
    ]
    books = [
        {
            "book_id": str(i),
            "title": title(i),
            "authors": [{"author_id": "604031", "role": ""}],
            "publication_year": "1999" if i else "",
            "description": "About it.",
        }
        for i in items_of(rows)
    ]
    return {
        "goodreads_interactions_poetry.json.gz": gzip.compress(records(kept).encode()),
        "goodreads_books_poetry.json.gz": gzip.compress(records(books).encode()),
    }


def goodbooks(rows: Sequence[Row]) -> Files:
    return {
        "ratings.csv": lines(
            ["user_id,book_id,rating"] + [f"{r.user},{r.item},{r.stars}" for r in rows],
        ),
        "books.csv": lines(
            [
                "id,book_id,isbn,authors,original_publication_year,original_title,title,ratings_count",
            ]
            + [
                f'{i},{i},439,"A. Lee, B. Lu",{-100 if i == 0 else 2008.0},,{title(i)},7'
                for i in items_of(rows)
            ],
        ),
    }


def book_crossing(rows: Sequence[Row]) -> Files:
    ratings = ['"User-ID";"ISBN";"Book-Rating"', '"1";"034545104X";"0"']
    ratings += [f'"{r.user + 1}";"{r.item:09}X";"{r.stars * 2}"' for r in rows]
    books = [
        '"ISBN";"Book-Title";"Book-Author";"Year-Of-Publication";"Publisher";"Image-URL-S"',
        '"0999999999";"The \\"Best\\"; really";"Böll";"0";"P";"u"',
    ]
    books += [f'"{i:09}X";"{title(i)}";"A. Lee";"2002";"P";"u"' for i in items_of(rows)]
    people = [
        '"User-ID";"Location";"Age"',
        *[f'"{u + 1}";"porto, portugal";NULL' for u in users_of(rows)],
    ]
    written = {"BX-Book-Ratings": ratings, "BX-Books": books, "BX-Users": people}
    return {
        f"{name}.csv": lines(each).encode("latin-1") for name, each in written.items()
    }


def book_crossing_csv(rows: Sequence[Row]) -> Files:
    books = [f"{i:09}X,{title(i)},A. Lee,2002,P" for i in items_of(rows)]
    return {
        "Ratings.csv": lines(
            ["User-ID,ISBN,Book-Rating"]
            + [f"{r.user + 1},{r.item:09}X,{r.stars * 2}" for r in rows],
        ),
        "Books.csv": lines(
            ["ISBN,Book-Title,Book-Author,Year-Of-Publication,Publisher", *books],
        ),
    }


def yelp(rows: Sequence[Row]) -> Files:
    reviews = [
        {
            "review_id": "x",
            "user_id": f"u_{r.user}",
            "business_id": f"b-{r.item}",
            "stars": float(r.stars),
            "text": "Good.",
            "date": date(r.time, "%Y-%m-%d %H:%M:%S"),
        }
        for r in rows
    ]
    places = [
        {
            "business_id": f"b-{i}",
            "name": title(i),
            "city": "Tampa",
            "attributes": {"WiFi": "no"},
            "categories": "Gastropubs, Food",
        }
        for i in items_of(rows)
    ]
    return {
        "yelp_academic_dataset_review.json": records(reviews),
        "yelp_academic_dataset_business.json": records(places),
    }


def steam(rows: Sequence[Row]) -> Files:
    reviews = [
        f"{{u'username': u'u{r.user}', u'hours': 3.6, u'product_id': u'{r.item}', u'page_order': 0, "
        f"u'date': u'{date(r.time, '%Y-%m-%d')}', u'text': u'ok', u'early_access': False}}"
        for r in rows
    ]
    games = [
        f"{{u'publisher': u'P', u'genres': [u'Action', u'Indie'], u'app_name': u'{title(i)}', "
        f"u'release_date': u'{'2018-01-04' if i else 'Soon..'}', u'tags': [u'Fast'], u'id': u'{i}'}}"
        for i in items_of(rows)
    ]
    return {
        "steam_reviews.json.gz": gzip.compress(lines(reviews).encode()),
        "steam_games.json.gz": gzip.compress(lines(games).encode()),
    }


def steam_200k(rows: Sequence[Row]) -> Files:
    bought = [f'{r.user},"{title(r.item)}",purchase,1.0,0' for r in rows]
    played = [f'{r.user},"{title(r.item)}",play,273.0,0' for r in rows]
    return {
        "steam-200k.csv": lines(
            [row for pair in zip(bought, played, strict=True) for row in pair],
        ),
    }


def kuairec(rows: Sequence[Row]) -> Files:
    head = (
        "user_id,video_id,play_duration,video_duration,time,date,timestamp,watch_ratio"
    )
    written = [
        f"{r.user},{r.item},100,{200},{date(r.time, '%Y-%m-%d %H:%M:%S.123')},"
        f"{date(r.time, '%Y%m%d')}.0,{r.time}.123,0.5"
        for r in rows
    ]
    captions = [
        f"{i},0,UNKNOWN,{title(i)},[],8,颜值,-124,UNKNOWN" for i in items_of(rows)
    ]
    return {
        "big_matrix.csv": lines([head, *written]),
        "kuairec_caption_category.csv": lines(
            [
                "video_id,cover,x,caption,topic_tag,first_level_category_id,first_level_category_name,y,z",
                *captions,
            ],
        ),
    }


def kuairand(rows: Sequence[Row]) -> Files:
    head = "user_id,video_id,date,hourmin,time_ms,is_click,is_like,play_time_ms"
    first = rows[0]
    return {
        "log_standard_4_08_to_4_21_pure.csv": lines(
            [head, f"{first.user},88888,20220408,1400,{first.time}000,0,0,10"]
            + [f"{r.user},{r.item},20220408,1400,{r.time}000,1,0,900" for r in rows],
        ),
    }


def anime(rows: Sequence[Row]) -> Files:
    return {
        "rating.csv": lines(
            ["user_id,anime_id,rating", f"{rows[0].user},{rows[0].item + 500},-1"]
            + [f"{r.user},{r.item},{r.stars * 2}" for r in rows],
        ),
        "anime.csv": lines(
            ["anime_id,name,genre,type,episodes,rating,members"]
            + [
                f'{i},{title(i)},"Drama, Sci-Fi",TV,Unknown,7.1,200'
                for i in items_of(rows)
            ],
        ),
    }


def lastfm_1k(rows: Sequence[Row]) -> Files:
    return {
        "userid-timestamp-artid-artname-traid-traname.tsv": lines(
            [
                f"user_{r.user:06}\t{date(r.time, '%Y-%m-%dT%H:%M:%SZ')}\t\t{title(r.item)}\t\tTrack"
                for r in rows
            ],
        ),
        "userid-profile.tsv": lines(
            ["#id\tgender\tage\tcountry\tregistered"]
            + [f"user_{u:06}\tm\t\tJapan\tAug 13, 2006" for u in users_of(rows)],
        ),
    }


def gowalla(rows: Sequence[Row]) -> Files:
    return {
        "loc-gowalla_totalCheckins.txt.gz": gzip.compress(
            lines(
                [
                    f"{r.user}\t{date(r.time, '%Y-%m-%dT%H:%M:%SZ')}\t30.2\t-97.7\t{r.item}"
                    for r in rows
                ],
            ).encode(),
        ),
    }


def foursquare(rows: Sequence[Row]) -> Files:
    written = [
        f"{r.user}\t{r.item:024x}\t4bf5\tCafé\t40.7\t-74.0\t-240\t{date(r.time, '%a %b %d %H:%M:%S +0000 %Y')}"
        for r in rows
    ]
    return {"dataset_TSMC2014_NYC.txt": lines(written).encode("latin-1")}


def taobao(rows: Sequence[Row]) -> Files:
    return {
        "UserBehavior.csv": lines(
            [f"{r.user},{r.item},{r.item % 5},pv,{r.time}" for r in rows],
        ),
    }


def tmall(rows: Sequence[Row]) -> Files:
    head = "user_id,item_id,cat_id,seller_id,brand_id,time_stamp,action_type"
    written = [
        f"{r.user},{r.item},{r.item % 5},7,{r.item % 3},{829 + n % 200},0"
        for n, r in enumerate(rows)
    ]
    return {"user_log_format1.csv": lines([head, *written])}


def hm(rows: Sequence[Row]) -> Files:
    return {
        "transactions_train.csv": lines(
            ["t_dat,customer_id,article_id,price,sales_channel_id"]
            + [
                f"{date(r.time, '%Y-%m-%d')},{r.user:064x},01{r.item:08},0.05,2"
                for r in rows
            ],
        ),
        "articles.csv": lines(
            ["article_id,prod_name,product_type_name,colour_group_name,detail_desc"]
            + [
                f'01{i:08},{title(i)},Vest top,Black,"Soft, long."'
                for i in items_of(rows)
            ],
        ),
    }


def retailrocket(rows: Sequence[Row]) -> Files:
    return {
        "events.csv": lines(
            ["timestamp,visitorid,event,itemid,transactionid"]
            + [f"{r.time}117,{r.user},view,{r.item}," for r in rows],
        ),
    }


def otto(rows: Sequence[Row]) -> Files:
    sessions = [
        {
            "session": u,
            "events": [
                {"aid": r.item, "ts": r.time * 1000, "type": "clicks"}
                for r in rows
                if r.user == u
            ],
        }
        for u in users_of(rows)
    ]
    return {"otto-recsys-train.jsonl": records(sessions)}


def recbole(rows: Sequence[Row]) -> Files:
    return {
        "shop.inter": lines(
            ["user_id:token\titem_id:token\trating:float\ttimestamp:float"]
            + [f"{r.user}\t{r.item}\t{r.stars}\t{r.time}.0" for r in rows],
        ),
        "shop.item": lines(
            [
                "item_id:token\tmovie_title:token_seq\trelease_year:token\tclass:token_seq",
            ]
            + [f"{i}\t{title(i)}\t1995\tDrama Sci-Fi" for i in items_of(rows)],
        ),
        "shop.user": lines(
            ["user_id:token\tage:token"] + [f"{u}\t24" for u in users_of(rows)],
        ),
    }


FORMATS: dict[str, Callable[[Sequence[Row]], Files]] = {
    "Amazon ratings of 2014, without a header": amazon_ratings_2014,
    "Amazon ratings of 2018, without a header": amazon_ratings_2018,
    "Amazon reviews with metadata, of 2014 and 2018": amazon_2018,
    "Amazon reviews with metadata, of 2023": amazon_2023,
    "Anime recommendations": anime,
    "Book-Crossing": book_crossing,
    "Book-Crossing as on Kaggle": book_crossing_csv,
    "Foursquare check-ins of New York and Tokyo": foursquare,
    "Goodreads interactions as CSV": goodreads_csv,
    "Goodreads interactions with books": goodreads_json,
    "Gowalla and Brightkite check-ins": gowalla,
    "H&M purchases": hm,
    "KuaiRand, clicks": kuairand,
    "KuaiRec": kuairec,
    "Last.fm 1K, artists heard": lastfm_1k,
    "MovieLens 100K": movielens_100k,
    "MovieLens 10M": movielens_10m,
    "MovieLens 1M": movielens_1m,
    "MovieLens as CSV": movielens_csv,
    "Otto sessions": otto,
    "RetailRocket events": retailrocket,
    "Steam games, bought and played (steam-200k)": steam_200k,
    "Steam reviews": steam,
    "Taobao user behaviour": taobao,
    "Tmall behaviour logs": tmall,
    "Yelp reviews": yelp,
    "goodbooks-10k": goodbooks,
    "": recbole,  # known by the headers of its files alone
}
"""By the name of the format."""
