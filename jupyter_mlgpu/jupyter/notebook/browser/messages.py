"""The types of a kernel's messages to browsers; scripts/readers.py makes the browser's readers of them.

`channel.py` says how they travel, and `live_counters.py`, `sidebar_settings.py`, `doctor_light.py` and
`restart.py` what they mean. They are tables as JSON has them, because much of their content is JSON already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from msgspec import Meta

from jupyter_mlgpu.explain.doctor.light import LightDiagnosis
from jupyter_mlgpu.measure.probes.live import MOST_SERIES, CounterSeries, ValuesData
from jupyter_mlgpu.record.bounds import (
    Amount,
    Called,
    InPlace,
    Most,
    Newest,
    Otherwise,
    Said,
    Unread,
    Whether,
)
from jupyter_mlgpu.record.decoding import Name
from jupyter_mlgpu.record.record import Cell
from jupyter_mlgpu.record.strip import StripSoFar
from jupyter_mlgpu.show.receipts.view import OpenReceiptData

#: Samples of a history that a browser keeps: twice a second, for five minutes.
SAMPLES = 600

#: Events of a delta, and records of an answer, that a browser reads.
MANY = 20_000

#: Looks at a cell that a browser reads.
MOST_SAMPLES = 2_000

#: A record as JSON (`Record.to_json`).
RecordJson = dict[str, Any]
#: Native lines as JSON, which a browser reads for as long as they are not too many characters.
Lines = list[dict[str, Any]]
_Seconds = Annotated[Amount, Otherwise(0)]
_Series = Annotated[list[Annotated[CounterSeries, InPlace()]], Most(MOST_SERIES)]


class ChoiceData(TypedDict):
    """A word for `%mlc_device`, and what is behind it."""

    word: Name
    about: Said | None


class PickerData(TypedDict):
    """The choices of one device control, for a framework or for all; `missing` says why it offers no GPU."""

    framework: str | None
    chosen: Name
    words: Annotated[list[ChoiceData], Otherwise(())]
    missing: Annotated[list[Said], Otherwise(())]


class FrameworkData(TypedDict):
    """A framework that is imported, with the versions of what belongs to it."""

    name: Name
    versions: Mapping[str, str]


class DeviceStatusData(TypedDict):
    """The devices asked for, as in a record, what can be chosen, and what is imported."""

    requested: Mapping[str, str]
    pickers: Annotated[list[PickerData], Otherwise(())]
    frameworks: Annotated[list[FrameworkData], Otherwise(())]


class WaitingDevice(TypedDict):
    """The device that waits for the end of the running cell; `framework` None: for all of them."""

    word: Name
    framework: str | None


class RestartHint(TypedDict):
    """Why a restart is needed, how to do it by hand, and the words of `%mlc_trace verbose` for what comes."""

    sentence: Said
    by_hand: Said
    verbose: str | None


class SaidData(TypedDict):
    """The kernel's answer to the last choice."""

    sentence: Annotated[Said, Meta(min_length=1)]
    refused: bool
    restart: RestartHint | None


class SidebarState(TypedDict):
    """The choices that wait for the running cell to end (None: no such choice), and the last answer."""

    device: WaitingDevice | None
    trace: bool | None
    said: SaidData | None


class RunData(TypedDict):
    """The number of a run of a cell that repeats, and how many runs there are."""

    number: int
    of: int


class RunningData(TypedDict):
    """A cell that runs, and for how many seconds it had when this was sent."""

    cell: Cell
    started_at: Annotated[str, Unread()]
    elapsed_s: Annotated[_Seconds, Called("elapsed")]
    mode: Annotated[Literal["light", "profiled"], Whether("profiled")]
    run: RunData | None
    progress: Said | None
    logs: NotRequired[Annotated[Lines, Otherwise(())]]


class SampleData(NamedTuple):
    """A moment in seconds on the kernel's own clock, and the values in the order of the series."""

    t: Amount
    values: ValuesData


class CountersHistoryData(TypedDict):
    """The live counters in a snapshot: `t` is its moment on the samples' clock."""

    series: _Series
    interval: Annotated[Amount, Otherwise(0.5)]
    watching: Annotated[bool, Unread()]
    t: Amount
    history: Annotated[list[SampleData], Newest(SAMPLES), Called("samples")]


