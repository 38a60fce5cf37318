"""A fact that may be unknown: the value, or why it is not there."""

from __future__ import annotations

from typing import TypeVar, Union

from msgspec import Struct

from jupyter_mlgpu.record.sentence import Sentence, say

T = TypeVar("T")


class Unknown(Struct, frozen=True, omit_defaults=True, rename={"reason": "unknown"}):
    """A fact that is not known, and why; `asked` is False where nobody looked on purpose."""

    reason: Sentence
    asked: bool = True


#: A fact: None is a value ("there is none"), Unknown is not.
Maybe = Union[T, Unknown]  # noqa: UP007 - an alias with a variable

NOT_TOLD = Unknown(say("These facts do not include it."))


class NotKnownError(Exception):
    """A check needs what is unknown, or is not there; the doctor says so in the check's place."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown.reason)
        self.unknown = unknown


def known(fact: Maybe[T]) -> T:
    """The fact; where it is unknown the check ends here, as skipped or not asked, with the reason."""
    if isinstance(fact, Unknown):
        raise NotKnownError(fact)
    return fact


def known_or(fact: Maybe[T], otherwise: T) -> T:
    """The fact, or `otherwise` where it is unknown: for facts that only make a sentence better."""
    return otherwise if isinstance(fact, Unknown) else fact
