"""Issues that ask for an explanation and say that they want no code."""

import re

from pipelines.requirement.types import Requirement

_EXPLAIN = (
    r"(?:explain|describe|summari[sz]e|explore|investigate|answer|tell"
    r"|erklär(?:e|en)?|erläuter(?:e|n)|beschreib(?:e|en)?|beantworten?"
    r"|expli(?:que[zr]?|ca|car)|décri(?:s|vez|re)|répond(?:s|ez|re)|describ(?:e|a|ir)|respond(?:e|a|er))"
)
_ONLY = "(?:just|only|nur|bloß|lediglich|juste|seulement|simplement|solo|sólo|solamente)"
_ASKED = (
    r"(?:how|why|what|where|when|which|wie|warum|wieso|was|wo|wann|welche[rs]?|comment|pourquoi|que|quoi|où|quand"
    r"|cómo|por qué|qué|dónde|cuándo)"
)
_TO_WHOM = r"(?:to me|me|us|it|this|that|mir|uns|es|das|cela|ça|nous|esto|nos|sie)"
_THING = (
    r"(?:any |an? |de |ningún )?"
    r"(?:code|quellcode|c[óo]digo|prs?|pull[- ]requests?|implementation|implementierung|implementación)"
)
_OUTRIGHT = re.compile(
    rf"{_ONLY} {_EXPLAIN}(?: {_TO_WHOM})?(?: {_ASKED}\b.*)?"
    rf"|{_EXPLAIN}(?: {_TO_WHOM})? {_ONLY}(?: {_ASKED}\b.*)?"
    r"|(?:this is )?(?:just|only) an? (?:question|explanation)|(?:explanation|question)s? only"
    rf"|(?:do not|don['’]?t) (?:write|generate|produce|implement|create|open|make) {_THING}"
    rf"|i (?:do not|don['’]?t) (?:want|need) {_THING}|write no {_THING}"
    rf"|(?:schreib(?:e|en sie)?|erzeuge|ich (?:will|brauche)) keinen? {_THING}"
    rf"|keinen? {_THING} (?:schreiben|erzeugen)"
    rf"|n['’]écri(?:s|vez) (?:pas|aucun) {_THING}|ne pas écrire {_THING}"
    rf"|no (?:quiero|necesito|escribas|escriba|escribir|generes) {_THING}"
)
_BARE = re.compile(
    rf"(?:no|without|keinen?|ohne|pas|aucun|sans|sin) {_THING}(?: changes?)?"
    r"(?: needed| required| necessary| wanted| nötig| notwendig| erforderlich)?"
)
_ASKS = re.compile(rf"(?:{_EXPLAIN}|{_ASKED})\b")
_LIST_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d+[.)])\s.*$", re.MULTILINE)
_BUILDS = re.compile(
    r"(?:add|implement|write|create|build|make|generate|fix|support|refactor|port|extend|rename|"
    r"replace|remove|introduce|provide|feature|füge|implementiere|schreib|erstell|baue|ergänz|erweiter|behebe|"
    r"ajout|impl[eé]ment|écri|cré|corrig|añad|agreg|escrib|crea)"
    r"|.*\b(?:hinzufügen|implementieren|erstellen|schreiben)$"
    r"|.*\b(?:need|want|brauche[n]?|besoin d|necesit\w+) (?:an?|eine?n?|une?|una?) "
    r"(?:\w+ )?(?:function|class|module|script|program|funktion|klasse|modul|fonction|classe|función|clase)\b"
)
_CLAUSE_END = re.compile(r"[.!?;:,\n()。、]+|\s[-–—]+\s|\s(?:and|but|und|aber|et|mais|y|pero)\s")
_POLITE = ("please", "bitte", "s'il vous plaît", "s’il vous plaît", "svp", "por favor", "thanks", "merci")
_EDGES = " \t*_`'\"#>~=|-–—"


def wants_no_code(requirement: Requirement) -> bool:
    """Whether an issue says outright that it wants an answer and no code.

    Anything that speaks for code (an example, a stub, a request to build) decides against it.
    """
    if requirement.examples or any(s.stub for s in requirement.signatures if s.origin == "issue"):
        return False
    text = f"{requirement.title}\n{requirement.summary}".casefold()
    said = _clauses(_LIST_ITEM.sub("", text))
    asks = "?" in text or any(_ASKS.match(clause) for clause in said)
    none = {clause for clause in said if _OUTRIGHT.fullmatch(clause) or (asks and _BARE.fullmatch(clause))}
    return bool(none) and not any(_BUILDS.match(clause) for clause in _clauses(text) if clause not in none)


def _clauses(text: str) -> list[str]:
    return [_plain(clause) for clause in _CLAUSE_END.split(text)]


def _plain(clause: str) -> str:
    text = clause.strip(_EDGES)
    for word in _POLITE:
        text = text.removeprefix(f"{word} ").removesuffix(f" {word}").strip(_EDGES)
    return text