class CountersEventData(TypedDict):
    """The newest sample; `series` is there when it has changed, `strip` is what the running cell has done."""

    type: NotRequired[Annotated[Literal["counters"], Unread()]]
    time: Annotated[str, Otherwise("")]
    t: Amount
    values: ValuesData
    strip: NotRequired[StripSoFar | None]
    series: NotRequired[_Series]


class WatchData(TypedDict):
    """The answer to a browser that watches: whether samples come, for how long, and why not."""

    watching: bool
    seconds: _Seconds
    interval: Annotated[Amount, Unread()]
    why_missing: Said | None


class DoctorData(TypedDict):
    """Whether the doctor is being asked, what it found, None where it has not, and why it gave no answer."""

    asking: bool
    found: LightDiagnosis | None
    problem: Said | None


class MemorySampleData(NamedTuple):
    """A look while a cell ran: seconds from its start, and the values in the order of the series."""

    at: Amount
    values: ValuesData


class MemorySamplesData(TypedDict):
    """Looks at memory while a cell ran, so many seconds apart."""

    series: Annotated[list[Annotated[CounterSeries, InPlace()]], Otherwise(())]
    interval: Amount
    samples: Annotated[list[MemorySampleData], Most(MOST_SAMPLES), Otherwise(())]


class RecordPageData(TypedDict):
    """The open receipt of a cell, its samples of memory, which are read apart, and why these are missing.

    `timeline` says whether the kernel keeps the cell's events, or why not.
    """

    timeline: Annotated[Literal["kept", "light", "none", "gone"], Otherwise("gone")]
    samples: Annotated[MemorySamplesData | None, Unread()]
    why_no_samples: Literal["short", "unwatched", "gone"] | None
    receipt: OpenReceiptData | None


class RecordsState(TypedDict):
    """Records that follow each other, oldest first: None stands for one that a browser cannot read.

    `first` is the place of the first of them, `oldest` the first place that can be asked for, and `dropped`
    how many records were there before it.
    """

    records: Annotated[Sequence[RecordJson | None], Most(MANY), Otherwise(())]
    first: Annotated[int, Otherwise(0)]
    oldest: Annotated[int, Otherwise(0)]
    dropped: Annotated[int, Otherwise(0)]


class RecordsData(RecordsState):
    """The same as a browser gets it: of which run."""

    run: Name


class VersionsData(TypedDict):
    """The version of Python."""

    python: str | None


class SnapshotState(TypedDict):
    """The state of a kernel but its records; `logs` are lines of no cell, which came before the first."""

    tracing: bool
    notebook: Annotated[str | None, Unread()]
    device: NotRequired[DeviceStatusData]
    running: RunningData | None
    logs: Annotated[Lines, Otherwise(())]
    counters: CountersHistoryData | None
    choices: NotRequired[SidebarState]
    doctor: NotRequired[DoctorData]
    versions: NotRequired[VersionsData]


class SnapshotData(SnapshotState):
    """The same as a browser gets it: of which run, and after which delta."""

    run: Name
    seq: int


class RecordEvent(TypedDict):
    """A record that is new or has changed, and its place among the kernel's records; None: it is not told."""

    type: Annotated[Literal["record"], Unread()]
    place: int | None
    record: RecordJson


class LinesEvent(TypedDict):
    """New lines of the running cell of that number; None: lines of no cell."""

    type: Annotated[Literal["logs"], Unread()]
    sequence: int | None
    lines: Lines


class DeviceEvent(TypedDict):
    """The devices have changed, or what was asked for."""

    type: Annotated[Literal["device"], Unread()]
    device: DeviceStatusData


class SidebarEvent(TypedDict):
    """Somebody has chosen something, or it was done."""

    type: Annotated[Literal["choices"], Unread()]
    choices: SidebarState


class DoctorEvent(TypedDict):
    """The doctor is asked, or has answered."""

    type: Annotated[Literal["doctor"], Unread()]
    doctor: DoctorData


class ProgressEvent(TypedDict):
    """What the running cell is at."""

    type: Annotated[Literal["progress"], Unread()]
    sequence: int
    progress: Said | None


class TraceEvent(TypedDict):
    """Cells are traced from now on, or not."""

    type: Annotated[Literal["trace"], Unread()]
    on: bool
