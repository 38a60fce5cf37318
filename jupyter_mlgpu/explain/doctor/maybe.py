"""A fact that may be unknown: the value, or the reason why it is missing."""

from __future__ import annotations

from typing import TypeVar, Union

from msgspec import Struct

from jupyter_mlgpu.record.sentence import Sentence, say

T = TypeVar("T")


class Unknown(Struct, frozen=True, omit_defaults=True, rename={"reason": "unknown"}):
    """A missing fact and the reason; `asked` is False if it was not gathered on purpose."""

    reason: Sentence
    asked: bool = True


#: A fact: None is a known value ("there is none"), Unknown is not.
Maybe = Union[T, Unknown]  # noqa: UP007 - an alias with a variable

NOT_TOLD = Unknown(say("These facts do not include it."))


class NotKnownError(Exception):
    """A check needs a fact that is unknown or missing; the doctor reports the reason as its result."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown.reason)
        self.unknown = unknown


def known(fact: Maybe[T]) -> T:
    """Return the fact; raises NotKnownError, which skips the check, if it is unknown."""
    if isinstance(fact, Unknown):
        raise NotKnownError(fact)
    return fact


def known_or(fact: Maybe[T], otherwise: T) -> T:
    """Return the fact, or `otherwise` if it is unknown: for facts that only improve a sentence."""
    return otherwise if isinstance(fact, Unknown) else fact
