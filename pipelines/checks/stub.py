"""A stand-in with the same names whose every use raises: a test that passes on it proves nothing."""

import ast

from pipelines.candidate import Candidate

_RAISE = "raise NotBuiltYet"
_HEADER = '''class NotBuiltYet(BaseException):
    """Not an Exception, so that a test which accepts any exception still fails."""
'''


def raising_stub(candidate: Candidate) -> Candidate:
    """The candidate with every function, method and class of its Python files raising when used."""
    files = {
        path: stub_module(text) if path.endswith(".py") else text for path, text in candidate.files.items()
    }
    return Candidate(files=files, origin=f"raising stub of {candidate.origin}")


def stub_module(source: str) -> str:
    """A module with the same top-level functions and classes, each raising; '' for broken source."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ""
    parts = [_stub(node) for node in tree.body]
    return "\n\n".join([_HEADER, *(part for part in parts if part)]) + "\n"


def _stub(node: ast.stmt) -> str:
    match node:
        case ast.FunctionDef(name=name):
            return f"def {name}(*args, **kwargs):\n    {_RAISE}"
        case ast.AsyncFunctionDef(name=name):
            return f"async def {name}(*args, **kwargs):\n    {_RAISE}"
        case ast.ClassDef(name=name):
            return (
                f"class {name}:\n    def __init__(self, *args, **kwargs):\n        {_RAISE}"
                + _class_methods(node)
            )
    return ""


def _class_methods(node: ast.ClassDef) -> str:
    """Static and class methods can be used without an instance, so they must raise too."""
    methods = [item for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
    return "".join(
        f"\n\n    @staticmethod\n    def {method.name}(*args, **kwargs):\n        {_RAISE}"
        for method in methods
        if method.decorator_list
    )
