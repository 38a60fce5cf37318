"""Mark answers as right, wrong or open, and decide if the engine passes. Nothing is run here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from jupyter_mlgpu.record.limit import Confidence, LimitKind
from tests.limits.program import Program

Mark = Literal["right", "wrong", "open"]
#: The least part of right answers, and the largest part of open ones, with which the engine passes.
RIGHT_AT_LEAST, OPEN_AT_MOST = 0.95, 0.20
#: Where a cell had to wait for a core this long, as the harness itself counts it, others limited it, too.
DISTURBED = 0.2


@dataclass(frozen=True)
class Answer:
    """The engine's answer on one cell.

    `kind` is None where it gave no answer, and `said` is the reason then. `seconds` are those of the cell,
    and `delayed` the part of them in which it waited for a core that other programs had, both as the harness
    saw them. `at_least` are the seconds that it would take without its limit; None where that is not said.
    `explained` is the part of the time of which it said what took it.
    """

    kind: LimitKind | None
    confidence: Confidence | None = None
    share: float | None = None
    said: str = ""
    seconds: float = 0.0
    delayed: float = 0.0
    at_least: float | None = None
    explained: float = 0.0

    @classmethod
    def of(cls, record: Mapping[str, Any], seconds: float = 0.0, delayed: float = 0.0) -> Answer:
        """Read the answer from a record as JSON, its sentences as texts."""
        limit = record.get("limit")
        if limit is None:
            return cls(None, said=record.get("why_no_limit") or "", seconds=seconds, delayed=delayed)
        kind, confidence = limit["kind"], limit["confidence"]
        if kind not in get_args(LimitKind) or confidence not in get_args(Confidence):
            raise ValueError(f"A record's limit is of no known kind or confidence: {limit}")
        without = (one["value"] for one in limit["evidence"] if one["quantity"] == "time_without")
        said, share = limit["said"], limit.get("share")
        parts: Mapping[str, float] = limit.get("parts") or {}
        explained = min(1.0, max(share or 0.0, sum(parts.values())))
        return cls(kind, confidence, share, said, seconds, delayed, next(without, None), explained)

    @property
    def is_open(self) -> bool:
        """True where the engine left the question open."""
        return self.kind in (None, "unknown") or self.confidence == "open"

    @property
    def disturbed(self) -> bool:
        """True where other programs had the cores."""
        return self.delayed > DISTURBED

    def mark(self, kinds: Sequence[LimitKind]) -> Mark:
        """Right where it is one of these; what is open is neither right nor wrong."""
        if self.is_open:
            return "open"
        return "right" if self.kind in kinds else "wrong"


@dataclass(frozen=True)
class Question:
    """A cell, the kinds that are right by its construction, and the answer."""

    name: str
    kinds: tuple[LimitKind, ...]
    answer: Answer

    @property
    def right(self) -> tuple[LimitKind, ...]:
        """The kinds that are right as it was run: others had the cores, or nobody had."""
        if self.answer.disturbed and "contention" not in self.kinds:
            return (*self.kinds, "contention")
        return self.kinds

    @property
    def mark(self) -> Mark:
        """The answer's mark."""
        return self.answer.mark(self.right)


@dataclass(frozen=True)
class Judged:
    """A program, what the engine said of it, and of the mended one where there is one."""

    program: Program
    planted: Answer
    mended: Answer | None = None

    @property
    def disturbed(self) -> bool:
        """True where other programs had the cores in a cell that has no such programs planted."""
        planted = self.planted.disturbed and self.program.load != "processor"
        return planted or (self.mended is not None and self.mended.disturbed)

    @property
    def changed(self) -> bool | None:
        """True where mending the program changed the answer; None where there is no mended one."""
        return None if self.mended is None else self.mended.kind != self.planted.kind

    @property
    def beyond_its_bound(self) -> bool:
        """True where the mended program took less time than the bound of the planted one allows."""
        bound = self.planted.at_least
        return self.mended is not None and bound is not None and self.mended.seconds < bound

    @property
    def questions(self) -> list[Question]:
        """The questions on the program, and on the mended one where its kinds are known."""
        asked = [Question(self.program.id, self.program.kinds, self.planted)]
        if self.mended is not None and self.program.mended_kinds:
            asked.append(Question(f"{self.program.id} (mended)", self.program.mended_kinds, self.mended))
        return asked


@dataclass(frozen=True)
class Score:
    """The engine's result over all programs; shares from 0 to 1, None of nothing.

    `right` is of the answers that are sure or likely, `precise` the part of the right ones that is the
    narrowest kind. Where other programs had the cores (`disturbed`), `contention` is right, too, and the
    engine may leave the question open, or give the same answer to the mended program.
    """

    questions: int
    answered: int
    right: float | None
    precise: float | None
    open: float | None
    wrong: tuple[str, ...]
    wrong_sure: tuple[str, ...]
    mended: int
    unchanged: tuple[str, ...]
    disturbed: tuple[str, ...]
    bounds: int
    beyond: tuple[str, ...]

    @property
    def failures(self) -> list[str]:
        """The demands that are not met, in words; none where the engine passes."""
        failed = []
        if not self.questions:
            failed.append("no program was asked")
        if self.wrong_sure:
            failed.append(f"sure and wrong: {', '.join(self.wrong_sure)}")
        if self.right is not None and self.right < RIGHT_AT_LEAST:
            failed.append(
                f"right are {self.right:.0%} of {self.answered}, not {RIGHT_AT_LEAST:.0%}: "
                f"wrong are {', '.join(self.wrong)}"
            )
        if self.open is not None and self.open > OPEN_AT_MOST:
            failed.append(f"open are {self.open:.0%} of {self.questions}, more than {OPEN_AT_MOST:.0%}")
        if self.unchanged:
            failed.append(f"mended, and the answer is the same: {', '.join(self.unchanged)}")
        if self.beyond:
            failed.append(f"mended, and faster than its bound: {', '.join(self.beyond)}")
        return failed


def score(judged: Iterable[Judged]) -> Score:
    """Return the score of these answers."""
    everything = list(judged)
    asked = [question for one in everything for question in one.questions]
    right = [one for one in asked if one.mark == "right"]
    wrong = [one for one in asked if one.mark == "wrong"]
    quiet = [one for one in asked if not one.answer.disturbed]
    mended = [one for one in everything if one.changed or (one.changed is False and not one.disturbed)]
    answered = len(right) + len(wrong)
    return Score(
        questions=len(asked),
        answered=answered,
        right=_part(len(right), answered),
        precise=_part(sum(one.answer.kind == one.kinds[0] for one in right), len(right)),
        open=_part(sum(one.mark == "open" for one in quiet), len(quiet)),
        wrong=tuple(one.name for one in wrong),
        wrong_sure=tuple(one.name for one in wrong if one.answer.confidence == "sure"),
        mended=len(mended),
        unchanged=tuple(one.program.id for one in mended if not one.changed),
        disturbed=tuple(one.program.id for one in everything if one.disturbed),
        bounds=sum(one.mended is not None and one.planted.at_least is not None for one in everything),
        beyond=tuple(one.program.id for one in everything if one.beyond_its_bound),
    )


def _part(count: int, of: int) -> float | None:
    return count / of if of else None
