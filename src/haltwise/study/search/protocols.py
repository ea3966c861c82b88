"""How an agent writes its actions: as text, as tool calls, or in tags. Pure text in, a turn out.

Knows nothing of arms or faults. A protocol also names a grammar (GBNF) that binds a model too small
to keep to the form by itself; models that keep to it are not bound.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol as Shape

from ...enforce.messages import Call, Message
from . import prompts


@dataclass(frozen=True, slots=True)
class Response:
    """What a model gave back."""

    text: str
    calls: tuple[Call, ...] = ()
    truncated: bool = False
    """Whether the limit of tokens cut it off."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    yes: float | None = None
    """P(yes) against no, in [0, 1], of a yes/no question; None where the model does not tell."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A response as an action."""

    thought: str
    """What the agent wrote before its action."""
    actions: tuple[tuple[str, str], ...] = ()
    """(tool, argument) of every action it asked for; more than one is a failure."""
    answer: str | None = None
    """The answer; None where it gave none."""


class Protocol(Shape):
    """One way of writing actions."""

    @property
    def name(self) -> str:
        """The word for ``--protocol``."""
        ...

    @property
    def template(self) -> str:
        """System text."""
        ...

    @property
    def stop(self) -> tuple[str, ...]:
        """Texts at which generation ends."""
        ...

    def tools(self, available: tuple[str, ...]) -> tuple[str, ...]:
        """Return the tools that the protocol can call."""
        ...

    def read(self, response: Response) -> Turn:
        """Return the response as an action."""
        ...

    def forced(self, response: Response) -> str:
        """Return the answer in a forced response; empty where it has none."""
        ...

    def observed(self, text: str, response: Response) -> Message:
        """Return the observation as a message that follows ``response``."""
        ...

    def grammar(self, tools: tuple[str, ...], forced: bool) -> str | None:
        """Return a grammar for the next turn, or None where the form cannot be bound."""
        ...


_THINKING = re.compile(r"^\s*<think>.*?</think>\s*", re.DOTALL | re.IGNORECASE)
_ACTION = re.compile(r"\b(search|lookup|backup_search|finish)\s*\[([^\]\n]*)\]?", re.IGNORECASE)
_LINE = re.compile(r"^\s*Action\s*\d*\s*:\s*(.*)$", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"\s*(thought|action)\b", re.IGNORECASE)
_LABELLED = re.compile(r"^\s*(?:final\s+)?answer\s*:\s*(.+)$", re.IGNORECASE | re.MULTILINE)


class React:
    """Thought and action as two lines of text: ``Action: search[Harrow Bridge]``."""

    name = "react"
    template = prompts.REACT
    stop = ("\nObservation:", "\nobservation:")

    def tools(self, available: tuple[str, ...]) -> tuple[str, ...]:
        """All of them."""
        return available

    def read(self, response: Response) -> Turn:
        """Take the actions on lines that begin with "Action:"."""
        text = _THINKING.sub("", response.text)
        lines = list(_LINE.finditer(text))
        thought = (text[: lines[0].start()] if lines else text).strip()
        found = [match for line in lines for match in _ACTION.finditer(line[1])]
        actions = tuple(
            (match[1].lower(), match[2].strip()) for match in found if match[1].lower() != "finish"
        )
        answers = [match[2].strip() for match in found if match[1].lower() == "finish"]
        return Turn(thought, actions, answers[0] if answers else None)

    def forced(self, response: Response) -> str:
        """Take finish[...], else a line "Answer: ...", else the text itself; never a search."""
        text = _THINKING.sub("", response.text).strip()
        finish = re.search(r"finish\s*\[([^\]\n]*)\]?", text, re.IGNORECASE)
        if finish:
            return finish[1].strip()
        labelled = _LABELLED.search(text)
        if labelled:
            return labelled[1].strip()
        if _ACTION.search(text) or response.calls:
            return ""
        return " ".join(line for line in text.splitlines() if not _LABEL.match(line)).strip()

    def observed(self, text: str, response: Response) -> Message:
        """A result without a call id: text agents get it as a user turn."""
        return Message("tool", text)

    def grammar(self, tools: tuple[str, ...], forced: bool) -> str | None:
        """Two lines with one action; the second one alone, and only finish, when forced."""
        if forced:
            return 'root ::= "Action: finish[" [^\\n\\[\\]]{1,80} "]"'
        names = " | ".join(f'"{name}"' for name in (*tools, "finish"))
        return (
            'root ::= "Thought: " [^\\n\\[\\]]{8,100} "\\nAction: " name '
            '"[" [^\\n\\[\\]]{1,80} "]"\n'
            f"name ::= {names}"
        )


