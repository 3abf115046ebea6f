"""What a section heading announces, in ten languages."""

import re
import unicodedata
from typing import Literal

HeadingKind = Literal[
    "description", "examples", "criteria", "target", "constraints", "attachments", "actual", "input", "output"
]

_WORDS: dict[HeadingKind, str] = {
    "description": """
        requirement|requirements|description|summary|feature|feature request|what|problem|task|goal|overview|
        anforderung|beschreibung|aufgabe|zusammenfassung|exigence|besoin|tâche|résumé|
        requisito|descripción|tarea|resumen|descrição|tarefa|resumo|descrizione|compito|riassunto|
        要件|要求|説明|概要|課題|内容|描述|说明|需求|任务|概述|요구사항|요구 사항|설명|개요|требование|
        описание|задача""",
    "examples": """
        example|examples|sample|samples|usage|example usage|usage example|usage examples|test cases|tests|
        for example|e.g|expected behavior|expected behaviour|expected|
        beispiel|beispiele|verwendung|erwartetes verhalten|exemple|exemples|utilisation|comportement attendu|
        ejemplo|ejemplos|uso|comportamiento esperado|exemplo|exemplos|comportamento esperado|
        esempio|esempi|comportamento atteso|例|使用例|入出力例|サンプル|期待する動作|示例|例子|样例|用例|
        期望行为|
        예|예시|예제|사용 예|пример|примеры|использование|ожидаемое поведение""",
    "criteria": """
        acceptance criteria|acceptance|criteria|definition of done|done when|acceptance tests|
        akzeptanzkriterien|abnahmekriterien|kriterien|critères d'acceptation|critères|exigences|
        criterios de aceptación|criterios|requisitos|critérios de aceitação|critérios|
        criteri di accettazione|criteri|anforderungen|
        受け入れ条件|受入条件|受け入れ基準|完了条件|验收标准|验收条件|인수 조건|완료 조건|수용 기준|
        критерии приёмки|критерии приемки|критерии|требования""",
    "target": """
        target path|target|target file|target module|path|file|module|location|where|package path|
        zielpfad|pfad|datei|modul|ziel|chemin cible|chemin|fichier|ruta de destino|ruta|archivo|
        caminho de destino|caminho|arquivo|ficheiro|percorso di destinazione|percorso|destinazione|
        対象パス|出力先|パス|ファイル|配置先|目标路径|路径|文件|位置|대상 경로|경로|파일|целевой путь|путь|
        файл""",
    "constraints": """
        constraint|constraints|limits|limitations|restrictions|non-functional requirements|
        einschränkungen|einschränkung|randbedingungen|grenzen|contraintes|contrainte|limites|
        restricciones|limitaciones|restrições|limitações|vincoli|limitazioni|
        制約|制限|制約条件|约束|限制|约束条件|제약|제약 조건|제한|ограничения""",
    "attachments": """
        attachment|attachments|files|screenshots|screenshot|anhang|anhänge|pièces jointes|fichiers joints|
        adjuntos|archivos adjuntos|anexos|allegati|添付|添付ファイル|附件|첨부|첨부 파일|вложения""",
    "actual": """
        actual|actual behavior|actual behaviour|current behavior|current behaviour|actual result|observed|
        what happened|aktuelles verhalten|tatsächliches verhalten|comportement actuel|comportamiento actual|
        comportamento atual|comportamento attuale|現在の動作|実際の動作|当前行为|实际行为|현재 동작|
        текущее поведение""",
    "input": """
        input|sample input|example input|standard input|stdin|eingabe|beispieleingabe|entrée|entrada|
        entrada de ejemplo|entrada de exemplo|input di esempio|入力|入力例|输入|样例输入|输入样例|입력|
        예제 입력|
        ввод|входные данные|вход""",
    "output": """
        output|sample output|example output|expected output|standard output|stdout|ausgabe|beispielausgabe|
        erwartete ausgabe|sortie|sortie attendue|salida|salida esperada|salida de ejemplo|saída|
        saída esperada|
        saída de exemplo|output atteso|出力|出力例|输出|样例输出|输出样例|출력|예제 출력|вывод|
        выходные данные|выход""",
}
_DECORATION = re.compile(r"^[\W\d_]+|[\W\d_]+$")


def _normal(text: str) -> str:
    return _DECORATION.sub("", unicodedata.normalize("NFC", text).casefold())


_KINDS: dict[str, HeadingKind] = {
    _normal(word): kind for kind, words in _WORDS.items() for word in words.split("|")
}


def heading_kind(heading: str) -> HeadingKind | None:
    """The kind of section that a heading such as `✅ Acceptance criteria (3):` opens, or None."""
    text = _normal(re.sub(r"\([^()]{0,80}\)|（[^（）]{0,80}）", "", heading[:200]))
    return _KINDS.get(text)
