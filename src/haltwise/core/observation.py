"""What a policy sees of one step. Built from events; says nothing of what to do about them."""

from __future__ import annotations

from operator import index
from typing import NamedTuple

from .errors import ObservationError
from .events import Verdict

MOST_VOTES = 1000
"""Votes that a candidate has at most; binomial coefficients beyond overflow a float."""

_WORDS = ", ".join(f'"{verdict.value}"' for verdict in Verdict)
_VERDICTS: dict[object, Verdict] = {verdict: verdict for verdict in Verdict}


class SearchObservation(NamedTuple):
    """One tool step of a search loop; parallel calls of one turn are a single step.

    A ``NamedTuple`` because one is built per step, and it is the cheapest immutable record.
    """

    verdict: Verdict
    """The judgement of the result."""
    fingerprint: str | None = None
    """Digest of the call together with its result (see `fingerprint`); None when not known."""


class RepairObservation(NamedTuple):
    """One round of a verify-repair loop: the votes on the newest candidate."""

    accepts: int
    """Votes that accept, from 0 to ``votes``."""
    votes: int
    """Votes that were given; 0 when the verifier failed, which leaves beliefs unchanged."""
    valid: bool | None = None
    """The truth where a study knows it; only the oracle policies look at it."""


def as_verdict(word: object) -> Verdict:
    """Return the `Verdict` for ``word``: a `Verdict` or one of its five values.

    Raises:
        ObservationError: for anything else; numbers and differently cased words included.
    """
    verdict = _VERDICTS.get(word) if isinstance(word, str) else None
    if verdict is None:
        raise ObservationError(f"a verdict is one of {_WORDS}; got {word!r}")
    return verdict


def as_votes(accepts: object, votes: object, valid: object = None) -> RepairObservation:
    """Return the observation of one round; whole numbers of any integer type are taken.

    Raises:
        ObservationError: a number is not whole (NaN, floats, texts and bools included) or negative,
            ``accepts`` exceeds ``votes``, ``votes`` exceeds `MOST_VOTES`, or ``valid`` is not True,
            False or None.
    """
    given = _whole("accepts", accepts)
    asked = _whole("votes", votes)
    if given > asked:
        raise ObservationError(
            f"accepts is at most votes; got {given} of {asked} (order: accepts, votes)"
        )
    if asked > MOST_VOTES:
        raise ObservationError(f"votes is at most {MOST_VOTES}; got {asked}")
    if valid is not None and valid is not True and valid is not False:
        raise ObservationError(f"valid is True, False or None; got {valid!r}")
    return RepairObservation(given, asked, valid)


def _whole(name: str, value: object) -> int:
    if type(value) is not int:
        try:
            if isinstance(value, bool):
                raise TypeError
            value = index(value)  # type: ignore[arg-type]
        except TypeError:
            raise ObservationError(
                f"{name} is a whole number of at least 0; got {value!r}; a verifier that failed "
                "gave no vote: accepts=0, votes=0"
            ) from None
    if value < 0:
        raise ObservationError(f"{name} is a whole number of at least 0; got {value!r}")
    return value


def fingerprint(call: object, result: object) -> str:
    """Return a 16-digit digest of a tool call and its result, equal across processes.

    ``call`` and ``result`` are text, or any JSON value (key order does not matter).
    """
    from hashlib import blake2b  # here and in `_canonical`: 8 ms less for ``import haltwise``

    digest = blake2b(_canonical(call).encode("utf-8", "surrogatepass"), digest_size=8)
    digest.update(b"\x00")
    digest.update(_canonical(result).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _canonical(value: object) -> str:
    if isinstance(value, str):
        return value
    import json

    try:
        return json.dumps(value, sort_keys=True, default=repr)
    except (TypeError, ValueError):  # keys of several types, a value that holds itself
        return repr(value)
    except RecursionError:
        raise ObservationError("a call or its result is nested too deeply") from None
