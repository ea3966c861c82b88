"""What a gateway is told at its start; nothing of it changes afterwards."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from ..core.errors import ParameterError
from ..core.policy import Policy
from ..signals.lexical import Lexical
from ..signals.protocol import Signal

NAME_LIMIT = 120
"""Characters of a policy's display name."""
BODY_LIMIT = 64 << 20
"""Bytes of a request body that are accepted: 64 MB."""
ANSWER_TOOLS = frozenset({"final_answer"})
"""Tools that deliver the answer and therefore stay after the stop."""


@dataclass(frozen=True)
class Settings:
    """How a gateway decides and where it sends what it is given."""

    upstream: str
    """Base URL of the model API, http or https; may end in "/v1"."""
    policy: Policy
    """A rule for search loops."""
    policy_name: str = ""
    """How the policy is shown, such as "recovery.toml"; empty: its expression. See `shown`."""
    signal: Signal = field(default_factory=Lexical)
    """Judges the results."""
    exempt: frozenset[str] = frozenset()
    """Tools whose calls neither count nor reset."""
    answer_tools: frozenset[str] = ANSWER_TOOLS
    """Tools that stay after the stop, because their call is the answer."""
    watch: bool = False
    """Decide and report, but change nothing."""
    fail_open: bool = True
    """Where no decision can be made: forward unchanged (True) or refuse with 503."""
    mark_forced: bool = False
    """Whether a line below a forced answer says so; lets other gateways recognise it."""
    log: Path | None = None
    """Folder for the episodes that passed; None for none."""
    log_content: bool = False
    """Whether the episodes hold arguments, results and answers."""
    body_limit: int = BODY_LIMIT
    """Bytes of a request body that are accepted, at least 1."""
    timeout: float = 600.0
    """Seconds that the upstream may stay silent, above 0."""
    connect_timeout: float = 10.0
    """Seconds to reach the upstream, above 0."""

    @property
    def shown(self) -> str:
        """The policy for people: its name or expression, cut at `NAME_LIMIT` characters.

        Fitted rules print whole tables, which belong neither in headers nor on a terminal.
        """
        text = self.policy_name or str(self.policy)
        return text if len(text) <= NAME_LIMIT else text[: NAME_LIMIT - 3] + "..."

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.upstream)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # a port beyond 65535, an open bracket
            usable = False
        if not usable:
            raise ParameterError(
                f"upstream is a URL such as https://api.openai.com/v1; got {self.upstream!r}"
            )
        if parts.query or parts.fragment or parts.username or parts.password:
            raise ParameterError(
                "upstream is a plain base URL, without query, fragment, user or password; keys "
                "come with the requests"
            )
        if self.policy.kind == "repair":
            raise ParameterError(
                f"the gateway stops search loops; {self.shown} is for repair loops"
            )
        for name in ("body_limit", "timeout", "connect_timeout"):
            if not getattr(self, name) > 0:
                raise ParameterError(f"{name} is above 0; got {getattr(self, name)!r}")


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
