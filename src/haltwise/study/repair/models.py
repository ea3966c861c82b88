"""The three roles as Inspect models. Knows requests and Inspect; ignorant of problems and rules."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
)

from ...core.events import Usage
from .loop import added
from .roles import Ask, Reply, Request, Role

TOP = 20
"""Likeliest first tokens that are asked for, to read an exact vote probability from."""

_MESSAGE = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}
_LOG = logging.getLogger(__name__)


def inspect_models(models: Mapping[Role, Model]) -> Ask:
    """Return a function that sends each request to the model of its role.

    Votes are asked for in one call with ``n`` choices; a provider that gives fewer is asked again,
    with another seed each time. A verifier that fails gives fewer votes; a failing proposer or
    repairer raises.
    """

    async def ask(request: Request) -> Reply:
        if request.role is not Role.VERIFIER:
            output = await models[request.role].generate(
                _messages(request), config=_config(request)
            )
            return Reply(tuple(_texts(output)[:1]), _usage(output))
        return await _votes(models[request.role], request)

    return ask


async def _votes(model: Model, request: Request) -> Reply:
    texts: list[str] = []
    cost, probability = Usage(0, 0, 0), None
    try:
        for attempt in range(request.n):
            missing = request.n - len(texts)
            if missing <= 0:
                break
            config = _config(request, n=missing, seed=request.seed + attempt)
            output = await model.generate(_messages(request), config=config)
            texts += _texts(output)[:missing]
            cost = added(cost, _usage(output))
        if request.words:
            output = await model.generate(_messages(request), config=_EXACT)
            cost = added(cost, _usage(output))
            probability = _probability(output, request.words)
    except Exception as error:  # whatever a provider raises: no votes, and the loop goes on
        _LOG.warning("a verifier failed, its votes are missing: %s", error)
    return Reply(tuple(texts), cost, probability)


_EXACT = GenerateConfig(temperature=0.0, max_tokens=1, logprobs=True, top_logprobs=TOP)
"""Asks for the first token's probabilities, apart from the votes: sampled votes stay samples."""


def _config(request: Request, *, n: int = 1, seed: int | None = None) -> GenerateConfig:
    return GenerateConfig(
        temperature=request.temperature,
        max_tokens=request.max_tokens,
        seed=request.seed if seed is None else seed,
        num_choices=n if n > 1 else None,
    )


def _messages(request: Request) -> list[ChatMessage]:
    return [_MESSAGE[role](content=text) for role, text in request.messages]


def _texts(output: ModelOutput) -> list[str]:
    return [choice.message.text for choice in output.choices]


def _usage(output: ModelOutput) -> Usage:
    usage = output.usage
    return Usage(1, usage.input_tokens, usage.output_tokens) if usage else Usage(1)


def _probability(output: ModelOutput, words: Sequence[str]) -> float | None:
    """Return the exact probability of the first word from the first token's likeliest tokens."""
    found = output.choices[0].logprobs if output.choices else None
    if found is None or not found.content or not found.content[0].top_logprobs:
        return None
    mass = dict.fromkeys(words, 0.0)
    for token in found.content[0].top_logprobs:
        text = token.token.strip().lower()
        for word in words:
            if text and word.startswith(text):
                mass[word] += math.exp(token.logprob)
    total = sum(mass.values())
    return mass[words[0]] / total if total > 0 else None
