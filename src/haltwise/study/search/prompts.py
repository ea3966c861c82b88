"""Every text that the study shows to a model. Our own wording; a change is a new version.

``haltwise study search --show-prompts`` prints them. Knows no model and no parsing.
"""

from __future__ import annotations

from ...enforce.messages import OWN
from .regimes import BACKUP

VERSION = "2"
"""Part of every plan: records made with other prompts are other records."""

GOAL = {
    "qa": "You answer a question with the help of a small library of pages.",
    "claim": "You check a claim with the help of a small library of pages.",
}
"""First sentence, by kind of task."""

ANSWER = {
    "qa": "The answer is a name, a number or a short phrase, without any explanation.",
    "claim": "The answer is one word: SUPPORTS if the claim is true, REFUTES if it is false.",
}
"""What an answer looks like, by kind of task."""

TOOLS = {
    "search": "show the page with this title, or the page that fits these words best",
    "lookup": "show the first sentence with this text on the page that is open",
    BACKUP: "the same as search, from a second library that is kept apart",
}
"""What each tool does."""

EVIDENCE = "Rest the answer on what the pages say."
"""Stands where answering from memory is not offered."""

MEMORY = "If the pages do not help, you may answer from what you know yourself, at any time."
"""The arm permit, and every arm that builds on it."""

LIMIT = (
    "You have {budget} actions in all, and giving the answer is one of them. If the last action "
    "is not the answer, the task counts as failed."
)
"""The arm budget."""

STATED_RULE = (
    "Keep to this rule: after {k} results in a row that do not help, stop searching and give the "
    "best answer you have."
)
"""The arm stated_rule."""

CALL_COST = (
    "A right answer earns 1 point, and every search or lookup costs 0.05 points. Earn as much as "
    "you can."
)
"""The arm call_cost."""

REMAINING = "(Actions left: {left}, the answer included.)"
"""Under each result, in the arm budget."""

RUN = "(Results in a row that did not help so far: {run}. Search on or answer: it is up to you.)"
"""Under each result, in the arm decide."""

AGAIN = "[haltwise] No answer was in that. Write the answer itself now, and nothing else."
"""Asked once more after an empty forced answer."""

FORCED = "{note}\nThe task was: {task}"
"""Demands the answer: `LAST`, and the task once more."""

LAST = (
    f"{OWN} The search has ended, no tool is left. Give the answer that you think most likely, "
    "short, in the form that was asked for."
)
"""The note of a stop. Shorter than that of the gateway, and it asks for a guess where the pages do
not help: in a study no answer is a wrong answer."""

JUDGE = """\
Leave the task aside for a moment and judge one search result.
Here is a question: {question}
Here is what a search returned: {result}
Does it help to answer the question, even in part? Reply yes or no."""
"""The side channel, asked on a copy. Question and result stand in it once more: a small model that
is asked about "the last result" says no to all of them."""

JUDGE_APART = "You judge search results."
"""System text of the side channel where it is asked apart from the conversation: a model too small
to judge at the end of a conversation may well judge a question and a result that stand alone."""

JUDGE_ITEM = """\
Question: {question}
Result: {result}
Does the result help to answer the question? Reply yes or no."""
"""One result, apart from the conversation."""

JUDGE_EXAMPLES = (
    ("Ilse Brandt: Ilse Brandt was a painter. She was born in Feldau.", "yes"),
    ("Peter Marlow: Peter Marlow was a sailor. He was born in Kent.", "no"),
    ("Feldau: Feldau is a town. It lies in the valley of the Orne.", "yes"),
    ("Dresden: Dresden is a city. It lies on the Elbe.", "no"),
)
"""(result, verdict) on `EXAMPLE`, shown before the result that is judged apart."""

