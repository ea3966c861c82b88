"""What the gateway counts, for Prometheus. Labels hold no content: no model, no user, no key."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1)
_WAITS = (0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600)


class Metrics:
    """Counters of one gateway."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "haltwise_requests",
            "Requests by dialect and by what was done with them",
            ["dialect", "action"],
            registry=self.registry,
        )
        self.failures = Counter(
            "haltwise_failures",
            "What went wrong, by kind",
            ["kind"],
            registry=self.registry,
        )
        self.extra_calls = Counter(
            "haltwise_extra_calls",
            "Upstream calls beyond the one that was asked for, by role",
            ["role"],
            registry=self.registry,
        )
        self.trimmed = Counter(
            "haltwise_trimmed_histories",
            "Requests whose history cannot be complete",
            registry=self.registry,
        )
        self.unjudged = Counter(
            "haltwise_unjudged_steps",
            "Requests whose newest step, if its verdict is due, the signal could not judge",
            registry=self.registry,
        )
        self.open = Gauge(
            "haltwise_open_requests", "Requests that are being served", registry=self.registry
        )
        self.decide = Histogram(
            "haltwise_decide_seconds",
            "Time to read a history and decide",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.upstream = Histogram(
            "haltwise_upstream_seconds",
            "Time until the upstream's response began",
            buckets=_WAITS,
            registry=self.registry,
        )

    def text(self) -> bytes:
        """Return everything in the text format of Prometheus."""
        return generate_latest(self.registry)
