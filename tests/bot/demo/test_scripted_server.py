"""The stand-in for a model: its first answer fails an example of the sample issue, its repair does not."""

import json
import urllib.request
from typing import Any

import pytest

from bot.demo.scripted_server import run_scripted_server, sample_answer


def asked(text: str, **more: object) -> dict[str, Any]:
    prefill = {"role": "assistant", "content": "```python\n"}
    return {"messages": [{"role": "user", "content": text}, prefill], **more}


def function(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(code, names)
    return names["sales_per_tea"]


def test_the_first_answer_is_wrong_and_the_repair_is_right() -> None:
    hasty = function(sample_answer(asked("Write the Python file that it asks for.")))
    right = function(sample_answer(asked("It fails these checks, which are right:")))
    sales = ["Green", "black", " green "]
    assert hasty(sales) != {"green": 2, "black": 1}
    assert right(sales) == {"green": 2, "black": 1}
    with pytest.raises(ValueError, match="a sale without a name"):
        right(["Oolong", "  "])


def test_the_written_checks_hold_for_the_repair() -> None:
    names = {"sales_per_tea": function(sample_answer(asked("It fails these checks, which are right:")))}
    exec(sample_answer(asked("Write 3 different checks of `sales_per_tea`")), names)


def test_it_streams_an_answer_over_http() -> None:
    with run_scripted_server(lambda request: request["messages"][0]["content"].upper()) as url:
        body = json.dumps(asked("hello")).encode()
        with urllib.request.urlopen(f"{url}/chat/completions", body, timeout=10) as answer:
            lines = answer.read().decode().split("\n\n")
        with urllib.request.urlopen(f"{url}/models", timeout=10) as answer:
            assert json.loads(answer.read())["data"][0]["id"] == "scripted"
    assert json.loads(lines[0].removeprefix("data: "))["choices"][0]["delta"]["content"] == "HELLO"
    assert lines[-2] == "data: [DONE]"
