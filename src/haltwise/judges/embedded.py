"""A small real model that runs inside this process: no server, no key.

Knows how to ask llama.cpp (`xllamacpp`) for a chat turn, bound to a JSON schema or a grammar where
asked, and for the exact probability of a one-word answer. Ignorant of what the words mean.

Greedy decoding in one slot without prefix reuse gives the same text every time. Several slots
decode sequences together, which is faster and not reproducible.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import HaltwiseError, InputError
from .weights import QWEN, Progress, fetch_weights, find_weights

Message = Mapping[str, Any]
"""A chat message: ``{"role": ..., "content": ...}``."""


class ModelError(HaltwiseError):
    """The embedded model refused a request or gave an answer that cannot be used."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model, and what it cost."""

    text: str
    """What it wrote."""
    finish: str
    """Why it ended: "stop", or "length" where the limit of tokens cut it off."""
    input_tokens: int
    """Tokens of the prompt, cached ones included; at least 1."""
    output_tokens: int
    """Tokens written."""
    cached_tokens: int
    """Tokens of the prompt that were taken from the prefix cache."""


class EmbeddedModel:
    """Qwen2.5-Coder-1.5B-Instruct in this process. One per process is enough; thread-safe.

    Attributes:
        name: what records call the model.
        slots: sequences that are decoded together; 1 where runs must be reproducible.
        context: tokens that fit one sequence, prompt and answer together.
        threads: threads that read prompts; writing uses one. On a machine that others use, 1 is
            faster than 2: threads wait for the one that was held up.
    """

    name = "haltwise/embedded"

    def __init__(
        self, path: Path, *, slots: int = 1, context: int = 8192, threads: int = 2
    ) -> None:
        """Load the weights at ``path``; takes two seconds and 2 to 3 GB.

        Raises:
            InputError: the runtime is not installed.
        """
        # Spinning threads on a busy machine fell from 27 to 0.9 tokens a second; must be set before
        # the import.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        try:
            import xllamacpp
        except ImportError as error:
            raise InputError(
                "the embedded model needs its extra; type: pip install 'haltwise[embedded]'"
            ) from error
        self.slots, self.context, self.threads = slots, context, threads
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        # One slot more than are decoded together: a question put beside a conversation would else
        # evict the conversation from the cache, and every turn would be read anew.
        parameters.n_parallel = slots + 1
        parameters.n_ctx = (slots + 1) * context
        parameters.cpuparams.n_threads = 1
        parameters.cpuparams_batch.n_threads = threads
        parameters.verbosity = 0
        self._server = xllamacpp.Server(parameters)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 256,
        temperature: float = 0.0,
        seed: int = 0,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        stop: Sequence[str] = (),
        n: int = 1,
        reuse_prefix: bool = True,
    ) -> list[Reply]:
        """Return ``n`` answers to the conversation.

        Args:
            messages: the conversation, oldest first.
            max_tokens: longest answer, in tokens.
            temperature: 0 is greedy; above, tokens are sampled from the model's own distribution
                (no truncation), as votes need it.
            seed: for sampling; give each (item, vote) one of its own.
            schema: JSON schema that the answer keeps.
            grammar: GBNF grammar that the answer keeps; not together with ``schema``.
            stop: texts at which the answer ends.
            n: answers, at most `slots`; the prompt is read once.
            reuse_prefix: take the common beginning with the last prompt from the cache. Off where
                answers must be byte-identical whatever was asked before.

        Raises:
            ModelError: the runtime refused the request.
        """
        body: dict[str, Any] = {
            "messages": [dict(message) for message in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            "top_k": 0,
            "top_p": 1.0,
            "min_p": 0.0,
            "cache_prompt": reuse_prefix,
        }
        if n > 1:
            # The runtime counts the tokens of the first answer alone; the log probabilities of
            # each tell how many it has.
            body |= {"n": n, "logprobs": True, "top_logprobs": 1}
        if stop:
            body["stop"] = list(stop)
        if grammar is not None:
            body["grammar"] = grammar
        if schema is not None:
            form = {"name": "answer", "schema": dict(schema), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        document = self._ask(body)
        usage = document["usage"]
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        return [
            Reply(
                text=choice["message"].get("content") or "",
                finish=choice["finish_reason"],
                input_tokens=usage["prompt_tokens"],
                output_tokens=usage["completion_tokens"] if n == 1 else _tokens(choice),
                cached_tokens=cached,
            )
            for choice in document["choices"]
        ]

    def probabilities(
        self, messages: Sequence[Message], words: Sequence[str], *, reuse_prefix: bool = True
    ) -> tuple[dict[str, float], Reply]:
        """Return how likely the answer begins with each of ``words``, scaled to sum to 1.

        The exact vote rate from one call: the mass of first tokens that begin a word, compared
        without regard to case. A word that is not among the 20 likeliest tokens gets 0. The reply
        holds the likeliest word and the cost.

        Raises:
            ModelError: none of the words is among them.
        """
        document = self._ask(
            {
                "messages": [dict(message) for message in messages],
                "max_tokens": 1,
                "temperature": 0,
                "logprobs": True,
                "top_logprobs": 20,
                "cache_prompt": reuse_prefix,
            }
        )
        top = document["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        mass = dict.fromkeys(words, 0.0)
        for entry in top:
            token = entry["token"].strip().lower()
            for word in words:
                if token and word.lower().startswith(token):
                    mass[word] += math.exp(entry["logprob"])
        total = sum(mass.values())
        if total <= 0:
            raise ModelError(
                f"none of {', '.join(words)} is among the model's first tokens: "
                f"{[entry['token'] for entry in top[:5]]}"
            )
        usage = document["usage"]
        reply = Reply(
            text=max(mass, key=lambda word: mass[word]),
            finish="stop",
            input_tokens=usage["prompt_tokens"],
            output_tokens=1,
            cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0),
        )
        return {word: share / total for word, share in mass.items()}, reply

    def _ask(self, body: dict[str, Any]) -> dict[str, Any]:
        document: dict[str, Any] = self._server.handle_chat_completions(body)
        if "choices" not in document:  # errors come back as a dict, not as an exception
            error = document.get("error", document)
            message = error.get("message", error) if isinstance(error, dict) else error
            raise ModelError(f"the embedded model refused the request: {message}")
        return document


def _tokens(choice: Mapping[str, Any]) -> int:
    return len(choice["logprobs"]["content"])


_LOADED: dict[tuple[str, int, int], EmbeddedModel] = {}


def load_embedded(
    *,
    slots: int = 1,
    context: int = 8192,
    download: bool = True,
    progress: Progress = lambda source, done, total: None,
    build: Callable[..., EmbeddedModel] = EmbeddedModel,
) -> EmbeddedModel:
    """Return the embedded model, loaded once per process and setting.

    Args:
        slots: sequences decoded together.
        context: tokens per sequence.
        download: whether weights may be downloaded (1.1 GB).
        progress: told how far a download is.
        build: makes the model from its path.

    Raises:
        InputError: the extra is not installed, or the weights are absent and ``download`` is off.
        WeightsError: no source gave the weights.
    """
    path = fetch_weights(progress=progress) if download else find_weights()
    if path is None:
        raise InputError(
            f"the weights of the embedded model are not on this machine ({QWEN.size / 1e9:.1f} GB);"
            " type: haltwise demo"
        )
    key = (str(path), slots, context)
    if key not in _LOADED:
        _LOADED[key] = build(path, slots=slots, context=context)
    return _LOADED[key]
