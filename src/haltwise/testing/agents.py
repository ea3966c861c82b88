"""Plain agent loops over each model API, streamed and not, that never stop by themselves.

They do what frameworks do: send the whole history, run what the model calls, append the results.
Needs the extra ``gateway``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import isawaitable
from typing import Any

import aiohttp

from ..enforce.dialects import DIALECTS
from ..gateway.sse import Parser
from .conversations import answers, conversation

PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "anthropic": "/v1/messages"}
"""Where each dialect is spoken."""
_MOST = 40
Body = dict[str, Any]


async def run_agent(
    url: str,
    question: str,
    search: Callable[..., Any],
    *,
    dialect: str,
    stream: bool = False,
    headers: dict[str, str] | None = None,
    model: str = "stub",
) -> str:
    """Run one agent to its final answer and return it.

    Args:
        url: base URL without a path.
        question: the user's turn.
        search: the tool, sync or async, called with the model's arguments.
        dialect: "chat", "responses" or "anthropic".
        stream: whether replies are streamed.
        headers: sent with every request.
        model: the model that is asked.

    Raises:
        RuntimeError: the API answered with an error, or the loop did not end within 40 turns.
    """
    body = {**conversation(dialect, question=question, stream=stream), "model": model}
    key = "input" if dialect == "responses" else "messages"
    async with aiohttp.ClientSession() as session:
        for _ in range(_MOST):
            async with session.post(url + PATHS[dialect], json=body, headers=headers) as response:
                data = await response.read()
            if response.status != 200:
                raise RuntimeError(f"status {response.status}: {data.decode()}")
            turn = read_turn(dialect, data, stream=stream)
            text, calls = turn_parts(dialect, turn)
            if not calls:
                return text
            body[key] += turn
            for identifier, arguments in calls:
                result = search(**arguments)
                result = await result if isawaitable(result) else result
                body[key] += answers(dialect, [identifier], result)
            if dialect == "anthropic":
                body[key] = _merged(body[key])
    raise RuntimeError(f"the loop did not end within {_MOST} turns")


def read_turn(dialect: str, data: bytes, *, stream: bool) -> list[Body]:
    """Return the assistant's items of a response, as they belong into the history."""
    response = _assembled(dialect, data) if stream else json.loads(data)
    if dialect == "chat":
        return [response["choices"][0]["message"]]
    if dialect == "responses":
        return list(response["output"])
    return [{"role": "assistant", "content": response["content"]}]


def turn_parts(dialect: str, turn: list[Body]) -> tuple[str, list[tuple[str, Body]]]:
    """Return the text of a turn, and its calls as (id, arguments)."""
    if dialect == "chat":
        calls = turn[0].get("tool_calls") or ()
        found = [(c["id"], json.loads(c["function"]["arguments"])) for c in calls]
        return turn[0].get("content") or "", found
    if dialect == "responses":
        text = DIALECTS[dialect].reply({"output": turn}).text
        items = [i for i in turn if i["type"] == "function_call"]
        return text, [(i["call_id"], json.loads(i["arguments"])) for i in items]
    blocks = turn[0]["content"]
    text = "".join(block.get("text", "") for block in blocks)
    return text, [(b["id"], b["input"]) for b in blocks if b["type"] == "tool_use"]


def _merged(messages: list[Body]) -> list[Body]:
    """Put the results of parallel calls into one user turn."""
    out: list[Body] = []
    for message in messages:
        if out and out[-1]["role"] == message["role"] == "user":
            out[-1] = {"role": "user", "content": [*out[-1]["content"], *message["content"]]}
        else:
            out.append(message)
    return out


def _assembled(dialect: str, data: bytes) -> Body:
    events = [event.data for event in Parser().feed(data) if event.data is not None]
    if dialect == "responses":
        return dict(events[-1]["response"])
    if dialect == "chat":
        return _completion(events)
    blocks: list[Body] = []
    for event in events:
        if event["type"] == "content_block_start":
            assert event["index"] == len(blocks), "blocks are numbered without gaps"
            blocks.append({**event["content_block"], "json": ""})
        elif event["type"] == "content_block_delta":
            delta, block = event["delta"], blocks[event["index"]]
            if delta["type"] == "text_delta":
                block["text"] += delta["text"]
            else:
                block["json"] += delta["partial_json"]
    for block in blocks:
        text = block.pop("json")
        if block["type"] == "tool_use":
            block["input"] = json.loads(text)
    return {"content": blocks}


def _completion(chunks: list[Body]) -> Body:
    message: Body = {"role": "assistant", "content": ""}
    calls: list[Body] = []
    for chunk in chunks:
        for choice in chunk["choices"]:
            delta = choice["delta"]
            message["content"] += delta.get("content") or ""
            for call in delta.get("tool_calls") or ():
                if call["index"] == len(calls):
                    calls.append({**call, "function": {**call["function"]}})
                    calls[-1].pop("index")
                else:
                    function = calls[call["index"]]["function"]
                    function["arguments"] += call["function"]["arguments"]
    if calls:
        message["tool_calls"] = calls
    return {"choices": [{"message": message}]}
