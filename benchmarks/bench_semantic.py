"""The semantic signal against the lexical one on paragraphs of HotpotQA.

    OMP_NUM_THREADS=1 python benchmarks/bench_semantic.py [--questions 100] [--data FOLDER]

Ten paragraphs a question, two of which support the answer; the others were retrieved for it, so
that they share its words. Each signal's threshold is tuned on every second question (the greatest
balanced accuracy), and its balanced accuracy on the other half is printed, tuned and at the
default threshold, and the area under the ROC curve. Needs the extra ``semantic`` and the data.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from haltwise.judges.encoder import encoder  # noqa: E402
from haltwise.signals import Lexical, Semantic  # noqa: E402
from haltwise.signals.lexical import overlap  # noqa: E402
from haltwise.signals.semantic import READ  # noqa: E402

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def balanced(scores: Floats, labels: Bools, threshold: float) -> float:
    """Return the mean of the shares of useful and of useless paragraphs that are told right."""
    useful = scores >= threshold
    return float((useful[labels].mean() + (~useful[~labels]).mean()) / 2)


def area(scores: Floats, labels: Bools) -> float:
    """Return the probability that a supporting paragraph scores above another; ties count half."""
    above = scores[labels][:, None] - scores[~labels][None, :]
    return float((above > 0).mean() + (above == 0).mean() / 2)


def main() -> None:
    """Score, tune, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    default = os.environ.get("HALTWISE_SHARED_DATA", str(ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=Path(default), help="the shared data folder")
    parser.add_argument("--questions", type=int, default=100)
    options = parser.parse_args()
    path = options.data / "hotpotqa" / "dev_distractor_300.json"
    rows = json.loads(path.read_bytes())[: options.questions]
    questions, texts, labels, owner = [], [], [], []
    for number, row in enumerate(rows):
        questions.append(row["question"])
        supporting = {title for title, _ in row["supporting_facts"]}
        for title, sentences in row["context"]:
            texts.append(f"{title}. {''.join(sentences)}")
            labels.append(title in supporting)
            owner.append(number)
    useful, of = np.array(labels), np.array(owner)
    model = encoder()
    begun = time.process_time()
    asked = model.encode(questions)
    found = model.encode([text[:READ] for text in texts])
    spent = time.process_time() - begun
    scores = {
        "lexical": np.array([overlap(questions[n], t) for n, t in zip(owner, texts, strict=True)]),
        "semantic": (found * asked[of]).sum(axis=1).astype(float),
    }
    print(f"{len(rows)} questions, {len(texts)} paragraphs, {int(useful.sum())} of them supporting")
    print(f"{spent / len(texts) * 1e3:.0f} ms of processor time a paragraph")
    tuning = of % 2 == 0
    thresholds = {"lexical": Lexical().threshold, "semantic": Semantic().threshold}
    print(f"{'signal':<10}{'tuned at':>9}{'balanced':>10}{'default':>9}{'balanced':>10}{'area':>7}")
    for name, score in scores.items():
        score = np.nan_to_num(score)
        grid = np.arange(0.0, 1.0, 0.01)
        tuned = max(grid, key=lambda t: balanced(score[tuning], useful[tuning], float(t)))
        held, told = score[~tuning], useful[~tuning]
        print(
            f"{name:<10}{tuned:>9.2f}{balanced(held, told, tuned):>10.3f}"
            f"{thresholds[name]:>9.2f}{balanced(held, told, thresholds[name]):>10.3f}"
            f"{area(held, told):>7.3f}"
        )


if __name__ == "__main__":
    main()
