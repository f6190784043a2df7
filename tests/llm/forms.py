"""Answers made from true rankings: forms of writing, crossed with what is ranked.

A form writes a ranking as a model would. `FORMS` have one final list, `AMBIGUOUS` have
two with equal claims.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.requests import Item

DOMAINS: dict[str, list[tuple[str, int | None, dict[str, str]]]] = {
    "films": [
        ("Heat", 1995, {}), ("Seven", 1995, {}), ("The Good, the Bad and the Ugly", 1966, {}), ("Mission: Impossible", 1996, {}),
        ("12 Angry Men", 1957, {}), ("Léon: The Professional", 1994, {}), ("Face/Off", 1997, {}), ("2001: A Space Odyssey", 1968, {}),
        ("Monsters, Inc.", 2001, {}), ("The Matrix", 1999, {}), ("Alien", 1979, {}), ("Aliens", 1986, {}),
    ],
    "films without years": [
        ("Heat", None, {}), ("Toy Story", None, {}), ("Toy Story 2", None, {}), ("Fargo", None, {}), ("Casino Royale", None, {}),
        ("Goodfellas", None, {}), ("Schindler's List", None, {}), ("Psycho", None, {}), ("Vertigo", None, {}), ("Rear Window", None, {}),
        ("North by Northwest", None, {}), ("M*A*S*H", None, {}),
    ],
    "books": [
        ("Преступление и наказание", None, {"author": "Фёдор Достоевский"}), ("Война и мир", None, {"author": "Лев Толстой"}),
        ("Мастер и Маргарита", None, {"author": "Михаил Булгаков"}), ("Идиот", None, {"author": "Фёдор Достоевский"}),
        ("Анна Каренина", None, {"author": "Лев Толстой"}), ("Мы", None, {"author": "Евгений Замятин"}),
        ("Мёртвые души", None, {"author": "Николай Гоголь"}), ("Доктор Живаго", None, {"author": "Борис Пастернак"}),
        ("Чайка", None, {"author": "Антон Чехов"}), ("Обломов", None, {"author": "Иван Гончаров"}),
        ("Отцы и дети", None, {"author": "Иван Тургенев"}), ("Нос", None, {"author": "Николай Гоголь"}),
    ],
    "games": [
        ("ゼルダの伝説 ブレス オブ ザ ワイルド", 2017, {"platform": "Switch"}), ("ファイナルファンタジーVII", 1997, {"platform": "PlayStation"}),
        ("大神", 2006, {"platform": "PlayStation 2"}), ("塊魂", 2004, {"platform": "PlayStation 2"}), ("ペルソナ5", 2016, {"platform": "PlayStation 4"}),
        ("モンスターハンター：ワールド", 2018, {"platform": "PC"}), ("逆転裁判", 2001, {"platform": "Game Boy Advance"}),
        ("クロノ・トリガー", 1995, {"platform": "Super Famicom"}), ("デモンズソウル", 2009, {"platform": "PlayStation 3"}),
        ("風のクロノア", 1997, {"platform": "PlayStation"}), ("どうぶつの森", 2001, {"platform": "Nintendo 64"}), ("MOTHER2", 1994, {"platform": "Super Famicom"}),
    ],
    "songs": [
        ("봄날", None, {"artist": "BTS"}), ("밤편지", None, {"artist": "아이유"}), ("벚꽃 엔딩", None, {"artist": "버스커 버스커"}),
        ("강남스타일", None, {"artist": "싸이"}), ("좋은 날", None, {"artist": "아이유"}), ("거짓말", None, {"artist": "빅뱅"}),
        ("사랑을 했다", None, {"artist": "아이콘"}), ("첫눈처럼 너에게 가겠다", None, {"artist": "에일리"}), ("Dynamite", None, {"artist": "BTS"}),
        ("취중진담", None, {"artist": "전람회"}), ("너의 의미", None, {"artist": "산울림"}), ("Love Dive", None, {"artist": "아이브"}),
    ],
    "songs in Latin": [
        ("Hello", None, {"artist": "Adele"}), ("Stand by Me", None, {"artist": "Ben E. King"}), ("One", None, {"artist": "U2"}),
        ("Rolling in the Deep", None, {"artist": "Adele"}), ("Bohemian Rhapsody", None, {"artist": "Queen"}), ("Jolene", None, {"artist": "Dolly Parton"}),
        ("Respect", None, {"artist": "Aretha Franklin"}), ("Billie Jean", None, {"artist": "Michael Jackson"}), ("1979", None, {"artist": "The Smashing Pumpkins"}),
        ("Creep", None, {"artist": "Radiohead"}), ("Yesterday", None, {"artist": "The Beatles"}), ("Hurt", None, {"artist": "Johnny Cash"}),
    ],
    "products": [
        ("Hydrating Face Cream, 50 ml", None, {"brand": "Acme"}), ("Wireless Mouse M185 - Grey", None, {"brand": "Logi"}),
        ("USB-C Cable 2 m", None, {"brand": "Anker"}), ("Stainless Steel Bottle 750 ml", None, {"brand": "Hydra"}),
        ("Yoga Mat, non-slip", None, {"brand": "Fit & Co"}), ("Chef's Knife 20 cm", None, {"brand": "Sharp"}), ("LED Desk Lamp", None, {"brand": "Lumo"}),
        ("Noise Cancelling Headphones", None, {"brand": "Bose"}), ("Green Tea, 100 bags", None, {"brand": "Leaf"}), ("Running Shoes", None, {"brand": "Asics"}),
        ("A4 Notebook (3-pack)", None, {"brand": "Muji"}), ("Sunscreen SPF 50", None, {"brand": "Sol"}),
    ],
    "products in Arabic": [
        ("كريم مرطب للوجه", None, {}), ("سماعات لاسلكية", None, {}), ("زجاجة ماء", None, {}), ("حذاء رياضي", None, {}), ("مصباح مكتب", None, {}),
        ("سجادة يوغا", None, {}), ("سكين مطبخ", None, {}), ("شاي أخضر", None, {}), ("دفتر ملاحظات", None, {}), ("حقيبة ظهر", None, {}),
        ("ساعة ذكية", None, {}), ("لوحة مفاتيح", None, {}),
    ],
    "news": [
        ("Markets fall: what comes next?", None, {}), ("Storm hits coast - thousands without power", None, {}), ("10 ways to sleep better", None, {}),
        ("President says talks will go on", None, {}), ("The best recipes for autumn", None, {}), ("Why the bees are dying", None, {}),
        ("Rams 24, Bears 17", None, {}), ("Opinion: We need to talk about rent", None, {}), ("New study links coffee and long life", None, {}),
        ("Is this the end of cash?", None, {}), ("Local team wins cup", None, {}), ("How to answer a ranking question", None, {}),
    ],
    "news in Chinese": [
        ("股市大跌，下一步如何？", None, {}), ("台风登陆沿海", None, {}), ("十种改善睡眠的方法", None, {}), ("总统表示会谈将继续", None, {}), ("秋季最佳食谱", None, {}),
        ("蜜蜂为何消失", None, {}), ("咖啡与长寿", None, {}), ("现金的终结？", None, {}), ("本地球队夺冠", None, {}), ("新能源汽车销量创新高", None, {}),
        ("房租问题", None, {}), ("太空站新任务", None, {}),
    ],
    "news in Hindi": [
        ("शेयर बाज़ार में गिरावट", None, {}), ("तूफ़ान तट से टकराया", None, {}), ("बेहतर नींद के दस तरीके", None, {}), ("वार्ता जारी रहेगी", None, {}),
        ("शरद ऋतु के व्यंजन", None, {}), ("मधुमक्खियाँ क्यों मर रही हैं", None, {}), ("कॉफ़ी और लंबी उम्र", None, {}), ("नकदी का अंत", None, {}),
        ("स्थानीय टीम जीती", None, {}), ("किराये की समस्या", None, {}), ("नया अंतरिक्ष अभियान", None, {}), ("इलेक्ट्रिक कारों की बिक्री", None, {}),
    ],
}  # fmt: skip

K = 5


@dataclass(frozen=True)
class Case:
    """What is to be written: the offered items, and the
    places of the best of them, best first.
    """

    offered: Sequence[Item]
    best: Sequence[int]

    @property
    def titles(self) -> list[str]:
        return [self.offered[at].label for at in self.best]

    @property
    def ids(self) -> list[str]:
        return [self.offered[at].id for at in self.best]

    @property
    def numbers(self) -> list[int]:
        return [at + 1 for at in self.best]

    @property
    def candidates(self) -> list[str]:
        return [item.label for item in self.offered]


def catalogue(domain: str) -> list[Item]:
    return [
        Item(f"x{at}", title, year, facts)
        for at, (title, year, facts) in enumerate(DOMAINS[domain])
    ]


def numbered(titles: Sequence[str], form: str = "{}. {}") -> str:
    return "\n".join(form.format(at, title) for at, title in enumerate(titles, 1))


def _data(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _scores(case: Case) -> dict[str, float]:
    """A score by title, in the order of the offered; the ranking is theirs."""
    return {
        item.label: round(0.95 - 0.1 * case.best.index(at), 2)
        for at, item in enumerate(case.offered)
        if at in case.best
    }


def _facts(case: Case) -> list[str]:
    facts = [next(iter(case.offered[at].attributes.values()), "") for at in case.best]
    titles = [
        f"{t} by {f}" if f else t for t, f in zip(case.titles, facts, strict=True)
    ]
    return titles


def _shuffled(case: Case) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = [
        {"rank": at, "title": title} for at, title in enumerate(case.titles, 1)
    ]
    return rows[::-1]


Form = Callable[[Case], str]

FORMS: dict[str, Form] = {
    # lists
    "numbered": lambda c: numbered(c.titles),
    "brackets": lambda c: numbered(c.titles, "{}) {}"),
    "rank label": lambda c: numbered(c.titles, "Rank {}: {}"),
    "hash": lambda c: numbered(c.titles, "#{} {}"),
    "pick label": lambda c: numbered(c.titles, "Pick {}: {}"),
    "pick arrow": lambda c: numbered(c.titles, "#{} pick → {}"),
    "rank arrow": lambda c: numbered(c.titles, "{} → {}"),
    "ordinal arrow": lambda c: "\n".join(f"- {word} → {t}" for word, t in zip(("First", "Second", "Third", "Fourth", "Fifth"), c.titles, strict=True)),
    "ordinal dash": lambda c: "\n".join(f"{word} - {t}" for word, t in zip(("Top pick", "Second", "Third", "Next", "Last"), c.titles, strict=True)),
    "bold": lambda c: numbered(c.titles, "{}. **{}**"),
    "bold rank": lambda c: numbered(c.titles, "**Rank {}:** {}"),
    "bullets": lambda c: "\n".join(f"- {t}" for t in c.titles),
    "lines": lambda c: "\n".join(c.titles),
    "lines under a heading": lambda c: "Ranking:\n" + "\n".join(c.titles),
    "table": lambda c: "| Rank | Title |\n|---|---|\n" + numbered(c.titles, "| {} | {} |"),
    "countdown": lambda c: "\n".join(f"{at}. {t}" for at, t in reversed(list(enumerate(c.titles, 1)))),
    "option label": lambda c: "\n".join(f"Option {n}: {t}" for n, t in zip(c.numbers, c.titles, strict=True)),
    "number and title": lambda c: "\n".join(f"[{n}] {t}" for n, t in zip(c.numbers, c.titles, strict=True)),
    # lists with comments
    "short comments": lambda c: numbered([f"{t} - hydrating" for t in c.titles]),
    "percent": lambda c: numbered([f"{t} [{95 - at}%]" for at, t in enumerate(c.titles)]),
    "prices": lambda c: numbered([f"{t} - $1{at}.99" for at, t in enumerate(c.titles)]),
    "reasons below": lambda c: "\n".join(f"{at}. {t}\n   Reason: it fits the profile well." for at, t in enumerate(c.titles, 1)),
    "reasons": lambda c: numbered([f"{t} - because the user liked similar ones" for t in c.titles]),
    "makers": lambda c: numbered(_facts(c)),
    "scores behind": lambda c: numbered([f"{t} (score: 0.{9 - at})" for at, t in enumerate(c.titles)]),
    # several blocks
    "restated": lambda c: f"Candidates:\n{numbered(c.candidates)}\n\nFinal ranking:\n{numbered(c.titles)}",
    "draft": lambda c: f"Draft:\n{numbered(c.candidates[:K])}\n\nFinal ranking:\n{numbered(c.titles)}",
    "bold headings": lambda c: f"**Candidates considered**\n{numbered(c.candidates)}\n\n**Final Recommendations**\n{numbered(c.titles)}",
    "markdown headings": lambda c: f"## Analysis\n- The user likes drama.\n- Short ones are better.\n\n## Ranking\n{numbered(c.titles)}",
    "steps": lambda c: f"1. Look at the history.\n2. Compare the options.\n3. Rank them.\n\nRanking:\n{numbered(c.titles)}",
    "tags": lambda c: f"<candidates>\n{numbered(c.candidates[:K])}\n</candidates>\n<answer>\n{numbered(c.titles)}\n</answer>",
    "excluded behind": lambda c: f"Recommendations:\n{numbered(c.titles)}\n\nNot recommended:\n{numbered([t for t in c.candidates if t not in c.titles])}",
    "runners-up": lambda c: f"{numbered(c.titles)}\n\nHonorable mentions:\n" + "\n".join(f"- {t}" for t in c.candidates if t not in c.titles),
    "scores, then ranking": lambda c: "Scores:\n" + "\n".join(f"- {t}: {5 + at % 3}/10" for at, t in enumerate(c.candidates)) + f"\n\nRanking:\n{numbered(c.titles)}",
    "repeated": lambda c: f"{numbered(c.titles)}\n\nSo my final answer is:\n{numbered(c.titles)}",
    # JSON
    "json": lambda c: _data(c.titles),
    "json reasoning": lambda c: _data({"reasoning": ["Likes crime", "Prefers the nineties"], "recommendations": c.titles}),
    "json scores and ranking": lambda c: _data({"scores": [{"title": t, "score": 5} for t in sorted(c.candidates)], "ranking": c.titles}),
    "json tool call": lambda c: _data({"name": "recommend", "arguments": {"items": c.titles}}),
    "json tool call in text": lambda c: _data({"name": "recommend", "arguments": _data({"ranking": c.titles})}),
    "json entries": lambda c: _data({"title": "Best fits", "entries": [{"title": t} for t in c.titles]}),
    "json ids": lambda c: _data({"ranking": [{"id": n, "reason": "fits"} for n in c.numbers]}),
    "json movieId": lambda c: _data([{"movieId": n} for n in c.numbers]),
    "json key and score": lambda c: _data(_scores(c)),
    "json recommendations with scores": lambda c: _data({"recommendations": [{"title": t, "score": s} for t, s in sorted(_scores(c).items())]}),
    "json ranks": lambda c: _data(_shuffled(c)),
    "json fenced behind restated": lambda c: f"Candidates:\n{numbered(c.candidates)}\n\n```json\n{_data({'ranking': c.titles})}\n```",
    # numbers and letters
    "identifiers": lambda c: " > ".join(f"[{n}]" for n in c.numbers),
    "identifiers without space": lambda c: ">".join(f"[{n}]" for n in c.numbers),
    "identifiers behind words": lambda c: "Ranking: " + " > ".join(f"[{n}]" for n in c.numbers),
    "identifiers with commas": lambda c: ", ".join(f"[{n}]" for n in c.numbers),
    "numbers": lambda c: ", ".join(map(str, c.numbers)),
    "numbers in lines": lambda c: "\n".join(map(str, c.numbers)),
    "numbers in a sentence": lambda c: f"The ranking is {', '.join(map(str, c.numbers))}.",
    "numbers in a list": lambda c: numbered([str(n) for n in c.numbers]),
    "item numbers": lambda c: "\n".join(f"item_{n}" for n in c.numbers),
    "item numbers in json": lambda c: _data([f"item_{n}" for n in c.numbers]),
    "letters": lambda c: " > ".join(chr(64 + n) for n in c.numbers),
    # titles in one line
    "chain": lambda c: " > ".join(c.titles),
    "chain behind words": lambda c: "Final ranking: " + " > ".join(c.titles),
    "semicolons": lambda c: "; ".join(c.titles),
    "quoted": lambda c: ", ".join(f'"{t}"' for t in c.titles),
}  # fmt: skip

AMBIGUOUS: dict[str, Form] = {
    "two lists": lambda c: f"{numbered(c.candidates[:K])}\n\n{numbered(c.titles)}",
    "two lists under plain headings": lambda c: f"For an evening alone:\n{numbered(c.candidates[:K])}\n\nFor an evening with friends:\n{numbered(c.titles)}",
    "two rankings": lambda c: f"Ranking by taste:\n{numbered(c.candidates[:K])}\n\nRanking by quality:\n{numbered(c.titles)}",
    "two in json": lambda c: _data({"list_a": c.candidates[:K], "list_b": c.titles}),
    "two in json, unnamed": lambda c: _data(c.candidates[:K]) + "\n\n" + _data(c.titles),
    "two chains": lambda c: " > ".join(c.candidates[:K]) + "\n" + " > ".join(c.titles),
    "two of numbers": lambda c: "[1] > [2] > [3] > [4] > [5]\n" + " > ".join(f"[{n}]" for n in c.numbers),
    "ranking against scores": lambda c: _data({"ranking": [{"title": t, "score": at} for at, t in enumerate(c.titles)]}),
    "a number from zero": lambda c: ", ".join(map(str, [0, *c.numbers[1:]])),
}  # fmt: skip
