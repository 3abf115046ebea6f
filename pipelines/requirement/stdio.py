"""Examples for whole programs: a sample input and the output that it must give."""

import itertools
import re
from bisect import bisect
from collections.abc import Iterator

from pipelines.requirement.labelled import Pair, add_pair
from pipelines.requirement.markdown import Document, Heading, Line
from pipelines.requirement.reading import Reading, Region
from pipelines.requirement.types import Example

_PROGRAM = re.compile(
    r"\b(?:programs?|scripts?|stdin|stdout|standard (?:input|output)|command[- ]line|cli|reads?|prints?|"
    r"programm|skript|standardeingabe|programme|entrée standard|programa|entrada (?:estándar|padrão)|"
    r"programma|программ\w*)\b|プログラム|標準入力|程序|标准输入|프로그램|표준 입력|sample input",
    re.IGNORECASE,
)


def read_stdio(document: Document, reading: Reading) -> None:
    """Pair the texts under Input and Output headings: calls when one function is known, else program runs."""
    signature = reading.function_for(Region(()))
    is_program = not reading.signatures and any(_PROGRAM.search(line.text) for line in document.lines)
    for source, output in _pairs(document):
        numbers = {line.number for line in (*source, *output)}
        if numbers & reading.claimed or not source or not output:
            continue
        line, text = source[0].number, "\n".join(item.text for item in (*source, *output))
        if signature is not None:
            pair = Pair(line, "\n".join(item.text for item in source), output, text)
            add_pair(pair, signature, Region(()), reading)
        elif is_program:
            reading.claimed.update(numbers)
            stdin, stdout = ("".join(f"{item.text}\n" for item in part) for part in (source, output))
            reading.keep(Example(kind="stdio", stdin=stdin, expected=stdout, line=line, text=text))


def _pairs(document: Document) -> Iterator[tuple[tuple[Line, ...], tuple[Line, ...]]]:
    waiting: tuple[Line, ...] = ()
    starts = [block.line for block in document.blocks]
    ends = [heading.line for heading in document.headings[1:]] + [len(document.lines) + 1]
    for heading, end in zip(document.headings, ends, strict=False):
        if heading.kind == "input":
            waiting = _content(document, heading, end, bisect(starts, heading.line))
        elif heading.kind == "output" and waiting:
            yield waiting, _content(document, heading, end, bisect(starts, heading.line))
            waiting = ()


def _content(document: Document, heading: Heading, end: int, following: int) -> tuple[Line, ...]:
    """The code block that follows a heading, if it stands before `end`, or else the first paragraph."""
    if following < len(document.blocks) and document.blocks[following].line < end:
        return document.blocks[following].lines
    lines = itertools.dropwhile(lambda line: not line.text.strip(), document.lines[heading.line : end - 1])
    return tuple(itertools.takewhile(lambda line: line.text.strip(), lines))
