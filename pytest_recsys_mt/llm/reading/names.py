"""What the words before a list say it is, in the languages of the models' answers; of several
things the first of `ROLES`.
"""

import re
from functools import lru_cache
from typing import Literal

Role = Literal[
    "avoid", "reasons", "draft", "final", "ranking", "history", "more", "scores", "candidates", ""
]
"""What a name says of its list; empty if it says nothing.

* ``final``, ``ranking``: the answer
* ``more``: its continuation
* ``scores``: a score for each item, which orders them where no ranking stands beside
* ``draft``, ``candidates``, ``history``, ``reasons``, ``avoid``: not the answer
"""

ASIDE: frozenset[Role] = frozenset(("avoid", "reasons", "draft", "history"))
"""What is never the answer."""

_WORDS: dict[Role, tuple[str, str]] = {
    # Words between spaces, and parts of words in scripts that write without spaces.
    "avoid": (
        (
            r"not(?: \w+){0,2} (?:recommend\w*|suit\w*|chosen|included?|selected|fit|good|match\w*|ranked|picked|relevant)|"
            r"do(?:es)?n't|didn't|do not|did not|does not|never|avoid\w*|exclu\w+|reject\w*|discard\w*|skip\w*|unsuitable|least|worst|omit\w*|left out|"
            r"removed?|dislike[ds]?|eliminated|ruled out|filtered|honou?rable|mentions?|bottom|out of stock|unavailable|bad|leave out|non|runners?.up|bonus|backups?|"
            r"alternat\w+|close calls?|weakest|nicht|keine|vermeide\w*|ausgeschlossen\w*|pas|éviter|exclus?|"
            r"evitar|excluid\w+|descartad\w+|não|evitare|esclus\w+|niet|не|исключ\w+|избега\w+|لا|नहीं"
        ),
        "不推荐|不建议|排除|避免|おすすめしない|除外|추천하지 않|제외",
    ),
    "reasons": (
        (
            r"reason\w*|rationale\w*|analys[ie]s|thoughts?|thinking|explanations?|explained|justifications?|notes?|observations?|"
            r"criteria|considerations|preferences|steps?|themes?|patterns?|insights?|tastes?|summary|genres?|approach|"
            r"method\w*|constraints?|evidence|why|begründung\w*|gründe|analyse|raisons?|raisonnement|explication\w*|"
            r"razones|razonamiento|análisis|explicación|razões|motivos|análise|motivi|ragion\w+|analisi|"
            r"redenen|причин\w+|обоснован\w+|рассужден\w+|анализ|أسباب|السبب|تحليل|कारण|विश्लेषण"
        ),
        "理由|原因|分析|说明|解释|理屈|説明|이유|분석|설명",
    ),
    "draft": (
        (
            r"drafts?|initial\w*|preliminary|tentative\w*|first pass|first attempt|first thoughts?|rough|brainstorm\w*|provisional|"
            r"shortlist\w*|longlist\w*|entwurf|vorläufig\w*|brouillon|provisoire|préliminaire|borrador|inicial\w*|preliminar\w*|"
            r"previously \w+|earlier|rascunho|bozza|inizial\w+|voorlopig\w*|черновик\w*|предварительн\w+|مسودة|أولي\w*|मसौदा|प्रारंभिक"
        ),
        "草稿|初步|初稿|暂定|下書き|仮の|草案|초안|예비",
    ),
    "final": (
        (
            r"final\w*|revised|corrected|corrections?|updated|conclusion|answers?|definitive|refined|re-?ranked|re-?ranking|"
            r"endgültig\w*|antwort|schluss\w*|définiti\w+|réponse|definitiv\w+|respuesta|resposta|risposta|uiteindelijke|"
            r"antwoord|итог\w*|окончательн\w+|ответ|النهائي\w*|الإجابة|अंतिम|उत्तर"
        ),
        "最终|最終|最后|答案|回答|答え|최종|정답",
    ),
    "ranking": (
        (
            r"rank\w*|ordered|order|sorted|recommend\w*|suggest\w*|top|best|picks?|picked|selections?|selected|outputs?|response|"
            r"says?|said|results?|predictions?|predicted|might|may|should|would|will|next|watchlist|playlist|rang\w*|reihenfolge|empfehl\w+|"
            r"empfohlen\w*|vorschl\w+|classement|recommand\w+|suggér\w+|clasificación|recom[ei]\w+|sugier\w+|sugerencias|"
            r"classificação|sugest\w+|sugiro|classifica|consigli\w*|raccomand\w+|aanbevel\w+|ranglijst|рейтинг|рекоменд\w+|"
            r"совету\w+|ترتيب|الترتيب|توصيات|التوصيات|رेंकिंग|रैंकिंग|सिफ़ारिशें|सिफारिशें|सुझाव|क्रम"
        ),
        "排名|排序|推荐|推薦|建议|ランキング|順位|順番|おすすめ|お勧め|순위|랭킹|추천",
    ),
    "history": (
        (
            r"history|watched|rated|seen|liked|loved|enjoyed|read|bought|own|owned|owns|already|library|cart|collection|purchased|owned|played|profile|past|previous\w*|verlauf|"
            r"gesehen\w*|historique|vus?|regardés?|historial|vist[ao]s|histórico|assistid\w+|cronologia|viste|gezien|"
            r"истори\w+|просмотренн\w+|سجل|शاهدها|इतिहास|देखी"
        ),
        "历史|看过|已看|履歴|視聴済み|기록|시청한|본",
    ),
    "more": (
        (
            r"also|more|additional\w*|another|others?|further|extra|and|außerdem|weitere|aussi|autres?|también|más|otras?|também|"
            r"mais|outr[ao]s|anche|altr[ei]|также|ещё|أيضا|भी"
        ),
        "还有|另外|他に|また|그리고|또한",
    ),
    "scores": (
        (
            r"scor\w+|relevance|ratings?|probabilit\w+|similarit\w+|weights?|points?|match|bewertung\w*|punkte|notes|puntuacion\w*|"
            r"puntos|pontuaç\w+|punteggi\w*|оценк\w+|баллы|نقاط|अंक"
        ),
        "评分|得分|分数|スコア|得点|점수|평점",
    ),
    "candidates": (
        (
            r"candidates?|options?|given|offered|available|inputs?|provided|catalogue|catalog|pool|considered|listed|kandidat\w*|"
            r"optionen|gegeben\w*|candidat\w+|opciones|opções|opzioni|dadas|dati|кандидат\w+|вариант\w+|المرشح\w*|الخيارات|"
            r"उम्मीदवार|विकल्प"
        ),
        "候选|候補|选项|選択肢|후보|선택지",
    ),
}  # fmt: skip

