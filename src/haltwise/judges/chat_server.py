"""Asks a model behind an OpenAI-compatible server one question and returns its words.

Knows the request and the reply of chat completions, with the standard library alone. Ignorant of
what is asked. The key, if there is one, goes to the server that was named and nowhere else.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable

from ..core.errors import HaltwiseError

OPENAI = "https://api.openai.com/v1"
"""The server where only a model is named."""
_LONGEST = 512


class ServerError(HaltwiseError):
    """The server gave no answer; the message says why."""


def chat_server(
    url: str, model: str, *, key: str | None = None, timeout: float = 30.0
) -> Callable[[str], str]:
    """Return a function from a question to the model's reply.

    Args:
        url: where the server's API begins, such as ``http://localhost:8000/v1``.
        model: the model's name there.
        key: sent as a bearer token.
        timeout: seconds to wait for a reply.

    The function raises `ServerError`.
    """
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    address = f"{url.rstrip('/')}/chat/completions"

    def ask(question: str) -> str:
        body = {
            "model": model,
            "messages": [{"role": "user", "content": question}],
            "temperature": 0,
            "max_tokens": _LONGEST,
        }
        request = urllib.request.Request(address, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                reply = json.load(response)["choices"][0]["message"]["content"]
        except urllib.error.HTTPError as error:
            with error:
                said = error.read(300).decode("utf-8", "replace")
            raise ServerError(f"{address} answered {error.code}: {said}") from None
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise ServerError(f"{address}: {error or type(error).__name__}") from error
        if not isinstance(reply, str):
            raise ServerError(f"{address}: the reply holds no text")
        return reply

    return ask
