"""The profile of one cell: turns the profilers of all loaded frameworks on and off and reads them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.measure.ops import operation_rates, table, work
from jupyter_mlgpu.measure.ops.busy import DeviceBusy, device_busy
from jupyter_mlgpu.measure.ops.events import Profile
from jupyter_mlgpu.measure.ops.profiler import Profiler, Refused, Session
from jupyter_mlgpu.measure.ops.work import CellWork
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import PROFILE_READ, WORKED_IN, Fact, OpStat
from jupyter_mlgpu.record.sentence import Sentence, joined, say

Find = Callable[[str], Profiler | Refused]

#: Rows of the table that a record keeps. A learner reads ten, but every browser receives them all.
ROWS = 300

_SLOWER = say("A profiler slows Python, so in a light run the device is idle for less time.")
NO_PROFILE = say("No profile of this cell was taken.")
NOT_COUNTED = say("Counting floating-point operations requires input shapes: `%%mlc_trace --ops --shapes`.")
NO_WORK = say("No profiler here reported floating-point operations, or the shapes to derive them from.")
NOTHING_ON = say("No framework with a profiler was loaded in this cell, so there are no times per operation.")


@dataclass(frozen=True, slots=True)
class CellProfileResult:
    """The result of a cell's profile: rows, device times, facts, sentences, and the profiles themselves.

    `on`: a profiler was on, ours or the user's own, so no time of the cell is a timing.
    """

    on: bool
    ops: tuple[OpStat, ...]
    readings: tuple[Reading, ...]
    facts: Mapping[str, Fact]
    notes: tuple[Sentence, ...]
    profiles: tuple[Profile, ...] = ()


class CellProfile:
    """The profilers of one cell. `find` returns a framework's profiler, or the reason for having none.

    With `shapes` they also record input shapes and FLOP if they can.
    """

    def __init__(self, find: Find, *, shapes: bool = False) -> None:
        self._find = find
        self._shapes = shapes
        self._sessions: dict[str, Session] = {}
        self._refused: dict[str, Refused] = {}
        self._window_ns = [0, 0]
        self._seconds_to_stop: dict[str, float] = {}

    @property
    def on(self) -> bool:
        """True if a profiler is on in this cell, ours or the user's own."""
        return bool(self._sessions) or any(refused.running for refused in self._refused.values())

    def begin(self, framework: str) -> None:
        """Turn on the profiler of a loaded framework. A second call changes nothing."""
        if framework in self._sessions or framework in self._refused:
            return
        try:
            profiler = self._find(framework)
            started = profiler if isinstance(profiler, Refused) else profiler.start(self._shapes)
        except Exception as error:
            started = Refused(
                say(
                    "The {framework} profiler did not start ({error}).",
                    framework=framework,
                    error=words(error),
                )
            )
        if isinstance(started, Refused):
            self._refused[framework] = started
        else:
            self._sessions[framework] = started

    def cell_begins(self) -> None:
        """Begin the window. The start of the profilers is not in it."""
        self._window_ns[0] = real_time.time_ns()

    def cell_ended(self) -> None:
        """End the window. The cell has ended, and the devices were waited for."""
        self._window_ns[1] = real_time.time_ns()

    def turn_off(self) -> None:
        """Turn all profilers off; `finish` reads them later."""
        try:
            for framework, session in self._sessions.items():
                begun = real_time.perf_counter()
                session.turn_off()
                self._seconds_to_stop[framework] = real_time.perf_counter() - begun
        except BaseException:  # an interrupt must not leave another profiler on
            self.abandon()
            raise

    def abandon(self) -> None:
        """Turn all profilers off without reading them."""
        while self._sessions:
            self._sessions.popitem()[1].abandon()

    def finish(self) -> CellProfileResult:
        """Turn all profilers off and read them. A lost profile costs its own rows, and a note says so."""
        on = self.on
        notes: list[Sentence] = [refused.reason for refused in self._refused.values()]
        if not self._sessions and not self._refused:
            notes.append(NOTHING_ON)
        ops: list[OpStat] = []
        profiles: list[Profile] = []
        readings: list[Reading] = []
        facts: dict[str, Fact] = {}
        works: list[tuple[Profile, CellWork]] = []
        try:
            for framework in list(self._sessions):
                begun = real_time.perf_counter()
                try:
                    profile = self._sessions.pop(framework).stop()
                except Exception as error:
                    notes.append(
                        say(
                            "The {framework} profile was lost ({error}).",
                            framework=framework,
                            error=words(error),
                        )
                    )
                    continue
                start_ns, end_ns = self._window_ns
                profile = dataclasses.replace(profile, start_ns=start_ns, end_ns=end_ns)
                profiles.append(profile)
                ops += table.rows(profile)
                devices = device_busy(profile)
                readings += [*_device_times(profile, devices), *operation_rates.readings(profile, devices)]
                if (done := work.cell_work(profile)) is not None:
                    works.append((profile, done))
                notes += _notes(profile, devices)
                seconds = self._seconds_to_stop.get(framework, 0.0) + real_time.perf_counter() - begun
                facts[framework + PROFILE_READ] = Fact(round(seconds, 3), Sentence("time.perf_counter"))
        finally:
            self.abandon()  # an interrupt while one is read must not leave another on
        readings += self._work(works, facts)
        ops.sort(key=lambda row: -(row.share or 0))
        if not profiles:
            readings.insert(0, missing("device_time", NO_PROFILE, scope="device"))
        if len(ops) > ROWS:
            notes.append(
                say(
                    "{count} operations with the smallest shares are not in this record.",
                    count=len(ops) - ROWS,
                )
            )
        # One note for everything about profilers: a receipt shows each note in a place of its own.
        note = (joined(*notes),) if notes else ()
        return CellProfileResult(on, tuple(ops[:ROWS]), tuple(readings), facts, note, tuple(profiles))

    def _work(self, works: Sequence[tuple[Profile, CellWork]], facts: dict[str, Fact]) -> list[Reading]:
        """Return the work of the framework that had most of it. A fact names its device and type."""
        if not works:
            return [work.not_counted(NO_WORK if self._shapes else NOT_COUNTED)]
        profile, most = max(works, key=lambda entry: (entry[1].flops, entry[1].moved or 0))
        facts[WORKED_IN] = work.worked_in_fact(most, profile.profiler)
        return work.readings(profile, most)


