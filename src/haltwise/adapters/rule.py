"""What all adapters are told and all adapters ask: the rule, its signal, and the forced answer.

Knows no framework.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from ..core.errors import ParameterError
from ..core.policy import Policy
from ..enforce import (
    NOTE,
    Assessment,
    Call,
    Message,
    VerdictMemory,
    assess,
    best_candidate,
    mark,
)
from ..enforce.messages import returned, user_message, written
from ..signals.lexical import Lexical
from ..signals.protocol import Signal
from ..signals.side_channel import SideChannel
from ..signals.stated import Stated

__all__ = ["NOTE", "Assessment", "Call", "Message", "Rule", "returned", "user_message", "written"]

_REFUSED = (400, 422)


class Rule:
    """A stopping rule as an adapter uses it. Holds no conversation; safe to share between runs."""

    def __init__(
        self,
        policy: Policy | str,
        *,
        signal: Signal | None = None,
        exempt: Collection[str] = (),
        answer_tools: Collection[str] = (),
        sub_agent: bool = False,
    ) -> None:
        """Set up the rule.

        Args:
            policy: a rule for search loops, an expression such as "streak(5) | deadline(8)", or
                the name of a policy file.
            signal: judges the results; `Lexical` where none is given.
            exempt: tools whose calls neither count nor reset.
            answer_tools: tools whose call is the answer; they stay after the stop.
            sub_agent: whether this agent is a tool of another one. Its forced answers then end
                with a line that says so, and count as useless for the parent.

        Raises:
            ParameterError: the policy is for repair loops, or the signal needs a gateway.
            InputError: the expression or file cannot be read.
        """
        if isinstance(policy, str):
            from ..record.policy_file import load_policy

            policy = load_policy(policy)
        if policy.kind == "repair":
            raise ParameterError(f"{policy} is for repair loops; an adapter stops search loops")
        if isinstance(signal, SideChannel):
            raise ParameterError(
                "the side channel needs the gateway: haltwise serve --signal side-channel"
            )
        self.policy = policy
        self.signal = Lexical() if signal is None else signal
        self.exempt = frozenset(exempt)
        self.answer_tools = frozenset(answer_tools)
        self.sub_agent = sub_agent
        self.late = isinstance(self.signal, Stated)
        """Whether the verdict on a result arrives with the model's next reply."""
        self._memory = VerdictMemory(20_000)
        self._flat: set[str] = set()

    def assess(self, messages: Sequence[Message]) -> Assessment:
        """Return the decision on a conversation, with the loop that it is about."""
        return assess(messages, self.policy, self.signal, exempt=self.exempt, memory=self._memory)

    def assess_reply(self, messages: Sequence[Message], text: str) -> Assessment:
        """Return the decision once the model has written ``text`` about the newest result."""
        return self.assess([*messages, Message("assistant", text)])

    def flattens(self, model: object) -> bool:
        """Return whether past calls must be written out as text for this model."""
        return str(model) in self._flat

    def learns(self, model: object, error: Exception) -> bool:
        """Return whether ``error`` says that the model takes no tool history without tools.

        From then on its past calls are written out as text.
        """
        status = getattr(error, "status_code", getattr(error, "status", None))
        if status not in _REFUSED or str(model) in self._flat:
            return False
        self._flat.add(str(model))
        return True

    def answer(self, found: Assessment, text: str | None, *, as_json: bool = False) -> str:
        """Return the forced answer: the model's text, or the best candidate where it is empty.

        Args:
            found: the assessment that stopped the loop.
            text: what the model wrote.
            as_json: whether the answer has to be JSON; it is never marked then.
        """
        answer = text if text and text.strip() else best_candidate(found, as_json=as_json)
        if self.sub_agent and not as_json:
            return f"{answer}\n\n{mark(found.decision.reason)}"
        return answer


def arguments_text(arguments: Any) -> str:
    """Return a call's arguments as text, equal for equal arguments."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, sort_keys=True, default=str)
