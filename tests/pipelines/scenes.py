"""Requirements, repositories and model scripts for tests of strategies."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipelines.budget import Budget, Meter
from pipelines.ledger import Ledger
from pipelines.model.protocol import Completion, Model, ModelRequest
from pipelines.repository import RepositorySnapshot
from pipelines.requirement.parse import parse_issue
from pipelines.requirement.types import Requirement
from pipelines.run import Progress, Run, Services
from sandbox import SandboxBackend

ISSUE = """# Double a number

Add `double(x)` in `src/pkg/numbers_.py`, which returns twice its argument.

- Must work for negative numbers.

```python
>>> double(2)
4
>>> double(-3)
-6
```
"""
NO_EXAMPLE = "# Double a number\n\nAdd `def double(x: int) -> int` which returns twice its argument.\n"

RIGHT = "def double(x: int) -> int:\n    return 2 * x\n"
WRONG = "def double(x: int) -> int:\n    return x * x\n"
BROKEN = "def double(x):\n    return twice(x)\n"


def requirement(text: str = ISSUE) -> Requirement:
    return parse_issue(text.encode(), path="issue.md")


def snapshot(**files: str) -> RepositorySnapshot:
    texts = {"src/pkg/__init__.py": "", **{path.replace("__", "/"): text for path, text in files.items()}}
    return RepositorySnapshot(files={path: text.encode() for path, text in texts.items()}, tree="t" * 40)


def run_with(
    folder: Path,
    model: Model | None,
    backend: SandboxBackend | None,
    *,
    shown: list[Progress] | None = None,
    **budget: Any,
) -> Run:
    meter = Meter(Budget.model_validate(budget))
    listener = shown.append if shown is not None else lambda _: None
    return Run(Services(model, backend, Ledger(folder / "ledger.sqlite3"), meter, listener), seed=1)


def kind_of(request: ModelRequest) -> str:
    """Which of our prompts a request is."""
    text = request.messages[-1].content
    if request.response_schema is not None:
        return "analyst"
    if "fails these checks" in text:
        return "repair"
    if re.search(r"Write \d+ (different checks|short test functions)", text):
        return "tester"
    return "sample" if request.temperature else "greedy"


def by_kind(**answers: str | list[str]) -> Callable[[ModelRequest], str | Completion]:
    """A script that answers by the kind of request; a list is used up in order, its last item stays."""
    left = {kind: [said] if isinstance(said, str) else list(said) for kind, said in answers.items()}

    def answer(request: ModelRequest) -> str:
        said = left[kind_of(request)]
        return said.pop(0) if len(said) > 1 else said[0]

    return answer


def cut_off(text: str) -> Completion:
    """An answer that reached its limit."""
    return Completion(
        text=text, finish_reason="length", prompt_tokens=1, completion_tokens=1, seconds=0, model="scripted"
    )