class Native:
    """Tool calls of the model's own API; a reply without a call is the answer."""

    name = "native"
    template = prompts.NATIVE
    stop: tuple[str, ...] = ()

    def tools(self, available: tuple[str, ...]) -> tuple[str, ...]:
        """All of them."""
        return available

    def read(self, response: Response) -> Turn:
        """Take the calls; without any the text is the answer."""
        text = _THINKING.sub("", response.text).strip()
        if not response.calls:
            return Turn("", (), _short(text) or None)
        return Turn(text, tuple((call.name, argument_of(call)) for call in response.calls))

    def forced(self, response: Response) -> str:
        """Take the text; a rogue call is no answer."""
        return "" if response.calls else _short(_THINKING.sub("", response.text).strip())

    def observed(self, text: str, response: Response) -> Message:
        """Answer the call by its id."""
        return Message("tool", text, call_id=response.calls[0].id)

    def grammar(self, tools: tuple[str, ...], forced: bool) -> str | None:
        """Tool calls are the provider's business."""
        return None


class Tagged:
    """Search and answer in tags, as Search-R1 was trained."""

    name = "search-r1"
    template = prompts.TAGGED
    stop = ("</search>", "</answer>")

    def tools(self, available: tuple[str, ...]) -> tuple[str, ...]:
        """Search alone: the form has no other tool."""
        return tuple(name for name in available if name == "search")

    def read(self, response: Response) -> Turn:
        """Take what stands in the tags; the closing tag may be cut off by the stop text."""
        text = response.text
        searches = re.findall(r"<search>(.*?)(?:</search>|$)", text, re.DOTALL | re.IGNORECASE)
        answers = re.findall(r"<answer>(.*?)(?:</answer>|$)", text, re.DOTALL | re.IGNORECASE)
        thought = re.sub(r"</?think>", "", re.split(r"<(?:search|answer)>", text)[0]).strip()
        actions = tuple(("search", item.strip()) for item in searches)
        return Turn(thought, actions, answers[0].strip() if answers else None)

    def forced(self, response: Response) -> str:
        """Take the answer tag, else the text outside of thinking; never a search."""
        turn = self.read(response)
        if turn.answer is not None:
            return turn.answer
        return "" if turn.actions or response.calls else _THINKING.sub("", response.text).strip()

    def observed(self, text: str, response: Response) -> Message:
        """A result without a call id."""
        return Message("tool", text)

    def grammar(self, tools: tuple[str, ...], forced: bool) -> str | None:
        """Thinking, then one tag."""
        tags = '"<answer>" [^<\\n]{1,80} "</answer>"'
        if not forced:
            tags = f'("<search>" [^<\\n]{{1,80}} "</search>" | {tags})'
        return f'root ::= "<think>" [^<\\n]{{8,200}} "</think>" {tags}'


PROTOCOLS: Mapping[str, Protocol] = {item.name: item for item in (React(), Native(), Tagged())}
"""Every protocol by its name."""


def argument_of(call: Call) -> str:
    """Return the one argument of a tool call as text; empty where it has none."""
    arguments = call.arguments
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return arguments
    if isinstance(arguments, Mapping):
        values = [value for value in arguments.values() if isinstance(value, (str, int, float))]
        return str(values[0]) if values else ""
    return str(arguments)


def _short(text: str) -> str:
    labelled = _LABELLED.search(text)
    return labelled[1].strip() if labelled else text
