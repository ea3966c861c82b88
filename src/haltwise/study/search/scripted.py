"""Scripted models: they follow a fixed plan and know no language. For tests and dry runs.

Every record of theirs says ``haltwise/scripted:NAME`` as its model. They answer probes as well, and
their token counts are numbers of words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from ...core.errors import InputError
from ...enforce.messages import Call
from . import prompts
from .conversation import Request
from .protocols import Response

Script = Callable[[Request], Response]
"""Answers a request."""


def scripted(name: str) -> Script:
    """Return a scripted model.

    - ``never_stops`` searches in every turn, with a new query, and judges failed and true results
      alike as useless; it answers "unknown" only when it is forced.
    - ``follows`` searches the subject of the question, then the name that its page gives, and
      answers with the last words of that page; it judges a result useful iff its title shares a
      word with the query.

    Both write in the form that the request shows: tools as calls, else the text form.

    Raises:
        InputError: there is no such script.
    """
    scripts = {"never_stops": never_stops, "follows": follows}
    if name not in scripts:
        raise InputError(f"there is no scripted model {name!r}; there are {', '.join(scripts)}")
    return scripts[name]


def never_stops(request: Request) -> Response:
    """Search on, whatever comes; judge everything useless."""
    said = _probe(request, "no", "now=10 later=40 useful=1")
    if said is not None:
        return said
    if _forced(request):
        return _answer(request, "unknown")
    turn = sum(entry.message.role == "tool" for entry in request.history) + 1
    return _search(request, "The last result was not useful, so I search again.", f"query {turn}")


def follows(request: Request) -> Response:
    """Two hops by word order: the subject of the question, then the name that its page gives."""
    question = request.history[1].message.text
    results = [entry.message.text for entry in request.history if entry.message.role == "tool"]
    pairs = zip(_queries(request), results, strict=False)
    helped = [text for query, text in pairs if _words(query) & _words(text.split(":")[0])]
    useful = bool(results) and results[-1] in helped
    belief = f"now=20 later=60 useful={5 if useful else 1}"
    said = _probe(request, "yes" if useful else "no", belief)
    if said is not None:
        return said
    pages = list(dict.fromkeys(helped))
    answer = " ".join(pages[-1].rstrip(".").split()[-2:]) if len(pages) > 1 else "unknown"
    if _forced(request) or len(pages) > 1:
        return _answer(request, answer)
    thought = "The result was useful." if useful else "The result was not useful."
    return _search(request, thought, _name_in(pages[0]) if pages else _subject(question))


def _queries(request: Request) -> list[str]:
    turns = [entry.message for entry in request.history if entry.message.role == "assistant"]
    texts = [turn.text + "".join(str(call.arguments) for call in turn.calls) for turn in turns]
    found = [re.search(r"(?:search\[|<search>|\"query\": \")([^\]<\"]*)", text) for text in texts]
    return [match[1] for match in found if match]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{3,}", text.lower()))


def _subject(question: str) -> str:
    words = question.rstrip("?").split()[1:]
    return " ".join(word for word in words if word[0].isupper())


def _name_in(page: str) -> str:
    """Return the capitalised words at the end of the first sentence that ends with some."""
    for sentence in page.split(": ", 1)[-1].split("."):
        match = re.search(r"((?:[A-Z][\w'-]+ ?)+)(?:in \d+)?$", sentence.strip())
        if match:
            return match[1].strip()
    return page.split(":")[0]


def _probe(request: Request, verdict: str, belief: str) -> Response | None:
    newest = request.history[-1].message.text
    if newest.startswith(prompts.JUDGE[:60]) or newest.endswith(prompts.JUDGE_ITEM[-40:]):
        return _response(request, verdict)
    if newest == prompts.BELIEF:
        return _response(request, belief)
    return None


def _forced(request: Request) -> bool:
    return request.history[-1].message.text.startswith((prompts.LAST, prompts.AGAIN))


def _search(request: Request, thought: str, query: str) -> Response:
    form = request.history[0].message.text
    if "Action:" in form:
        return _response(request, f"Thought: {thought}\nAction: search[{query}]")
    if "<search>" in form:
        return _response(request, f"<think>{thought}</think><search>{query}</search>")
    call = Call(f"call-{len(request.history)}", "search", json.dumps({"query": query}))
    return _response(request, thought, (call,))


def _answer(request: Request, answer: str) -> Response:
    form = request.history[0].message.text
    if "Action:" in form:
        return _response(request, f"Thought: I answer now.\nAction: finish[{answer}]")
    if "<search>" in form:
        return _response(request, f"<think>I answer now.</think><answer>{answer}</answer>")
    return _response(request, answer)


def _response(request: Request, text: str, calls: tuple[Call, ...] = ()) -> Response:
    words = sum(len(entry.message.text.split()) for entry in request.history)
    return Response(text, calls, False, words, len(text.split()))
