"""What people say around a call and its result that makes it no example of what they want."""

import re

from pipelines.requirement.wording import Joint

TODAY = "it may describe what happens today"
_REACH = 120
_AT_PRESENT = re.compile(
    r"\b(?:currently|right\s+now|at\s+the\s+moment|today|actually|previously|(?:before|got|actual|old)\s*:|"
    r"aktuell|derzeit|bisher|vorher\s*:|actuellement|avant\s*:|actualmente|antes\s*:|atualmente|"
    r"attualmente|prima\s*:|сейчас|раньше)(?!\w)|現在|以前|目前|当前|之前|현재|이전",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"\b(?:instead|but|however|rather|statt|sondern|aber|au\s+lieu|mais|en\s+(?:lugar|vez)|pero|mas|invece|"
    r"вместо|но)\b|而不是|但|代わり|대신",
    re.IGNORECASE,
)
_DISAPPROVAL = re.compile(
    r"\b(?:wrong|wrongly|incorrect|incorrectly|bug|broken|unexpected|unexpectedly|falsch|fehlerhaft|faux|"
    r"incorrecto|errado|incorreto|sbagliato|неверно|неправильно)\b|錯誤|错误|間違|誤り|잘못",
    re.IGNORECASE,
)
_REFUSAL_BEFORE = re.compile(
    r"\b(?:don['’]?t|do\s+not|never|mustn['’]?t|must\s+not|shouldn['’]?t|should\s+not|avoid|stop|prevent|"
    r"no\s+longer|not|instead\s+of|rather\s+than|nie|nicht|statt|jamais|au\s+lieu\s+de|nunca|mai|не|вместо)\b"
    r"[^,.;:，。；：\n]{0,30}$",
    re.IGNORECASE,
)
_REFUSAL_AFTER = re.compile(
    r"(?![^。\n]{0,16}なければ)[^。、，,.\n`]{0,16}(?:ない|ません|いけな|不可|않|안\s*[된되돼]|말아)"
)
_UNSURE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|vielleicht|peut-être|quizás?|talvez|forse|возможно)(?!\w)|"
    r"たぶん|也许|아마",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(
    r"[`*]{0,3}\s*(?:(?:,|and\b)\s*`?(?:[-\d\"'\[({]|\.\.|…)|"
    r"(?:or|oder|ou|o|или)\s|或|または|또는|\|\s*`?[-\d\"'\[({])",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"[`*]{0,3}[\s,]*\(?(?:only\s+)?(?:if|when|unless|while|as\s+an?|wenn|falls|als\s+\w|si|quand|sauf|cuando|"
    r"salvo|se|quando|если|когда|кроме)\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:expect(?:ed|ing)?|want(?:ed)?|like|need|prefer|hope[ds]?)\b[^.;\n]{0,60}$", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<!\.\w)[.!?;](?=\s|$)|[。！？；]")
_MERE_WORDS = re.compile(r"[ \t]*[^\W\d_][^`()\n:]*[^`()\n:.]\n")
_OPERAND_BEFORE = re.compile(
    r"(?:\b(?:await|not)\s+|[\w)\]}\"'][ \t]*(?:[-+*/%&|^@<]|\*\*|//)[ \t]*|"
    r"[\d)\]}\"'][ \t]+in[ \t]+|(?<![\w`*-])-)$"
)
_OPERAND_AFTER = re.compile(r"[ \t]*[-+*/%@][ \t]*[A-Za-z_]\w*[ \t]*(?:$|\n|[-+*/%(,.;])")
_CODE = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"")


def doubt(text: str, start: int, joint: Joint, value_end: int) -> str:
    """Why a call at `start` with a result up to `value_end` is no example of what is wanted, or ''."""
    if _OPERAND_BEFORE.search(text, max(0, start - _REACH), start) or _OPERAND_AFTER.match(text, value_end):
        return "it is part of a larger expression"
    before, after = _before(text, start), _after(text, value_end)
    return _doubt_of_wish(before, after, joint) or _doubt_of_result(before, after)


def _doubt_of_wish(before: str, after: str, joint: Joint) -> str:
    """Whether a person wants this result, as far as the sentence says."""
    is_wished = _WISH.search(before) is not None
    if joint.is_infinitive and not is_wished:
        return "it does not say that this is wanted"
    is_wanted = is_wished or (joint.kind == "words" and joint.sure)
    if not is_wanted:
        is_turned = joint.kind == "words" and _CONTRAST.search(after)
        if is_turned or _AT_PRESENT.search(before) or _DISAPPROVAL.search(f"{before} {after}"):
            return TODAY
    if _REFUSAL_BEFORE.search(before) or (joint.after is not None and _REFUSAL_AFTER.match(after)):
        return "it may say what must not happen"
    return ""


def _doubt_of_result(before: str, after: str) -> str:
    """Whether this is the only and unconditional result."""
    if _UNSURE.search(before) or after.rstrip(" \t`*|)").endswith(("?", "？")):
        return "it is a question"
    if _ALTERNATIVE.match(after):
        return "it gives more than one result"
    return "it holds under a condition only" if _CONDITION.match(after) else ""


def _before(text: str, start: int) -> str:
    """The part of the sentence before the call; a line of mere words above a call belongs to it."""
    line_start = text.rfind("\n", 0, start) + 1
    if not text[line_start:start].strip(" \t`*"):
        above = text[text.rfind("\n", 0, max(0, line_start - 1)) + 1 : line_start]
        line_start -= len(above) if _MERE_WORDS.fullmatch(above) else 0
    nearest = max(line_start, start - _REACH)
    ends = [match.end() for match in _SENTENCE_END.finditer(text, nearest, start)]
    return _CODE.sub(" ", text[ends[-1] if ends else nearest : start])


def _after(text: str, end: int) -> str:
    """The rest of the sentence after the result, on its line."""
    line_end = text.find("\n", end, end + _REACH)
    farthest = line_end if line_end >= 0 else min(len(text), end + _REACH)
    match = _SENTENCE_END.search(text, end, farthest)
    return text[end : match.end() if match else farthest]
