"""Every text that the repair study shows to a model. Our own wording; a change is a new version.

``haltwise study repair --show-prompts`` prints them. Knows no model and no parsing.
"""

from __future__ import annotations

VERSION = "4"
"""Part of every plan: records made with other prompts are other records."""

PROPOSE = "You solve problems. {form}"
"""System text of the proposer; ``form`` says how the task wants its answer written."""

PROBLEM = "Problem:\n{problem}"

VERIFY = {
    "plain": (
        "You check answers. Reply with one word: yes if the proposed answer is right, no if not."
    ),
    "result": (
        "You check answers. First write the whole calculation in one line after 'Result:'. Then "
        "compare what it gives with the proposed answer and write 'Verdict: yes' if that is "
        "right, 'Verdict: no' if not."
    ),
    "steps": (
        "You check answers. Go through the problem in two to four short numbered steps, one "
        "calculation each. Write what you get after 'Result:'. Then compare it with the proposed "
        "answer and write 'Verdict: yes' if that is right, 'Verdict: no' if not."
    ),
}
"""System text of the verifier by kind, from the noisiest to the least noisy."""

EXACT = "plain"
"""The verifier whose first word is its vote: a model's log probabilities tell its vote rate."""

CANDIDATE = "Problem:\n{problem}\n\nProposed answer:\n{plan}"

_FERRY = "A ferry carries 28 cars a trip and makes 6 trips a day. How many cars is that a day?"
_NAILS = "A box holds 45 nails. Ole uses 17 of them and finds 8 more. How many does he have?"

SHOTS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "result": (
        (_FERRY, "168", "Result: 28 x 6 = 168\nVerdict: yes"),
        (_NAILS, "20", "Result: 45 - 17 + 8 = 36\nVerdict: no"),
    ),
    "steps": (
        (
            _FERRY,
            "168",
            "1. Cars a trip: 28.\n2. In 6 trips: 28 x 6 = 168.\nResult: 168\nVerdict: yes",
        ),
        (
            _NAILS,
            "20",
            "1. After using 17: 45 - 17 = 28.\n2. After finding 8: 28 + 8 = 36.\n"
            "Result: 36\nVerdict: no",
        ),
    ),
}
"""(problem, proposed answer, check) shown as earlier turns, by kind of verifier."""

NUMBERS: tuple[tuple[str, str, str], ...] = (
    (_FERRY, "28 x 6 = 178\n178", "28 x 6 = 168\n168"),
    (_NAILS, "45 - 17 = 28\n28 + 8 = 36\n36", "45 - 17 = 28\n28 + 8 = 36\n36"),
)
"""(problem, proposed answer, answer) shown as earlier turns where plans are calculations.

A small model writes essays whatever the instruction says, and follows examples.
"""

REPAIR = {
    "revise": (
        "You improve answers. Read the problem and the proposed answer, correct what is wrong in "
        "it, and write the whole answer anew. {form}"
    ),
    "told_wrong": (
        "You correct answers. A reviewer found the proposed answer to be wrong. Find the mistake "
        "and write the whole answer anew. {form}"
    ),
    "restart": "You solve problems. {form}",
}
"""System text of the repairer by kind; ``restart`` does not see the earlier answer."""


def every() -> dict[str, str]:
    """Return every text by its name."""
    shots = {
        f"verifier {kind}, example {number}": "\n---\n".join(shot)
        for kind, examples in SHOTS.items()
        for number, shot in enumerate(examples, start=1)
    }
    numbers = {
        f"calculation, example {number}": "\n---\n".join(example)
        for number, example in enumerate(NUMBERS, start=1)
    }
    return {
        "version": VERSION,
        "proposer": PROPOSE,
        "problem": PROBLEM,
        "candidate": CANDIDATE,
        **{f"verifier {kind}": text for kind, text in VERIFY.items()},
        **shots,
        **numbers,
        **{f"repairer {kind}": text for kind, text in REPAIR.items()},
    }
