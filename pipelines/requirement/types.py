"""What an issue asks, as data (design section 1)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Base of the immutable records here."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Criterion(Frozen):
    """One checkable sentence of the requirement."""

    id: str
    """`C1`, `C2`, ..."""
    text: str
    origin: Literal["issue", "model"] = "issue"


class Example(Frozen):
    """An input and its expected output written by a person in the issue."""

    kind: Literal["value", "raises", "check", "stdio"]
    """`value`: expression == expected; `raises`: it raises; `check`: asserts in setup; `stdio`: program."""
    setup: tuple[str, ...] = ()
    """Statements to run first, in order (earlier lines of a doctest); for `check`, the asserts."""
    expression: str = ""
    """Python expression under test, such as `slugify("A b")`."""
    expected: str = ""
    """Expected value as an expression; for `raises` the exception name; for `stdio` the exact stdout."""
    printed: bool = False
    """True when `expected` is text that the expression prints, as a doctest of `print(...)` has it."""
    stdin: str = ""
    line: int
    """1-based line of the issue where it stands."""
    text: str
    """The example as the person wrote it."""


class CodeBlock(Frozen):
    """A fenced block of the issue."""

    language: str
    code: str
    line: int


class Signature(Frozen):
    """A function or class that the issue names, with its stub where the issue gives one."""

    name: str
    kind: Literal["function", "class"]
    stub: str = ""
    """The stub as written (header, annotations, docstring), or ''."""
    parameters: tuple[str, ...] = ()
    origin: Literal["issue", "example", "model"] = "issue"


class Source(Frozen):
    """Where the requirement came from; frozen when a trusted person asked."""

    path: str
    sha256: str
    """Of the issue's exact bytes."""


class Requirement(Frozen):
    """What the issue asks. Parsed by code; a model only adds what is missing."""

    title: str
    summary: str
    """The issue's prose, cleaned of hidden text, without examples and stubs."""
    body: str
    """The whole cleaned issue body, for prompts."""
    criteria: tuple[Criterion, ...] = ()
    examples: tuple[Example, ...] = ()
    signatures: tuple[Signature, ...] = ()
    code_blocks: tuple[CodeBlock, ...] = ()
    target_paths: tuple[str, ...] = ()
    """Paths (or dotted modules turned into paths) that the issue asks for, as written."""
    constraints: tuple[str, ...] = ()
    language: str = "en"
    """Human language of the prose, ISO 639-1."""
    notes: tuple[str, ...] = ()
    """What the parser dropped or could not read, for the person to see."""
    contradictions: tuple[str, ...] = ()
    """Pairs of examples that give one input two different outputs."""
    source: Source

    @property
    def is_program(self) -> bool:
        """Whether a program is wanted, which is started and not imported."""
        return any(example.kind == "stdio" for example in self.examples)