ROLES = tuple(_WORDS)

_PATTERNS: dict[Role, re.Pattern[str]] = {
    role: re.compile(rf"(?<!\w)(?:{words})(?!\w)|{parts}")
    for role, (words, parts) in _WORDS.items()
}

_FOLLOWS = re.compile(
    r"\b(?:based on|given|from|for|according to|among|out of|of|by|because|since|with|in|using|basierend|für|von|aus|selon|pour|"
    r"parmi|según|para|entre|por|secondo|tra|per|на основе|для|из)\b.*",
    re.DOTALL,
)
"""What only says more of a list: "Ranking *of the candidates*"."""

_ASIDE = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]")
_CLAUSES = re.compile(r"[,;.!。，；！](?:\s|$)|[。，；！]|：|:(?=\s)")
_LABEL = 3
"""Most words of a first clause that says by itself what a list is: "Excluded, since seen"."""
_SHORT = 4
"""Most words of a name that is a label. A longer one is a sentence, which may tell what it is based on."""
_UNSPACED = 8  # the same in letters, of a script without spaces
_UNSPACED_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]")
_OF_SENTENCES: tuple[Role, ...] = ("avoid", "draft", "final", "ranking", "more", "candidates")
_SENTENCES: dict[Role, re.Pattern[str]] = {
    "avoid": re.compile(
        r"\bnot(?: \w+){0,2} (?:recommend|suit|chosen|choose|included?|selected|pick)|\b(?:excluded|rejected|discarded|left out|"
        r"ruled out|avoid|skip|honou?rable mentions?|runners? up)\b|n't (?:recommend|choose|pick|make the|fit)|不推荐|排除|除外|제외|おすすめしない|お勧めしない|추천하지"
    ),
}
"""What a sentence says only in clearer words."""

_ADDED = re.compile(r"(?:because|since|if you|weil|parce|porque)\b")

_FILLER = re.compile(
    r"(?:my|the|your|our|here|are|is|list|movies?|films?|items?|books?|songs?|games?|products?|titles?|articles?|of|for|you|user|"
    r"the user|all|\d+|picks?|considered|given|die|der|das|meine|la|les|mes|el|los|las|mis|le|i|il)"
)
_WORD = re.compile(r"[\w'’-]+")


@lru_cache(maxsize=4096)
def role_of(name: str) -> Role:
    """What a name says of the list below it."""
    name = _ASIDE.sub(" ", name.casefold().replace("’", "'").replace("_", " "))
    clauses = [each for each in _CLAUSES.split(name) if _WORD.search(each)]
    if len(clauses) > 1:
        last, first = role_of(clauses[-1]), clauses[0]
        is_label = len(_WORD.findall(first)) <= _LABEL and not _FOLLOWS.match(first.strip())
        return role_of(first) if is_label and last in ("", "more") else last
    words = _WORD.findall(name)
    plain = " ".join(words)
    if _ADDED.match(plain):
        return "more"
    if len(words) > _SHORT or (
        words and max(map(len, words)) > _UNSPACED and _UNSPACED_SCRIPT.search(plain)
    ):
        for role in _OF_SENTENCES:
            if _SENTENCES.get(role, _PATTERNS[role]).search(plain):
                return role
        return ""
    for text in (_FOLLOWS.sub("", plain), plain):
        for role in ROLES:
            if _PATTERNS[role].search(text):
                return role
    return ""


@lru_cache(maxsize=4096)
def is_name(line: str) -> bool:
    """Whether a line without a colon or other marks can only be the name of a list: "Final ranking"."""
    words = _WORD.findall(line.casefold())
    if not 1 <= len(words) <= 5 or line.rstrip().endswith((".", "!", "?", ",")):
        return False
    kept = [word for word in words if not _FILLER.fullmatch(word)]
    return bool(kept) and all(any(p.fullmatch(word) for p in _PATTERNS.values()) for word in kept)
