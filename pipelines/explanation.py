"""Answering an issue that wants an explanation and no code: one call, with what matters of the repository."""

from pipelines.errors import ModelError
from pipelines.model.protocol import ModelRequest
from pipelines.model.thinking import strip_thinking
from pipelines.prompting import prompt
from pipelines.repository import RepositorySnapshot
from pipelines.repository.relevance import outline, relevant_files
from pipelines.requirement.types import Requirement
from pipelines.run import Run

_TOKENS = 1024
_BODY_CHARACTERS = 8_000


async def explain(run: Run, requirement: Requirement, snapshot: RepositorySnapshot) -> str:
    """The planner's answer as Markdown.

    Raises ModelError for no answer or one that was cut off, BudgetExceeded, InfrastructureError.
    """
    run.report("explaining", requirement.title)
    question = f"{requirement.title}\n{requirement.body}"
    messages = prompt(
        "explain/answerer",
        outline=outline(snapshot),
        files=relevant_files(snapshot, question),
        title=requirement.title,
        body=requirement.body[:_BODY_CHARACTERS],
    )
    request = ModelRequest(role="planner", messages=messages, max_tokens=_TOKENS)
    completion = await run.complete(request, label="explanation")
    if completion.finish_reason == "length":
        raise ModelError(f"the explanation was cut off at {_TOKENS} tokens; ask a narrower question")
    answer = strip_thinking(completion.text).strip()
    if not answer:
        raise ModelError("the model gave no explanation; ask again or in other words")
    return answer
