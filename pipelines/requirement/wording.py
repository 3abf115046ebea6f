"""How people join a call and its result: symbols, and words in ten languages."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

ARROW = r"(?:={1,3}>|-{1,3}>|→|⇒|➞|➔|➜|⟶|⟹|↦|⇨)"
_OPEN = r"[`*]{0,3}[ \t\u3000]{0,40}"
_SYMBOLS: tuple[tuple[Literal["arrow", "equals", "comment"], re.Pattern[str]], ...] = (
    ("arrow", re.compile(rf"{_OPEN}(?:\n[ \t]{{0,40}})?(?:(?:#|//)[ \t]{{0,9}})?{ARROW}[ \t]*(?:\n[ \t]*)?")),
    ("equals", re.compile(rf"{_OPEN}(?:(?:#|//)[ \t]*)?(?:={{1,3}}|≡|＝)(?![=>])[ \t]*")),
    ("comment", re.compile(r"[ \t]*;?[ \t]*(?:#|//)[ \t]*")),
)
_MODAL = r"""(?:(?:should|must|shall|will|would|has\s+to|needs\s+to|ought\s+to|is\s+expected\s+to|
    doit|devrait|debe|debería|tiene\s+que|deve|deveria|dovrebbe|долж(?:ен|на|но|ны)|to)\s+(?:also\s+|always\s+)?|
    应该|应当|应|必须|需要|会|将|要)?"""
_RETURNS = r"""(?:
    (?:return(?:s|ing)?|giv(?:es?|ing)|yields?|is|be|becomes?|equals?|equal|evaluates?\s+to|results?\s+in|produces?|outputs?|prints?)
        (?:\s+(?:equal\s+to|back))?|
    ergibt|liefert|ist|wird\s+zu|wird|
    retourner?|renvoyer|renvoie|donner?|vaut|valoir|être|est|produit|
    devolver|devuelve|devolve|retornar?|dar|da|es|ser|produce|genera|
    dá|é|produz|restituire|restituisce|ritornare|ritorna|dare|dà|essere|è|
    возвращает|возвращать|вернуть|верн[её]т|да[её]т|дать|равн[оаы]|равен|быть\s+равн[оаы]
    )(?!\w)|(?:返回|得到|等于|输出|给出|为|是)"""
_RAISES = r"""(?:
    rais(?:es?|ing)|throw(?:s|ing)?|fails?\s+with|errors?\s+with|rejects?\s+with|wirft|lever|lève|lance|lancer|déclenche|
    lanzar?|lança|lançar|levantar?|sollevare|solleva|lanciare|lancia|
    выбрасывает|выбросить|вызывает|вызвать|бросает|бросить)(?!\w)|(?:抛出|引发|触发)"""
_FILLER = r"""(?:\s*[:：])?(?:\s+(?:an?|the|exactly|value|string|list|number|integer|result|tuple|dict|
    dictionary|set|empty|den|die|das|einen|eine|ein|la|le|el|un|une|una|uma|um|il|lo|
    valeur|chaîne|liste|valor|cadena|lista|stringa|valore|wert|zeichenkette|
    строку|значение|список|число|исключение|ошибку)(?=\s))*[ \t\u3000]*"""
_FLAGS = re.VERBOSE | re.IGNORECASE
_VALUE_WORDS = re.compile(rf"[`*]{{0,3}}[ \t,、，]{{0,9}}{_MODAL}(?:{_RETURNS}){_FILLER}", _FLAGS)
_RAISE_WORDS = re.compile(rf"[`*]{{0,3}}[ \t,、，]{{0,9}}{_MODAL}(?:{_RAISES}){_FILLER}", _FLAGS)
_FRAMES = (
    (
        r"(?:soll(?:te)?|muss|müsste|wird|gibt)",
        r"(?:ergeben|liefern|zurückgeben|zurückliefern|sein|zurück)",
        False,
    ),
    (r"(?:soll(?:te)?|muss|müsste|löst)", r"(?:werfen|auslösen|aus)(?!\w)", True),
    (
        r"(?:の(?:結果|戻り値|返り値))?(?:は|が)[、,]?",
        r"(?:を返|に(?:な|変換)|とな|です|であ|と等し|を出力|の?こと)",
        False,
    ),
    (r"(?:は|が)[、,]?", r"(?:例外)?(?:を(?:送出|発生|投げ|スロー|raise)|が発生|で失敗)", True),
    (
        r"(?:의\s*결과)?(?:는|은|이|가)",
        r"(?:을|를)?\s*(?:반환|돌려|리턴|출력|이어야|이다|입니다|이\s*된|가\s*된|이\s*되|가\s*되)",
        False,
    ),
    (r"(?:는|은|이|가)", r"(?:을|를|이|가)?\s*(?:예외를?\s*)?(?:발생|던)", True),
)
_COMPILED_FRAMES = tuple(
    (
        re.compile(rf"[`*]{{0,3}}\s*(?:{before}){_FILLER}\s*", _FLAGS),
        re.compile(rf"[`*]{{0,3}}\s*{after}", re.IGNORECASE),
        raises,
    )
    for before, after, raises in _FRAMES
)
_INFINITIVE = re.compile(r"[`*\s,]*to\s", re.IGNORECASE)
OBLIGATION = re.compile(
    r"should|must|shall|expected|soll|muss|doit|devrait|deb|dev|dovr|应|必须|долж", re.IGNORECASE
)


class Joint(NamedTuple):
    """What stands between a call and its result."""

    end: int
    kind: Literal["arrow", "equals", "comment", "words"]
    raises: bool | None = None
    """True or False where words say so; None for symbols."""
    after: re.Pattern[str] | None = None
    """What must follow the result, in languages that put the verb last."""
    sure: bool = True
    """False for words that may describe today's behaviour."""
    is_infinitive: bool = False
    """True for "`f(1)` to return `2`", which needs a wish before it."""


def joints(text: str, position: int) -> Iterator[Joint]:
    """The readings of what follows a call at `position`, the likeliest first."""
    for kind, pattern in _SYMBOLS:
        if symbol := pattern.match(text, position):
            yield from (item._replace(sure=True) for item in _words(text, symbol.end()))
            yield Joint(symbol.end(), kind)
            return
    yield from _words(text, position)


def _words(text: str, position: int) -> Iterator[Joint]:
    for pattern, raises in ((_RAISE_WORDS, True), (_VALUE_WORDS, False)):
        if match := pattern.match(text, position):
            words = match.group()
            sure, is_infinitive = bool(OBLIGATION.search(words)), bool(_INFINITIVE.match(words))
            yield Joint(match.end(), "words", raises, sure=sure, is_infinitive=is_infinitive)
    for before, after, raises in _COMPILED_FRAMES:
        if match := before.match(text, position):
            yield Joint(match.end(), "words", raises, after)
