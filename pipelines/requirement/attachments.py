"""Pictures and files that an issue links, whose content no part of this version reads."""

import re

from pipelines.requirement.markdown import parse_document

_INLINE_CODE = re.compile(r"`[^`\n]{1,500}`")
_TARGET = r"<?(https?://[^\s<>()\"']{1,2000})"
_ATTACHMENT = re.compile(
    rf"!\[[^\[\]\n]{{0,500}}\]\(\s{{0,9}}{_TARGET}"
    rf"|<img\b[^<>]{{0,2000}}?\bsrc\s{{0,9}}=\s{{0,9}}[\"']?{_TARGET}"
    r"|(https://(?:github\.com/user-attachments/(?:assets|files)/"
    r"|(?:private-)?user-images\.githubusercontent\.com/"
    r"|github\.com/[\w.-]{1,100}/[\w.-]{1,100}/(?:files|assets)/\d)[^\s<>()\"']{0,2000})",
    re.IGNORECASE,
)


def unread_attachments(body: str) -> tuple[str, ...]:
    """Addresses of the pictures and uploaded files in an issue's raw text, each once, code left out."""
    prose = "\n".join(line.text for line in parse_document(body).prose())
    found = (
        next(filter(None, match.groups())) for match in _ATTACHMENT.finditer(_INLINE_CODE.sub(" ", prose))
    )
    return tuple(dict.fromkeys(address.rstrip(".,;:!?*_]") for address in found))