def _device_times(profile: Profile, devices: tuple[DeviceBusy, ...]) -> list[Reading]:
    if not devices:
        why = profile.why_no_device_time or say(
            "The {framework} profiler saw no kernel and no copy on a GPU in this cell.",
            framework=profile.framework,
        )
        return [missing("device_time", why, scope="device", source="profiler", detail=profile.profiler)]
    if not profile.complete:
        why = say(
            "The {framework} profiler did not see all of this cell, so the time is not known.",
            framework=profile.framework,
        )
        return [missing("device_time", why, scope="device", source="profiler", detail=profile.profiler)]
    readings = []
    for device in devices:
        busy = say(
            "{profiler}, union of kernels and copies of {devices}",
            profiler=profile.profiler,
            devices=device.device,
        )
        idle = say(
            "{profiler}: 1 - (union of kernels and copies of {device}) / (the cell, from start to end)",
            profiler=profile.profiler,
            device=device.device,
        )
        on, count = device.device, device.intervals
        readings += [
            Reading(
                "device_time",
                device.busy_ns / 1e9,
                "s",
                "device",
                "profiler",
                count,
                device=on,
                detail=busy,
            ),
            Reading(
                "device_idle",
                device.idle_share,
                "share",
                "device",
                "profiler",
                count,
                device=on,
                detail=idle,
            ),
        ]
    return readings


def _notes(profile: Profile, devices: tuple[DeviceBusy, ...]) -> list[Sentence]:
    notes: list[Sentence] = list(profile.problems)
    if profile.left_out:
        notes.append(
            say(
                "{count} of the profiler's events were left out ({why}): counts and times "
                "per operation cover only the others.",
                count=profile.left_out,
                why=profile.why_left_out or "?",
            )
        )
    if profile.complete and devices:
        notes += [*map(_idle_note, devices), _SLOWER]
    return notes


def _idle_note(device: DeviceBusy) -> Sentence:
    ends = device.idle_share - device.between_share
    return say(
        "{device} was idle {share} of this profiled cell: {between} between its {count} kernels "
        "and copies, {ends} before the first and after the last.",
        device=device.device,
        share=_percent(device.idle_share),
        between=_percent(device.between_share),
        count=device.intervals,
        ends=_percent(ends),
    )


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %" if 0.01 <= share <= 0.99 or share <= 0 else f"{share * 100:.1f} %"
