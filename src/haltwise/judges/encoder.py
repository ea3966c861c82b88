"""A sentence encoder of the BERT family in numpy: texts in, unit vectors out.

Knows the arithmetic of all-MiniLM-L6-v2 (six layers, mean pooling) and reads any encoder with the
same names of its parts and heads of 32 numbers. Ignorant of what the vectors are compared for.

Sources: Devlin et al. 2019 (the layers), Reimers & Gurevych 2019 (mean pooling, cosine).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from ..core.errors import InputError
from .weights import MINILM, MINILM_TOKENIZER, Progress, fetch_weights

Floats = NDArray[np.float32]

LONGEST = 256
"""Tokens of a text that are read, the two around it included: what the model was tuned for."""
HEAD = 32
"""Numbers of a head: 384 / 12 for MiniLM."""
_EPSILON = 1e-12
_TOKENS = 2048
"""Tokens of a batch, padding included: small enough for a processor's cache."""


class Encoder:
    """An encoder with its tokenizer; thread-safe, for it only reads.

    Attributes:
        size: numbers of a vector.
    """

    def __init__(self, weights: Path, tokenizer: Path) -> None:
        """Load both files.

        Raises:
            InputError: the extra is not installed.
        """
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer
        except ImportError as error:
            raise InputError(
                "the semantic signal needs its extra; type: pip install 'haltwise[semantic]'"
            ) from error
        self._w: dict[str, Floats] = load_file(str(weights))
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.no_padding()
        self.size = self._w["embeddings.LayerNorm.weight"].shape[0]
        self._layers = 0
        while f"encoder.layer.{self._layers}.output.dense.weight" in self._w:
            self._layers += 1

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return a vector of length 1 for each text, shape (texts, size).

        A text without a token has the vector of its two marks alone.
        """
        vectors = np.empty((len(texts), self.size), np.float32)
        tokens = [found.ids for found in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
        start = 0
        while start < len(order):
            stop = start + 1
            while stop < len(order) and (stop - start + 1) * len(tokens[order[stop]]) <= _TOKENS:
                stop += 1
            some = order[start:stop]
            vectors[some] = self._pooled([tokens[i] for i in some])
            start = stop
        return vectors

    def _pooled(self, tokens: list[list[int]]) -> Floats:
        longest = max(map(len, tokens))
        ids = np.zeros((len(tokens), longest), np.int64)
        mask = np.zeros((len(tokens), longest), np.float32)
        for row, text in enumerate(tokens):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        hidden = self._forward(ids, mask)
        summed = (hidden * mask[:, :, None]).sum(axis=1)
        pooled: Floats = summed / np.linalg.norm(summed, axis=1, keepdims=True)
        return pooled

    def _forward(self, ids: NDArray[np.int64], mask: Floats) -> Floats:
        """Return the last layer's state of each token, shape (texts, tokens, size)."""
        w = self._w
        hidden = (
            w["embeddings.word_embeddings.weight"][ids]
            + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
            + w["embeddings.token_type_embeddings.weight"][0]
        )
        hidden = self._normed(hidden, "embeddings.LayerNorm")
        hidden_from = np.where(mask[:, None, None, :] > 0, 0.0, -1e9).astype(np.float32)
        for layer in range(self._layers):
            name = f"encoder.layer.{layer}"
            said = self._attended(hidden, hidden_from, f"{name}.attention.self")
            said = self._dense(said, f"{name}.attention.output.dense")
            hidden = self._normed(hidden + said, f"{name}.attention.output.LayerNorm")
            inner = _gelu(self._dense(hidden, f"{name}.intermediate.dense"))
            inner = self._dense(inner, f"{name}.output.dense")
            hidden = self._normed(hidden + inner, f"{name}.output.LayerNorm")
        return hidden

    def _attended(self, hidden: Floats, hidden_from: Floats, name: str) -> Floats:
        texts, tokens, size = hidden.shape
        query, key, value = (
            self._dense(hidden, f"{name}.{part}")
            .reshape(texts, tokens, size // HEAD, HEAD)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(math.sqrt(HEAD)) + hidden_from
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed: Floats = (scores @ value).transpose(0, 2, 1, 3).reshape(texts, tokens, size)
        return mixed

    def _dense(self, x: Floats, name: str) -> Floats:
        made: Floats = x @ self._w[f"{name}.weight"].T + self._w[f"{name}.bias"]
        return made

    def _normed(self, x: Floats, name: str) -> Floats:
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        normed: Floats = x * self._w[f"{name}.weight"] + self._w[f"{name}.bias"]
        return normed


def _gelu(x: Floats) -> Floats:
    halved: Any = x * np.float32(0.5)
    made: Floats = halved * (1 + erf(x * np.float32(math.sqrt(0.5))))
    return made


def _ignored(source: str, done: int, total: int) -> None: ...


def encoder(progress: Progress = _ignored) -> Encoder:
    """Return all-MiniLM-L6-v2, loaded once; fetch its files where this machine has none.

    Raises:
        InputError: the extra is not installed, or the variable names the wrong files.
        WeightsError: no source gave the files.
    """
    return _loaded(fetch_weights(MINILM, progress=progress), fetch_weights(MINILM_TOKENIZER))


@cache
def _loaded(weights: Path, tokenizer: Path) -> Encoder:
    return Encoder(weights, tokenizer)
