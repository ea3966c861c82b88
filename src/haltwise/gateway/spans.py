"""OpenTelemetry spans with the names of the GenAI conventions, where opentelemetry-api is there.

One span an exchange, a child of the caller's where the request names one (``traceparent``).
Attributes hold the operation, the provider's kind, the model and what was done; never content,
headers or keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

propagate: Any
trace: Any
try:
    from opentelemetry import propagate, trace
except ImportError:
    propagate = trace = None

_PROVIDERS = {"chat": "openai", "responses": "openai", "anthropic": "anthropic"}
"""Whose API a dialect is; who serves it behind the upstream's address is not known."""


class Exchanged(NamedTuple):
    """What became of one exchange."""

    model: str | None
    action: str
    run: int
    """Useless results in a row."""
    status: int
    """As the client got it."""
    host: str
    """Of the upstream."""
    port: int


@contextmanager
def span(dialect: str, headers: Mapping[str, str]) -> Iterator[Callable[[Exchanged], None]]:
    """Open a span around one exchange; call what it gives when the response is there."""
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        yield _nothing  # nobody has set up a place where spans would go
        return
    with (
        trace.get_tracer_provider()
        .get_tracer("haltwise.gateway")
        .start_as_current_span(
            f"gateway {dialect}",
            context=propagate.extract(headers),
            kind=trace.SpanKind.CLIENT,
            record_exception=False,
        ) as current
    ):

        def noted(exchanged: Exchanged) -> None:
            values: dict[str, Any] = {
                "haltwise.action": exchanged.action,
                "haltwise.run": exchanged.run,
                "http.response.status_code": exchanged.status,
                "server.address": exchanged.host,
                "server.port": exchanged.port,
            }
            if dialect in _PROVIDERS:
                values["gen_ai.operation.name"] = "chat"
                values["gen_ai.provider.name"] = _PROVIDERS[dialect]
            if exchanged.model is not None:
                values["gen_ai.request.model"] = exchanged.model
                current.update_name(f"chat {exchanged.model}")
            if exchanged.status >= 400:
                values["error.type"] = str(exchanged.status)
                current.set_status(trace.StatusCode.ERROR)
            current.set_attributes(values)

        yield noted


def _nothing(exchanged: Exchanged) -> None:
    """Take note of nothing."""
