"""OpenTelemetry spans with the names of the GenAI conventions, where opentelemetry-api is there.

Attributes hold the operation, the model and what was done; never content, headers or keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

trace: Any
try:
    from opentelemetry import trace
except ImportError:
    trace = None

Noted = Callable[[str | None, str, int, int], None]
"""Takes model, action, run and status."""


@contextmanager
def span(dialect: str) -> Iterator[Noted]:
    """Open a span around one exchange; call what it gives when the response is there."""
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        yield _nothing  # nobody has set up a place where spans would go
        return
    tracer = trace.get_tracer("haltwise.gateway")
    with tracer.start_as_current_span(
        f"gateway {dialect}", kind=trace.SpanKind.SERVER, record_exception=False
    ) as current:

        def noted(model: str | None, action: str, run: int, status: int) -> None:
            values: dict[str, Any] = {
                "gen_ai.operation.name": "chat",
                "haltwise.action": action,
                "haltwise.run": run,
                "http.response.status_code": status,
            }
            if model is not None:
                values["gen_ai.request.model"] = model
                current.update_name(f"chat {model}")
            current.set_attributes(values)

        yield noted


def _nothing(model: str | None, action: str, run: int, status: int) -> None:
    """Take note of nothing."""
