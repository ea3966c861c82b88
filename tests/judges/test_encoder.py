"""The encoder against a plain computation, on weights that the test itself writes."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tokenizers", reason="needs the extra semantic")
from safetensors.numpy import save_file

from haltwise.judges.encoder import Encoder, encoder
from haltwise.judges.weights import MINILM, MINILM_TOKENIZER, find_weights

SIZE, INNER, LAYERS = 64, 48, 2
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "river", "runs", "to", "sea", "a", "stock"]


def tiny(folder: Path) -> tuple[Path, Path, dict[str, np.ndarray]]:
    """Write an encoder of two layers with two heads, and its tokenizer."""
    rng = np.random.default_rng(0)

    def drawn(*shape: int) -> np.ndarray:
        return rng.normal(0, 0.3, shape).astype(np.float32)

    w = {
        "embeddings.word_embeddings.weight": drawn(len(WORDS), SIZE),
        "embeddings.position_embeddings.weight": drawn(32, SIZE),
        "embeddings.token_type_embeddings.weight": drawn(2, SIZE),
        "embeddings.LayerNorm.weight": 1 + drawn(SIZE),
        "embeddings.LayerNorm.bias": drawn(SIZE),
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        for part, rows, columns in (
            ("attention.self.query", SIZE, SIZE),
            ("attention.self.key", SIZE, SIZE),
            ("attention.self.value", SIZE, SIZE),
            ("attention.output.dense", SIZE, SIZE),
            ("intermediate.dense", INNER, SIZE),
            ("output.dense", SIZE, INNER),
        ):
            w[f"{name}.{part}.weight"] = drawn(rows, columns)
            w[f"{name}.{part}.bias"] = drawn(rows)
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            w[f"{name}.{part}.weight"] = 1 + drawn(SIZE)
            w[f"{name}.{part}.bias"] = drawn(SIZE)
    weights, tokenizer = folder / "model.safetensors", folder / "tokenizer.json"
    save_file(w, str(weights))
    tokenizer.write_text(
        json.dumps(
            {
                "version": "1.0",
                "added_tokens": [],
                "normalizer": {"type": "Lowercase"},
                "pre_tokenizer": {"type": "Whitespace"},
                "post_processor": {
                    "type": "BertProcessing",
                    "sep": ["[SEP]", 3],
                    "cls": ["[CLS]", 2],
                },
                "model": {
                    "type": "WordLevel",
                    "vocab": {word: number for number, word in enumerate(WORDS)},
                    "unk_token": "[UNK]",
                },
            }
        )
    )
    return weights, tokenizer, w


def plainly(w: dict[str, np.ndarray], words: str) -> list[float]:
    """Return the vector of a text, number by number, in double precision and without batches."""
    ids = [2, *(WORDS.index(word) for word in words.split()), 3]

    def dense(x: list[float], name: str) -> list[float]:
        rows, bias = w[f"{name}.weight"].tolist(), w[f"{name}.bias"].tolist()
        return [
            sum(a * b for a, b in zip(row, x, strict=True)) + c
            for row, c in zip(rows, bias, strict=True)
        ]

    def normed(x: list[float], name: str) -> list[float]:
        mean = sum(x) / len(x)
        spread = math.sqrt(sum((a - mean) ** 2 for a in x) / len(x) + 1e-12)
        scale, bias = w[f"{name}.weight"].tolist(), w[f"{name}.bias"].tolist()
        return [(a - mean) / spread * s + b for a, s, b in zip(x, scale, bias, strict=True)]

    def added(x: list[float], y: list[float]) -> list[float]:
        return [a + b for a, b in zip(x, y, strict=True)]

    def gelu(x: float) -> float:
        return x * (1 + math.erf(x / math.sqrt(2))) / 2

    word = w["embeddings.word_embeddings.weight"].tolist()
    place = w["embeddings.position_embeddings.weight"].tolist()
    kind = w["embeddings.token_type_embeddings.weight"].tolist()[0]
    states = [
        normed(added(added(word[i], place[n]), kind), "embeddings.LayerNorm")
        for n, i in enumerate(ids)
    ]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        q, k, v = (
            [dense(s, f"{name}.attention.self.{part}") for s in states]
            for part in ("query", "key", "value")
        )
        following = []
        for n, state in enumerate(states):
            mixed: list[float] = []
            for head in range(0, SIZE, 32):
                part = slice(head, head + 32)
                scores = [
                    math.exp(
                        sum(a * b for a, b in zip(q[n][part], other[part], strict=True))
                        / math.sqrt(32)
                    )
                    for other in k
                ]
                mixed += [
                    sum(s * other[i] for s, other in zip(scores, v, strict=True)) / sum(scores)
                    for i in range(head, head + 32)
                ]
            said = dense(mixed, f"{name}.attention.output.dense")
            state = normed(added(state, said), f"{name}.attention.output.LayerNorm")
            inner = [gelu(x) for x in dense(state, f"{name}.intermediate.dense")]
            inner = dense(inner, f"{name}.output.dense")
            following.append(normed(added(state, inner), f"{name}.output.LayerNorm"))
        states = following
    pooled = [sum(column) / len(states) for column in zip(*states, strict=True)]
    length = math.sqrt(sum(x * x for x in pooled))
    return [x / length for x in pooled]


def test_every_number_is_that_of_a_plain_computation(tmp_path: Path) -> None:
    """Batches and padding change nothing: each text has the vector that it has alone."""
    weights, tokenizer, w = tiny(tmp_path)
    texts = ["the river runs to the sea", "a stock", "the sea", "river"]
    found = Encoder(weights, tokenizer).encode(texts)
    assert found.shape == (4, SIZE)
    assert found == pytest.approx(np.array([plainly(w, text) for text in texts]), abs=2e-5)


def test_long_and_empty_texts_have_a_vector(tmp_path: Path) -> None:
    """A text is read up to a number of tokens; an empty one is its two marks."""
    weights, tokenizer, w = tiny(tmp_path)
    made = Encoder(weights, tokenizer)
    assert made.encode([""])[0] == pytest.approx(np.array(plainly(w, "")), abs=2e-5)
    assert made.encode([]).shape == (0, SIZE)


@pytest.mark.slow
def test_the_real_encoder_tells_like_from_unlike() -> None:
    """Sentences of one meaning are near each other, and others are not (published examples)."""
    if find_weights(MINILM) is None or find_weights(MINILM_TOKENIZER) is None:
        pytest.skip("the encoder's weights are not on this machine")
    texts = ["A man is eating food.", "A man eats a meal.", "The stock market fell sharply."]
    vectors = encoder().encode(texts)
    near = vectors @ vectors.T
    assert np.diag(near) == pytest.approx(1, abs=1e-5)
    assert near[0, 1] > 0.8 and abs(near[0, 2]) < 0.1 and abs(near[1, 2]) < 0.1
