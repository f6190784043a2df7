"""Small folders in each official format, written with
the quirks that the real ones have.
"""

from __future__ import annotations

from pathlib import Path


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)
    return folder


MOVIELENS_CSV: dict[str, str | bytes] = {
    "ratings.csv": (
        "userId,movieId,rating,timestamp\n"
        "1,1,4.0,964982703\n"
        "1,7,0.5,964981247\n"
        "2,11,5.0,1445714835\n"
    ),
    "movies.csv": (
        "movieId,title,genres\n"
        "1,Toy Story (1995),Adventure|Animation\n"
        '7,"Matrix, The (1999)",Action\n'
        '11,"Léon: ""The Professional"" (1994)",(no genres listed)\n'
        "12,Untitled,Drama\n"
    ),
    "links.csv": "movieId,imdbId,tmdbId\n1,0114709,862\n7,0133093,603\n11,0110413,101\n12,1,\n",
    "tags.csv": (
        "userId,movieId,tag,timestamp\n"
        "1,1,Pixar,1445714994\n"
        "2,1,pixar,1445714995\n"
        "2,1,fun,1445714996\n"
    ),
}

MOVIELENS_100K: dict[str, str | bytes] = {
    "u.data": "196\t242\t3\t881250949\n186\t302\t5\t891717742\n196\t302\t1\t881250940\n",
    "u.item": (
        "242|Kolya (1996)|24-Jan-1997||http://us.imdb.com/M/title-exact?Kolya%20(1996)|"
        "0|0|0|0|0|1|0|0|0|0|0|0|0|0|0|0|0|0|0\n"
        "302|Misérables, Les (1995)|01-Jan-1995||http://us.imdb.com/|"
        "0|0|0|0|0|0|0|0|1|0|0|0|1|0|0|0|0|0|0\n"
        "267|unknown||||1|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0\n"
    ).encode("latin-1"),
    "u.user": "186|39|F|executive|00000\n196|49|M|writer|55105\n",
}

MOVIELENS_1M: dict[str, str | bytes] = {
    "ratings.dat": "1::1193::5::978300760\n1::661::3::978302109\n2::1193::4::978298413\n",
    "movies.dat": (
        "661::Cité des enfants perdus, La (1995)::Adventure|Sci-Fi\n"
        "1193::Star Wars: Episode IV - A New Hope (1977)::Action\n"
        '3::"Great" Day in Harlem, A (1994)::Children\'s\n'
    ).encode("latin-1"),
    "users.dat": "1::F::1::10::48067\n2::M::56::16::70072\n",
}

MOVIELENS_10M: dict[str, str | bytes] = {
    "ratings.dat": "1::122::5::838985046\n1::185::0.5::838983525\n2::122::3.5::838983392\n",
    "movies.dat": (
        "122::Boomerang (1992)::Comedy|Romance\n185::Cité, La (1995)::(no genres listed)\n"
    ),
    "tags.dat": "15::122::excellent!::1215184630\n20::122::politics::1188263867\n",
}

LASTFM: dict[str, str | bytes] = {
    "artists.dat": (
        "id\tname\turl\tpictureURL\n"
        "1\tMALICE MIZER\thttp://www.last.fm/music/MALICE+MIZER\thttp://userserve/1.jpg\n"
        '2\tDiary of "Dreams\thttp://www.last.fm/music/Diary+of+Dreams\n'
        "3\tSigur Rós\thttp://www.last.fm/music/Sigur\thttp://userserve/3.jpg\n"
    ),
    "user_artists.dat": (
        "userID\tartistID\tweight\n2\t1\t13883\n2\t2\t11690\n2\t3\t11351\n4\t1\t7\n4\t3\t7\n"
    ),
    "user_taggedartists-timestamps.dat": (
        "userID\tartistID\ttagID\ttimestamp\n"
        "2\t1\t13\t1238536800000\n"
        "2\t1\t15\t1241128800000\n"
        "4\t3\t13\t-428720400000\n"
        "9\t2\t13\t1238536800000\n"
    ),
    "tags.dat": "tagID\ttagValue\n13\tGothic\n15\tcafé\n".encode("latin-1"),
}

MIND: dict[str, str | bytes] = {
    "news.tsv": (
        "N1\tsports\tfootball_nfl\tThe \"best\" QB\tA 'short' abstract\thttps://a.b/1.html\t"
        '[{"Label": "NFL", "Type": "O"}]\t[]\n'
        "N2\tnews\tnewsus\tLéon votes\t\thttps://a.b/2.html\t[]\t[]\n"
        "N3\thealth\t\tSleep\tMore of it\thttps://a.b/3.html\t[]\t\n"
        "N4\tnews\tnewsworld\tNobody reads this\t\thttps://a.b/4.html\t[]\t[]\n"
    ),
    "behaviors.tsv": (
        "1\tU2\t11/15/2019 8:55:22 AM\tN3 N1\tN2-1 N4-0\n"
        "2\tU1\t11/11/2019 12:00:01 AM\t\tN1-0 N3-1 N4-0\n"
        "3\tU2\t11/14/2019 01:05:58 PM\tN3 N1 \tN4-0 N1-1 N3-0\n"
        "4\tU9\t11/14/2019 01:05:59 PM\t\tN4-0\n"
    ),
}
