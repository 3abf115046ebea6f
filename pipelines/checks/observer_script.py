"""Runs inside the sandbox, alone: evaluates calls and prints what each gave, one JSON line per call.

Standard input: {"imports": [statement, ...], "calls": [expression, ...], "seconds": per call}.
"""

import json
import signal
import sys
import types
from typing import Any

MAX_TEXT = 2000


def canonical(value: Any, depth: int = 0) -> str:
    """One text for equal values: floats to nine digits, sets and dicts in order, objects by their state."""
    if depth > 20:
        return "..."
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, float):
        return format(value, ".9g")
    if isinstance(value, list | tuple):
        inner = ",".join(canonical(item, depth + 1) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, set | frozenset):
        return "{" + ",".join(sorted(canonical(item, depth + 1) for item in value)) + "}"
    if isinstance(value, dict):
        pairs = sorted((canonical(k, depth + 1), canonical(v, depth + 1)) for k, v in value.items())
        return "{" + ",".join(f"{k}:{v}" for k, v in pairs) + "}"
    if isinstance(value, types.GeneratorType):
        return "generator" + canonical([item for _, item in zip(range(100), value, strict=False)], depth + 1)
    if "__repr__" not in {name for kind in type(value).__mro__[:-1] for name in vars(kind)}:
        return type(value).__name__ + canonical(vars(value) if hasattr(value, "__dict__") else {}, depth + 1)
    return repr(value)


class TookTooLongError(BaseException):
    """Raised in the code under observation when a call exceeds its time."""


def _alarm(_signum: int, _frame: object) -> None:
    raise TookTooLongError


def observe(call: str, namespace: dict[str, Any], seconds: float) -> dict[str, str]:
    """What a call gave: a value's canonical text, or the type of what it raised."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        value = eval(call, dict(namespace))
        text = canonical(value)
    except TookTooLongError:
        return {"kind": "timeout", "text": ""}
    except BaseException as error:
        return {"kind": "raised", "text": type(error).__name__}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return {"kind": "value", "text": text[:MAX_TEXT]}


def main() -> None:
    """Read the job, print one line per call."""
    job = json.load(sys.stdin)
    out, sys.stdout = sys.stdout, sys.stderr
    signal.signal(signal.SIGALRM, _alarm)
    namespace: dict[str, Any] = {}
    for statement in job["imports"]:
        exec(statement, namespace)
    for call in job["calls"]:
        print(json.dumps(observe(call, namespace, job["seconds"])), file=out, flush=True)


if __name__ == "__main__":
    main()