BELIEF = (
    "Leave the task aside for a moment. Judge your position with three numbers: the chance in "
    "percent that your answer would be right if you gave it now; the chance in percent that it "
    "would be right if you searched on first; and how useful the last result was, from 1 (not at "
    "all) to 5 (it holds the answer). Write them as: now=NUMBER later=NUMBER useful=NUMBER"
)
"""The belief probe, asked on a copy."""

EXAMPLE = "In which river valley does the town lie where the painter Ilse Brandt was born?"
"""A question that no task holds."""

REACT = """\
{goal} The user's message is the task. In every turn write exactly two lines, then stop:
Thought: what the last result says about the task, and what to do next
Action: one of {tools}, finish[answer]
{explained}
- finish[answer]: end the task with your answer
The result of an action comes back as an observation. One action a turn.
{answer} {evidence}
Here is another task, to show the form: {example}
Thought: I need the town where Ilse Brandt was born.
Action: search[Ilse Brandt]
Observation: Ilse Brandt: Ilse Brandt was a painter. She was born in Feldau.
Thought: She was born in Feldau, so I need the river of Feldau.
Action: search[Feldau]
Observation: Feldau: Feldau is a town. It lies in the valley of the Orne.
Thought: Feldau lies in the valley of the Orne.
Action: finish[Orne]"""
"""System text of the protocol react."""

NATIVE = """\
{goal} The user's message is the task. Call one tool a turn; its result comes back to you. When \
you have the answer, reply with the answer alone and call no tool.
{answer} {evidence}"""
"""System text of the protocol native; the tools are described in the request."""

TAGGED = """\
{goal} The user's message is the task. In every turn, first think inside <think> and </think>. \
Then either search with <search>words</search>; what is found comes back between <information> \
and </information>. Or end the task with <answer>answer</answer>. One search a turn.
{answer} {evidence}"""
"""System text of the protocol search-r1, which has no lookup."""


def system(
    template: str, *, kind: str, tools: tuple[str, ...], memory: bool, extra: tuple[str, ...]
) -> str:
    """Return the system text of an episode.

    Args:
        template: `REACT`, `NATIVE` or `TAGGED`.
        kind: "qa" or "claim".
        tools: the tools on offer.
        memory: whether answering from memory is offered.
        extra: sentences that the arm adds at the end.
    """
    arguments = {"search": "title or words", "lookup": "text", BACKUP: "title or words"}
    text = template.format(
        goal=GOAL[kind],
        answer=ANSWER[kind],
        evidence=MEMORY if memory else EVIDENCE,
        example=EXAMPLE,
        tools=", ".join(f"{name}[{arguments[name]}]" for name in tools),
        explained="\n".join(f"- {name}[{arguments[name]}]: {TOOLS[name]}" for name in tools),
    )
    return "\n".join((text, *extra))


def every() -> dict[str, str]:
    """Return every text by its name."""
    return {
        "version": VERSION,
        "system, protocol react": REACT,
        "system, protocol native": NATIVE,
        "system, protocol search-r1": TAGGED,
        **{f"goal, {kind}": text for kind, text in GOAL.items()},
        **{f"answer, {kind}": text for kind, text in ANSWER.items()},
        **{f"tool {name}": text for name, text in TOOLS.items()},
        "evidence": EVIDENCE,
        "memory (permit, budget, combo)": MEMORY,
        "limit (budget, combo)": LIMIT,
        "rule (stated_rule)": STATED_RULE,
        "cost (call_cost)": CALL_COST,
        "under each result (budget, combo)": REMAINING,
        "under each result (decide)": RUN,
        "judge, on a copy": JUDGE,
        "judge, apart": f"{JUDGE_APART}\n---\n{JUDGE_ITEM}",
        "judge, apart, examples": "\n".join(
            f"{EXAMPLE} | {result} | {word}" for result, word in JUDGE_EXAMPLES
        ),
        "belief, on a copy": BELIEF,
        "forced answer": FORCED.format(note=LAST, task="{task}"),
        "forced answer, once more": AGAIN,
    }
