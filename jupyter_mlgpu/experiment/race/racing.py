"""Run a whole race, one lane after another, and return the result even if the race ends early."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from jupyter_mlgpu.experiment.race.options import RaceOptions
from jupyter_mlgpu.experiment.race.result import Lane, RaceResult
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Device, Observed
from jupyter_mlgpu.record.clock import Clock
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.reading import missing
from jupyter_mlgpu.record.record import Outcome
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: Runs one device's lane, and returns it with the error that ended it and the race early.
RunLane = Callable[[Device], tuple[Lane, BaseException | None]]


@dataclass(frozen=True, slots=True)
class FinishedRace:
    """The result of a race, and the error or interrupt that ended it, to be raised again."""

    result: RaceResult
    error: BaseException | None


def framework_of(named: str | None, loaded: Sequence[str]) -> str:
    """Return the framework that races: the named one, else the only one imported. Raises UsageError."""
    if named is not None:
        return named
    if len(loaded) == 1:
        return loaded[0]
    if not loaded:
        raise UsageError(
            "No framework is imported yet, so there is nothing to race with: import the one you use, or name "
            "it, as in `%%mlc_race --framework torch`. Nothing was run."
        )
    raise UsageError(
        f"Several frameworks are imported ({', '.join(map(registry.title, loaded))}): name the one that the "
        f"cell uses, as in `%%mlc_race --framework {loaded[0]}`. Nothing was run."
    )


def devices_for(asked: Sequence[DeviceWord], devices: Sequence[Device]) -> list[Device]:
    """Return the requested devices, each once, or all if none was. Raises DeviceError for a missing one."""
    if not asked:
        return list(devices)
    return list(dict.fromkeys(word.find(devices) for word in asked))


def race(
    options: RaceOptions,
    cell: str,
    framework: str,
    devices: Sequence[Device],
    run_lane: RunLane,
    *,
    clock: Clock,
    versions: Callable[[], Mapping[str, str]],
    notes: Sequence[Sentence] = (),
) -> FinishedRace:
    """Run a lane for each device until one ends the race.

    `cell` is the title of what is raced. `versions` is called at the end.
    """
    started_at = clock.utc()
    lanes: list[Lane] = []
    error: BaseException | None = None
    for device in devices:
        lane, error = run_lane(device)
        lanes.append(lane)
        if error is not None:
            break
    return FinishedRace(
        RaceResult(
            cell,
            framework,
            options.variable,
            options.repeats,
            options.fresh,
            tuple(lanes),
            _outcome(error),
            started_at,
            clock.source,
            dict(versions()),
            tuple(notes),
        ),
        error,
    )


def combined_observation(first_runs: Sequence[Observed], why: Sentence) -> Observed:
    """Return the devices that the first runs of a race used; `why` says that only these were observed."""
    places = {one.device: one for observed in first_runs for one in observed.ran_on or ()}
    unknown = not first_runs or any(observed.ran_on is None for observed in first_runs)
    ran_on = tuple(replace(one, operations=None, share=None, why_missing=why) for one in places.values())
    only = {observed.only for observed in first_runs}
    peak = missing("peak_memory_allocator", why)
    if ran_on or not unknown:
        return Observed(ran_on, None, (peak,))
    return Observed(None, why, (peak,), only=only.pop() if len(only) == 1 else None)


def why_alone(
    options: RaceOptions, backend: Backend, devices: Sequence[Device], there: Sequence[Device]
) -> Sentence:
    """Return the reason why there is only one device, so that nothing is raced."""
    (device,) = devices
    if len(there) > 1:
        return say("No race: only {device} was requested.", device=device.name)
    framework = registry.title(backend.name)
    alone = say(
        "No race: {device} is the only {framework} device here.",
        device=device.name,
        framework=framework,
    )
    if backend.loaded() and device.name.startswith("cpu"):
        return joined(alone, backend.why_no_gpu())
    return alone


def _outcome(error: BaseException | None) -> Outcome:
    if error is None:
        return "ok"
    return "interrupted" if isinstance(error, KeyboardInterrupt) else "error"
