"""Choosing among candidates: given tests first, agreement of outputs second, the greedy answer on ties."""

from collections import Counter
from collections.abc import Sequence

from pipelines.checks.observe import Observation


def soft_vote(observed: Sequence[Sequence[Observation]]) -> list[float]:
    """Per candidate, the sum over inputs of the share of candidates that gave the same output.

    Expected values play no part (design section 4, rule 2). Inputs on which a candidate raised, hung or
    said nothing give it nothing, so that a crowd of broken candidates cannot win.
    """
    scores = [0.0] * len(observed)
    for answers in zip(*observed, strict=True):
        counts = Counter((answer.kind, answer.text) for answer in answers)
        for index, answer in enumerate(answers):
            if answer.kind == "value":
                scores[index] += counts[answer.kind, answer.text] / len(answers)
    return scores


def best_index(passed: Sequence[int], votes: Sequence[float]) -> int:
    """The candidate with most given tests passed, then most votes, then the earliest."""
    return max(range(len(passed)), key=lambda index: (passed[index], votes[index], -index))
