"""LiteLLM proxy: a hook for ``litellm_settings: callbacks``. Extra ``litellm``.

::

    # stop_hook.py, beside the proxy's config.yaml, which says  callbacks: stop_hook.handler
    from haltwise.adapters.litellm import StopHook
    handler = StopHook("streak(5) | deadline(8)")

A hook sees a request before and a reply after the call and cannot ask again: past calls are
written out as text in the forced request, a form that every provider takes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Any

from litellm.integrations.custom_logger import CustomLogger

from ..core.policy import Policy
from ..enforce import (
    ANTHROPIC,
    CHAT,
    NOTE,
    RESPONSES,
    Assessment,
    Dialect,
    How,
    gates,
    scrub_response,
)
from .rule import Rule

_DIALECTS: dict[str, Dialect] = {
    "completion": CHAT,
    "acompletion": CHAT,
    "responses": RESPONSES,
    "aresponses": RESPONSES,
    "anthropic_messages": ANTHROPIC,
}
_MOST = 10_000


class StopHook(CustomLogger):
    """Ends a search loop that a policy has stopped: no tools, one answer, never empty."""

    def __init__(self, policy: Policy | str, **options: Any) -> None:
        """Take the rule; ``options`` are those of `haltwise.adapters.rule.Rule`."""
        super().__init__()
        self.rule = Rule(policy, **options)
        self._forced: OrderedDict[str, tuple[Dialect, Assessment, bool]] = OrderedDict()

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Return the request, gated where the loop has stopped."""
        dialect = _DIALECTS.get(str(getattr(call_type, "value", call_type)))
        if dialect is None or dialect.opaque(data) is not None:
            return data
        found = self.rule.assess(dialect.read(data))
        if not gates(found, dialect.tools(data)):
            return data
        gated = dialect.gate(data, NOTE, How.FLATTEN, self.rule.answer_tools)
        self._forced[str(data.get("litellm_call_id"))] = (dialect, found, dialect.wants_json(data))
        if len(self._forced) > _MOST:
            self._forced.popitem(last=False)
        return gated

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any
    ) -> Any:
        """Return the reply; after a stop without calls and with an answer in it."""
        forced = self._forced.pop(str(data.get("litellm_call_id")), None)
        if forced is None:
            return response
        dialect, found, as_json = forced
        body = response if isinstance(response, dict) else response.model_dump()
        fallback = self.rule.answer(found, None, as_json=as_json)
        keep = self.rule.answer_tools
        cleaned = scrub_response(body, dialect, fallback=fallback, answer_tools=keep)
        return cleaned if isinstance(response, dict) else type(response)(**cleaned)

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Yield the chunks of a streamed chat reply; after a stop without calls."""
        forced = self._forced.pop(str(request_data.get("litellm_call_id")), None)
        if forced is None or forced[0] is not CHAT:
            async for chunk in response:
                yield chunk
            return
        _, found, as_json = forced
        fallback = self.rule.answer(found, None, as_json=as_json)
        scrubber = CHAT.scrubber(self.rule.answer_tools, fallback, "")
        async for chunk in response:
            for _, body in scrubber.feed((None, chunk.model_dump())):
                yield type(chunk)(**body)
