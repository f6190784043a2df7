"""Small tables in the form of public ones: each loads, and every row is used or counted.

The headers and the forms of the cells are those of the sources; the rows are made up.
Sets that load by their folder alone are in `test_formats_in_runs`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import load

ROWS = [(f"u{number % 12}", f"i{(7 * number) % 20}", number) for number in range(150)]
"""A user, an item and a number that grows; 60 pairs."""
PAIRS = {(user, item) for user, item, _ in ROWS}
FIRST = 1_404_743_469


@dataclass(frozen=True)
class Table:
    """A table after a public one.

    Attributes:
        source: Where that is published.
        file: The name of the file.
        options: What stands behind the path.
        head: The first line; empty without a header.
        row: A line for a user, an item and a number.
    """

    source: str
    file: str
    options: str
    head: str
    row: Callable[[str, str, int], str]


def day(number: int) -> str:
    return f"2014-{1 + number // 28:02}-{1 + number % 28:02}"


def listed(row: Callable[[str, list[str]], str]) -> str:
    """A line for each user, with the items in their order."""
    items: dict[str, list[str]] = {}
    for user, item, _ in ROWS:
        items.setdefault(user, []).append(item)
    return "".join(row(user, own) + "\n" for user, own in items.items())


TABLES = {
    "Online Retail": Table(
        "https://archive.ics.uci.edu/dataset/352/online+retail",
        "online.csv",
        "?user=CustomerID&item=StockCode&time=InvoiceDate",
        "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country",
        lambda u, i, n: (
            f"{536365 + n},{i},LAMP,6,12/{1 + n % 28}/2010 8:{n % 60:02},2.55,{u},UK"
        ),
    ),
    "Instacart, products of orders": Table(
        "https://www.kaggle.com/c/instacart-market-basket-analysis",
        "order_products__prior.csv",
        "?user=order_id",
        "order_id,product_id,add_to_cart_order,reordered",
        lambda u, i, n: f"{u},{i},{n},1",
    ),
    "YOOCHOOSE clicks": Table(
        "https://www.kaggle.com/datasets/chadgostopp/recsys-challenge-2015",
        "yoochoose-clicks.dat",
        "?columns=user,time,item,-",
        "",
        lambda u, i, n: f"{u},{day(n)}T10:51:09.277Z,{i},0",
    ),
    "trivago sessions": Table(
        "https://recsys.trivago.cloud/challenge/dataset/",
        "train.csv",
        "?item=reference&keep=action_type:clickout item",
        "user_id,session_id,timestamp,step,action_type,reference,platform,city",
        lambda u, i, n: f"{u},s{n},{FIRST + n},{n},clickout item,{i},AU,Sydney",
    ),
    "Coveo browsing": Table(
        "https://github.com/coveooss/SIGIR-ecom-data-challenge",
        "browsing_train.csv",
        "?user=session_id_hash&item=product_sku_hash&time=server_timestamp_epoch_ms",
        "session_id_hash,event_type,product_action,product_sku_hash,server_timestamp_epoch_ms,hashed_url",
        lambda u, i, n: f"{u},event_product,detail,{i},{1000 * (FIRST + n)},h{n}",
    ),
    "Ta-Feng groceries": Table(
        "https://www.kaggle.com/datasets/chiranjivdas09/ta-feng-grocery-dataset",
        "ta_feng_all_months_merged.csv",
        "?time=TRANSACTION_DT",
        "TRANSACTION_DT,CUSTOMER_ID,AGE_GROUP,PIN_CODE,PRODUCT_SUBCLASS,PRODUCT_ID,AMOUNT,ASSET,SALES_PRICE",
        lambda u, i, n: f"11/{1 + n % 28}/2000,{u},45-49,115,110411,{i},2,24,30",
    ),
    "dunnhumby, the complete journey": Table(
        "https://www.dunnhumby.com/source-files/",
        "transaction_data.csv",
        "?user=household_key&time=DAY",
        "household_key,BASKET_ID,DAY,PRODUCT_ID,QUANTITY,SALES_VALUE,STORE_ID",
        lambda u, i, n: f"{u},{n},{1 + n},{i},1,1.39,364",
    ),
    "Olist order items": Table(
        "https://www.kaggle.com/datasets/olistbr/brazilian-ecommerce",
        "olist_order_items_dataset.csv",
        "?user=order_id&time=shipping_limit_date",
        '"order_id","order_item_id","product_id","seller_id","shipping_limit_date","price"',
        lambda u, i, n: f'"{u}",1,"{i}","s",{day(n)} 09:45:35,58.90',
    ),
    "CiaoDVD ratings": Table(
        "https://www.librec.net/datasets.html",
        "movie-ratings.txt",
        "?columns=user,item,-,-,rating,time",
        "",
        lambda u, i, n: f"{u},{i},5,{n},{1 + n % 5},{day(n)}",
    ),
    "FilmTrust": Table(
        "https://www.librec.net/datasets.html",
        "ratings.txt",
        "?columns=user,item,rating&sep=blank",
        "",
        lambda u, i, n: f"{u} {i} {0.5 * (1 + n % 8):g}",
    ),
    "Last.fm 360K": Table(
        "http://ocelma.net/MusicRecommendationDataset/lastfm-360K.html",
        "usersha1-artmbid-artname-plays.tsv",
        "?columns=user,-,item,-",
        "",
        lambda u, i, n: f"{u}\tmbid\t{i}\t{n}",
    ),
    "Million Song taste profiles": Table(
        "http://millionsongdataset.com/tasteprofile/",
        "train_triplets.txt",
        "?columns=user,item,-",
        "",
        lambda u, i, n: f"{u}\t{i}\t{1 + n % 9}",
    ),
    "Delicious bookmarks": Table(
        "https://grouplens.org/datasets/hetrec-2011/",
        "user_taggedbookmarks-timestamps.dat",
        "?item=bookmarkID",
        "userID\tbookmarkID\ttagID\ttimestamp",
        lambda u, i, n: f"{u}\t{i}\t{n}\t{1000 * (FIRST + n)}",
    ),
    "Globo.com clicks": Table(
        "https://www.kaggle.com/datasets/gspmoreira/news-portal-user-interactions-by-globocom",
        "clicks_hour_000.csv",
        "?item=click_article_id&time=click_timestamp",
        "user_id,session_id,session_start,session_size,click_article_id,click_timestamp,click_environment",
        lambda u, i, n: f"{u},s{n},1506825423271737,2,{i},{1000 * (FIRST + n)},4",
    ),
    "Tenrec": Table(
        "https://github.com/yuangh-x/2022-NIPS-Tenrec",
        "ctr_data_1M.csv",
        "",
        "user_id,item_id,click,follow,like,share,video_category,watching_times,gender,age",
        lambda u, i, n: f"{u},{i},1,0,0,0,1,2,1,4",
    ),
    "Taobao displayed ads": Table(
        "https://tianchi.aliyun.com/dataset/56",
        "raw_sample.csv",
        "?item=adgroup_id&time=time_stamp&keep=clk:1",
        "user,time_stamp,adgroup_id,pid,nonclk,clk",
        lambda u, i, n: f"{u},{FIRST + n},{i},430548_1007,0,1",
    ),
    "Criteo attribution": Table(
        "https://ailab.criteo.com/criteo-attribution-modeling-bidding-dataset/",
        "criteo_attribution_dataset.tsv",
        "?item=campaign&keep=click:1",
        "timestamp\tuid\tcampaign\tconversion\tclick\tcost",
        lambda u, i, n: f"{n}\t{u}\t{i}\t0\t1\t0.01",
    ),
    "Food.com": Table(
        "https://www.kaggle.com/datasets/shuyangli94/food-com-recipes-and-user-interactions",
        "RAW_interactions.csv",
        "?item=recipe_id&unrated=0",
        "user_id,recipe_id,date,rating,review",
        lambda u, i, n: f'{u},{i},{day(n)},{1 + n % 5},"Good, and quick"',
    ),
    "BoardGameGeek": Table(
        "https://www.kaggle.com/datasets/jvanelteren/boardgamegeek-reviews",
        "bgg-15m-reviews.csv",
        "?item=ID",
        ",user,rating,comment,ID,name",
        lambda u, i, n: f'{n},{u},{1 + n % 10},"fun",{i},Catan',
    ),
    "Rent the Runway": Table(
        "https://cseweb.ucsd.edu/~jmcauley/datasets.html#clothing_fit",
        "renttherunway_final_data.json",
        "?time=review_date&unrated=nan",
        "",
        lambda u, i, n: json.dumps(
            {
                "user_id": u,
                "item_id": i,
                "rating": str(2 + 2 * (n % 5)),
                "review_date": f"April {1 + n % 28}, 2016",
            }
        ),
    ),
    "ModCloth": Table(
        "https://cseweb.ucsd.edu/~jmcauley/datasets.html#market_bias",
        "df_modcloth.csv",
        "",
        "item_id,user_id,rating,timestamp,size,fit",
        lambda u, i, n: f"{i},{u},{1 + n % 5},{day(n)} 08:13:11.786000+00:00,2.0,",
    ),
    "MovieTweetings": Table(
        "https://github.com/sidooms/MovieTweetings",
        "ratings.dat",
        "?columns=user,item,rating,time&sep=::",
        "",
        lambda u, i, n: f"{u}::{i}::{n % 11}::{FIRST + n}",
    ),
    "#nowplaying-RS": Table(
        "https://zenodo.org/records/2594483",
        "user_track_hashtag_timestamp.csv",
        "",
        '"user_id","track_id","hashtag","created_at"',
        lambda u, i, n: f'"{u}","{i}","nowplaying","{day(n)} 05:54:21"',
    ),
    "Epinions in RecBole's form": Table(
        "https://recbole.io/dataset_list.html",
        "epinions.inter",
        "",
        "user_id:token\titem_id:token\trating:float\ttimestamp:float",
        lambda u, i, n: f"{u}\t{i}\t{1 + n % 5}\t{FIRST + n}.0",
    ),
    "Adressa": Table(
        "https://reclab.idi.ntnu.no/dataset/",
        "20170101.jsonl",
        "?item=id",
        "",
        lambda u, i, n: json.dumps(
            {"eventId": n, "userId": u, "id": i, "time": FIRST + n, "active": True}
        ),
    ),
    "SASRec's Beauty": Table(
        "https://github.com/kang205/SASRec",
        "Beauty.txt",
        "?columns=user,item&sep=blank",
        "",
        lambda u, i, n: f"{u} {i}",
    ),
}

LISTS = {
    "LightGCN's Gowalla": (
        "https://github.com/kuandeng/LightGCN",
        "train.txt?columns=user,sequence&sep=blank",
        listed(lambda user, own: f"{user} {' '.join(own)}"),
    ),
    "OpenP5": (
        "https://github.com/agiresearch/OpenP5",
        "user_sequence.txt?columns=user,sequence&sep=blank",
        listed(lambda user, own: f"{user} {' '.join(own)}"),
    ),
    "Spotify playlists, one a line": (
        "https://www.aicrowd.com/challenges/spotify-million-playlist-dataset-challenge",
        "playlists.jsonl?user=pid&each=tracks&item=track_uri",
        listed(
            lambda user, own: json.dumps(
                {"pid": user, "tracks": [{"track_uri": item} for item in own]}
            )
        ),
    ),
}

REFUSED = {
    "Jester": (
        "https://eigentaste.berkeley.edu/dataset/",
        "jester-data-1.csv",
        "74,-7.82,8.79,-9.66\n100,4.08,-0.29,6.36\n",
        r"no column 'user' among .* \?columns=user,item,rating where the file has no header",
    ),
    "SUSHI preferences": (
        "https://www.kamishima.net/sushi/",
        "sushi3b.5000.10.score.csv",
        "0 4 -1 2\n1 -1 3 0\n",
        r"whose fields stand between blanks, write \?columns=user,item&sep=blank",
    ),
    "Spotify playlists as published": (
        "https://www.aicrowd.com/challenges/spotify-million-playlist-dataset-challenge",
        "mpd.slice.0-999.json",
        '{\n  "info": {"slice": "0-999"},\n  "playlists": []\n}\n',
        r"write one JSON object a line|is not a record",
    ),
    "Coveo with its searches": (
        "https://github.com/coveooss/SIGIR-ecom-data-challenge",
        "browsing.csv?user=session&item=sku",
        "session,event_type,sku\ns,pageview,a\ns,event_product,b\n",
        r"says what a row is: .*as in \?keep=event_type:",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_public_table_loads_and_its_rows_add_up(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = TABLES[name]
    monkeypatch.chdir(tmp_path)
    lines = [table.head, *(table.row(*row) for row in ROWS)]
    text = "\n".join(filter(None, lines)) + "\n"
    Path(table.file).write_text(text, encoding="utf-8")
    check(f"{table.file}{table.options}")


@pytest.mark.parametrize("name", LISTS)
def test_a_public_file_of_lists_loads_and_its_rows_add_up(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, spec, text = LISTS[name]
    monkeypatch.chdir(tmp_path)
    Path(spec.partition("?")[0]).write_text(text, encoding="utf-8")
    check(spec)


def check(spec: str) -> None:
    """All pairs are there, and all rows are among the interactions or repeats."""
    notes: list[str] = []
    found = load(spec, told=notes.append).interactions
    pairs = set(zip(found["user"].astype(str), found["item"].astype(str), strict=True))
    assert pairs == PAIRS
    repeats = re.search(r"of 150 interactions (\d+) repeat", "\n".join(notes))
    assert repeats is not None, notes
    assert len(found) + int(repeats[1]) == len(ROWS)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_of_interactions_has_one_error_that_names_the_way(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, spec, text, advice = REFUSED[name]
    monkeypatch.chdir(tmp_path)
    Path(spec.partition("?")[0]).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=advice):
        load(spec)
