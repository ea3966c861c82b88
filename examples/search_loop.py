"""A search loop of your own, stopped by a rule.

The catalogue is down for everything but rivers, and the agent below would ask it for ever. The rule
sees a verdict on each result; once it fires, no more search is made and the answer is demanded.

    python examples/search_loop.py
"""

from __future__ import annotations

from haltwise import Decision, SearchLoop, parse_policy
from haltwise.signals import Lexical, SignalStep

CATALOGUE = {"river": "The river of Strelsau has many bridges."}


def search(query: str) -> str:
    """Return what the catalogue has; a source of your own goes here."""
    return next((text for word, text in CATALOGUE.items() if word in query), "No results found.")


def next_query(question: str, results: list[str]) -> str:
    """Return the agent's next query; your model goes here."""
    return f"{question} (attempt {len(results) + 1})"


def answer(question: str, results: list[str], stop: Decision) -> str:
    """Return an answer without tools; your model goes here, asked for its answer."""
    found = [text for text in results if text != "No results found."]
    return found[-1] if found else f"Not found: {stop.reason}."


def ask(question: str) -> str:
    """Search until the rule stops it, then answer."""
    signal = Lexical()
    loop = SearchLoop(parse_policy("streak(3) | deadline(8)"))
    results: list[str] = []
    while not loop.decision.stops:
        query = next_query(question, results)
        results.append(search(query))
        verdict = signal.judge(SignalStep(question=question, results=(results[-1],)))
        loop.observe(verdict, call=query, result=results[-1])
    print(f"{len(results)} searches: {loop.decision.reason}")
    return answer(question, results, loop.decision)


if __name__ == "__main__":
    print(ask("Who was king of Ruritania in 1894?"))
    print(ask("Which river flows through Strelsau?"))
