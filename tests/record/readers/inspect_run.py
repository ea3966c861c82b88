"""The conversation of the reader tests, run by Inspect AI itself: it writes the logs."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Literal

from inspect_ai import Task, eval_async
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, system_message
from inspect_ai.solver import use_tools as with_tools
from inspect_ai.tool import Tool, ToolCall, ToolError, tool

from record.readers.dialects import ANSWER, CALLS, QUESTION, RESULTS, THOUGHT

LONG = " It lies where two rivers meet." * 40
"""Makes a result long enough for Inspect to move it aside."""


@tool(name="search")
def search() -> Tool:
    """A search that finds a long page."""

    async def execute(q: str) -> str:
        """Search.

        Args:
            q: what for.
        """
        return RESULTS["c1"] + LONG

    return execute


@tool(name="lookup")
def lookup() -> Tool:
    """A look-up that finds nothing."""

    async def execute(q: str) -> str:
        """Look up.

        Args:
            q: what.
        """
        return RESULTS["c2"]

    return execute


@tool(name="fetch")
def fetch() -> Tool:
    """A page that is gone."""

    async def execute(u: int) -> str:
        """Fetch.

        Args:
            u: number of the page.
        """
        raise ToolError("page is gone")

    return execute


@solver
def unlucky() -> Solver:
    """A sample of its own kind that ends in an error."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id == "broken":
            raise RuntimeError("the machine is on fire")
        return state

    return solve


def _replies() -> list[ModelOutput]:
    calls = [ToolCall(id=name, function=called, arguments=given) for name, called, given in CALLS]
    turns: list[tuple[str, list[Any] | None]] = [
        (THOUGHT, calls[:2]),
        ("", calls[2:]),
        (ANSWER, None),
    ]
    replies = []
    for text, made in turns:
        output = ModelOutput.from_content("mockllm/model", text)
        output.choices[0].message = ChatMessageAssistant(content=text, tool_calls=made)
        output.usage = ModelUsage(input_tokens=40, output_tokens=7, total_tokens=47)
        replies.append(output)
    return replies


async def write_logs(folder: Path, form: Literal["eval", "json"]) -> None:
    """Run two samples, one of which ends in an error, and keep the log in a folder."""
    task = Task(
        dataset=[
            Sample(id="broken", input=QUESTION, target="Danube"),
            Sample(id="whole", input=QUESTION, target="Danube"),
        ],
        solver=[
            unlucky(),
            system_message("Be brief."),
            with_tools(search(), lookup(), fetch()),
            generate(),
        ],
        scorer=includes(),
        name="rivers",
    )
    await eval_async(
        task,
        model=get_model("mockllm/model", custom_outputs=itertools.cycle(_replies())),
        log_dir=str(folder),
        log_format=form,
        fail_on_error=False,
        max_samples=1,
    )
