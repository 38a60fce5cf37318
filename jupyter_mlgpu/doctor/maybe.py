"""A fact that may be unknown: the value, or why it is not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, Union

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unknown:
    """A fact that is not known, and why, as a sentence; `asked` is False where nobody looked on purpose."""

    reason: str
    asked: bool = True


#: A fact: None is a value ("there is none"), Unknown is not.
Maybe = Union[T, Unknown]  # noqa: UP007 - an alias with a variable

NOT_TOLD = Unknown("These facts do not tell it.")


class NotKnownError(Exception):
    """A check needs a fact that is unknown; the doctor says so in the check's place."""

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
