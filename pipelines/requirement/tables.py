"""Examples written as a table with input and output columns."""

import re
from collections.abc import Sequence

from pipelines.requirement.arguments import accepts, call_from
from pipelines.requirement.expressions import called_names, exception_name, parse_expression, pythonic
from pipelines.requirement.markdown import Document, Table
from pipelines.requirement.reading import Reading, Region
from pipelines.requirement.types import Example, Signature

_OUTPUT_WORDS = re.compile(
    r"\b(?:output|expected|result|returns?|return value|ausgabe|erwartet|ergebnis|rückgabe|sortie|attendu|"
    r"résultat|retour|salida|esperad[oa]|resultado|saída|retorno|risultato|atteso|вывод|результат|ожидается)\b"
    r"|出力|結果|期待|戻り値|返り値|输出|结果|期望|返回|출력|결과|기대|반환",
    re.IGNORECASE,
)
_INPUT_WORDS = re.compile(
    r"\b(?:input|call|arguments?|args?|expression|example|parameters?|given|eingabe|aufruf|argumente?|beispiel|"
    r"entrée|appel|entrada|llamada|chamada|ingresso|chiamata|ввод|вход|вызов)\b|入力|引数|呼び出し|输入|参数|调用|입력|인수|호출",
    re.IGNORECASE,
)
_RAISES = re.compile(
    r"^(?:raises?|throws?|wirft|lève|lanza|lança|solleva|raise|抛出|вызывает)?\s*`?([\w.]+)`?(?:\s*を.*|\s*$)",
    re.IGNORECASE,
)
_STEPS_PER_ROW = 100


def read_tables(document: Document, reading: Reading) -> None:
    """Add a row of each input/output table as an example."""
    for table in document.tables:
        outputs = [index for index, title in enumerate(table.header) if _OUTPUT_WORDS.search(title)]
        if outputs and document.kind_at(table.rows[0][0] if table.rows else 1) != "actual":
            _read_table(table, outputs[-1], _only_function(reading), reading)


def _only_function(reading: Reading) -> Signature | None:
    return reading.function_for(Region(()))


def _read_table(table: Table, output: int, signature: Signature | None, reading: Reading) -> None:
    inputs = _input_columns(table.header, output, signature)
    columns = [
        [_code(row[index]) if index < len(row) else "" for _, row in table.rows]
        for index in range(len(table.header))
    ]
    quoted = {index: _as_text(columns[index], reading) for index in (*inputs, output)}
    for position, (line, row) in enumerate(table.rows):
        if not reading.effort.spend(_STEPS_PER_ROW):
            return
        reading.claimed.add(line)
        cells = {index: columns[index][position] for index in (*inputs, output)}
        text = "| " + " | ".join(row) + " |"
        values = [repr(cells[index]) if quoted[index] else cells[index] for index in inputs]
        expression = _expression(values, signature, reading)
        expected = repr(cells[output]) if quoted[output] and not _raised(cells[output]) else cells[output]
        _add(expression, expected, line, text, reading)


def _input_columns(header: Sequence[str], output: int, signature: Signature | None) -> list[int]:
    others = [index for index in range(len(header)) if index != output]
    if signature is not None:
        named = [index for name in signature.parameters for index in others if _code(header[index]) == name]
        if len(named) == len(signature.parameters):
            return named
    titled = [index for index in others if _INPUT_WORDS.search(header[index])]
    return titled or others[:1]


def _code(cell: str) -> str:
    stripped = cell.strip()
    return stripped.strip("`").strip() if stripped.startswith("`") and stripped.endswith("`") else stripped


def _as_text(cells: Sequence[str], reading: Reading) -> bool:
    """A column in which no cell is Python holds plain text, such as `Hello World`."""
    filled = [cell for cell in cells if cell and not _raised(cell)]
    return bool(filled) and not any(_is_python(cell, reading) for cell in filled)


def _is_python(cell: str, reading: Reading) -> bool:
    expression = pythonic(cell) or pythonic(f"f({cell})")
    if expression is None:
        return False
    tree = parse_expression(expression)
    return reading.value_of(expression) or (tree is not None and bool(called_names(tree)))


def _raised(cell: str) -> str | None:
    match = _RAISES.match(cell)
    return exception_name(match.group(1)) if match else None


def _expression(values: list[str], signature: Signature | None, reading: Reading) -> str | None:
    if len(values) == 1:
        text = pythonic(values[0])
        tree = parse_expression(text) if text else None
        if text and tree is not None and called_names(tree) and not reading.value_of(text):
            return text
    if signature is None:
        return None
    if len(values) == 1:
        return call_from(values[0], signature, reading)
    written = [pythonic(value) for value in values if value]
    if all(value is not None and reading.value_of(value) for value in written) and accepts(
        signature, len(written)
    ):
        return f"{signature.name}({', '.join(str(value) for value in written)})"
    return None


def _add(expression: str | None, expected: str, line: int, text: str, reading: Reading) -> None:
    raised = _raised(expected)
    value = pythonic(expected)
    if expression is None or (raised is None and (value is None or not reading.value_of(value))):
        reading.unread(line, text, "its cells are not Python values or do not fit the function")
    elif raised is not None:
        example = Example(kind="raises", expression=expression, expected=raised, line=line, text=text)
        reading.add(example, Region(()))
    else:
        example = Example(kind="value", expression=expression, expected=value or "", line=line, text=text)
        reading.add(example, Region(()))
