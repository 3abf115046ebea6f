"""Guess the human language of a text by its script and its most common words."""

import re
from collections import Counter

_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("ko", re.compile("[\u1100-\u11ff\uac00-\ud7a3]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_STOP_WORDS = {
    "en": "the of and to in is that for it with as be this should are an not by must when if from",
    "de": "der die das und ist nicht ein eine soll mit für auf wird werden von den dem muss wenn bei sich",
    "fr": "le la les des une est et pour dans que qui doit avec sur du au pas si ou cette",
    "es": "el los las una es y para con que debe en del si por al no como función cuando",
    "pt": "o os as uma é e para com que deve em do da não se por ao como função quando",
    "it": "il lo gli una è e per con che deve di del della non se dal nel come funzione quando",
    "nl": "de het een en van is niet voor met moet op dat die worden als bij aan",
    "pl": "i w na nie jest do się że oraz powinna powinien dla jeśli przez",
    "tr": "ve bir bu için ile olmalı değil eğer olan veya",
    "sv": "och att en ett är som för med inte ska på av om den",
}
_WORDS_BY_LANGUAGE = {code: frozenset(words.split()) for code, words in _STOP_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")
_UKRAINIAN = re.compile("[іїєґІЇЄҐ]")
_SAMPLE_CHARACTERS = 20_000
_SCRIPT_SHARE = 0.15


def language_of(text: str) -> str:
    """ISO 639-1 code of the prose; `en` when nothing tells."""
    sample = text[:_SAMPLE_CHARACTERS]
    words = _WORD.findall(sample.lower())
    return _by_script(sample, letters=sum(map(len, words))) or _by_stop_words(words)


def _by_script(text: str, *, letters: int) -> str | None:
    counts = {code: len(pattern.findall(text)) for code, pattern in _SCRIPTS}
    if counts["ja"] * 10 > counts["zh"]:
        counts["ja"] += counts.pop("zh")
    code, count = max(counts.items(), key=lambda item: item[1])
    if count == 0 or count < _SCRIPT_SHARE * letters:
        return None
    return "uk" if code == "ru" and _UKRAINIAN.search(text) else code


def _by_stop_words(words: list[str]) -> str:
    counts = Counter(words)
    scores = {code: sum(counts[word] for word in stop) for code, stop in _WORDS_BY_LANGUAGE.items()}
    best = max(scores, key=lambda code: (scores[code], code == "en"))
    return best if scores[best] else "en"
