"""Read every example that a person wrote in an issue."""

from pipelines.requirement.assertions import read_assert_lines, read_test_code
from pipelines.requirement.calls import read_calls
from pipelines.requirement.doctests import read_doctests
from pipelines.requirement.labelled import read_labelled
from pipelines.requirement.markdown import Document
from pipelines.requirement.reading import Reading, Region
from pipelines.requirement.stdio import read_stdio
from pipelines.requirement.tables import read_tables
from pipelines.requirement.types import Signature

_READERS = (read_doctests, read_test_code, read_assert_lines, read_labelled, read_calls)


def read_examples(
    document: Document, areas: tuple[Region, ...], signatures: tuple[Signature, ...]
) -> Reading:
    """All examples in the order of their lines; each line is read by the first form that fits it."""
    reading = Reading({signature.name: signature for signature in signatures})
    for region in areas:
        for read in _READERS:
            read(region, reading)
    read_tables(document, reading)
    read_stdio(document, reading)
    reading.examples.sort(key=lambda example: example.line)
    return reading
