"""The types of a kernel's messages to browsers; scripts/readers.py generates the browser's readers of them.

`channel.py` says how they are sent, and `live_counters.py`, `sidebar_settings.py`, `doctor_light.py` and
`restart.py` what they mean. They are dicts as in JSON, because much of their content is JSON already.
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
)
from jupyter_mlgpu.record.decoding import Name
from jupyter_mlgpu.record.record import Cell, Mode
from jupyter_mlgpu.record.strip import StripSoFar
from jupyter_mlgpu.show.receipts.view import OpenReceiptData

#: Most samples of a history that a browser keeps: five minutes at two a second.
SAMPLES = 600

#: Most events of a delta, and most records of an answer, that a browser reads.
MANY = 20_000

#: Most memory samples of a cell that a browser reads.
MOST_SAMPLES = 2_000

#: A record as JSON (`Record.to_json`).
RecordJson = dict[str, Any]
#: Native lines as JSON. A browser reads them up to a limit of characters.
Lines = list[dict[str, Any]]
_Seconds = Annotated[Amount, Otherwise(0)]
_Series = Annotated[list[Annotated[CounterSeries, InPlace()]], Most(MOST_SERIES)]


class ChoiceData(TypedDict):
    """A word for `%mlc_device`, and the hardware's name or what choosing it does."""

    word: Name
    about: Said | None


class PickerData(TypedDict):
    """The choices of a device control of one framework or of all; `missing` says why there is no GPU."""

    framework: str | None
    chosen: Name
    words: Annotated[list[ChoiceData], Otherwise(())]
    missing: Annotated[list[Said], Otherwise(())]


class FrameworkData(TypedDict):
    """An imported framework, with the versions of its packages."""

    name: Name
    versions: Mapping[str, str]


class DeviceStatusData(TypedDict):
    """The requested devices, as in a record, the devices that can be chosen, and the imported frameworks.

    `kind` is the kind of device that new work goes to, None if it is not known.
    """

    requested: Mapping[str, str]
    kind: Literal["cpu", "gpu"] | None
    pickers: Annotated[list[PickerData], Otherwise(())]
    frameworks: Annotated[list[FrameworkData], Otherwise(())]


class WaitingDevice(TypedDict):
    """The device that will be set when the running cell ends; `framework` is None for all frameworks."""

    word: Name
    framework: str | None


class RestartHint(TypedDict):
    """The reason for a restart, how to do it by hand, and words of `%mlc_trace verbose` to run after it."""

    sentence: Said
    by_hand: Said
    verbose: str | None


class SaidData(TypedDict):
    """The kernel's answer to the last choice."""

    sentence: Annotated[Said, Meta(min_length=1)]
    refused: bool
    restart: RestartHint | None


class SidebarState(TypedDict):
    """The choices that wait for the running cell to end (None if there is none), and the last answer."""

    device: WaitingDevice | None
    trace: bool | None
    said: SaidData | None


class RunData(TypedDict):
    """The number of a run of a repeating cell, and the number of runs."""

    number: int
    of: int


class RunningData(TypedDict):
    """The running cell, and its elapsed seconds when this was sent."""

    cell: Cell
    started_at: Annotated[str, Unread()]
    elapsed_s: Annotated[_Seconds, Called("elapsed")]
    mode: Annotated[Mode, Otherwise("light")]
    run: RunData | None
    progress: Said | None
    logs: NotRequired[Annotated[Lines, Otherwise(())]]


class SampleData(NamedTuple):
    """A time in seconds on the kernel's own clock, and the values in the order of the series."""

    t: Amount
    values: ValuesData


class CountersHistoryData(TypedDict):
    """The live counters in a snapshot; `t` is its time on the samples' clock."""

    series: _Series
    interval: Annotated[Amount, Otherwise(0.5)]
    watching: Annotated[bool, Unread()]
    t: Amount
    history: Annotated[list[SampleData], Newest(SAMPLES), Called("samples")]


class CountersEventData(TypedDict):
    """The newest sample; `series` is present if it changed, and `strip` is the running cell's work so far."""

    type: NotRequired[Annotated[Literal["counters"], Unread()]]
    time: Annotated[str, Otherwise("")]
    t: Amount
    values: ValuesData
    strip: NotRequired[StripSoFar | None]
    series: NotRequired[_Series]


class WatchData(TypedDict):
    """The answer to a request for live counters: if they are sampled, for how long, and why not."""

    watching: bool
    seconds: _Seconds
    interval: Annotated[Amount, Unread()]
    why_missing: Said | None


class DoctorData(TypedDict):
    """The doctor's state: `found` is None before it has answered, `problem` says why it gave no answer."""

    asking: bool
    found: LightDiagnosis | None
    problem: Said | None


class MemorySampleData(NamedTuple):
    """A sample of a running cell: seconds from its start, and the values in the order of the series."""

    at: Amount
    values: ValuesData


class MemorySamplesData(TypedDict):
    """Memory samples of a cell, `interval` seconds apart."""

    series: Annotated[list[Annotated[CounterSeries, InPlace()]], Otherwise(())]
    interval: Amount
    samples: Annotated[list[MemorySampleData], Most(MOST_SAMPLES), Otherwise(())]


class RecordPageData(TypedDict):
    """A cell's open receipt and memory samples, which are parsed separately, or why there are none.


    `timeline` is "kept" if the kernel has the cell's events, else the reason why not.
    """

    timeline: Annotated[Literal["kept", "light", "none", "gone"], Otherwise("gone")]
    samples: Annotated[MemorySamplesData | None, Unread()]
    why_no_samples: Literal["short", "unwatched", "gone"] | None
    receipt: OpenReceiptData | None


class RecordsState(TypedDict):
    """Consecutive records, oldest first; None stands for one that a browser cannot read.

    `first` is the place of the first of them, `oldest` the first place that can be requested, and `dropped`
    the number of records before it.
    """

    records: Annotated[Sequence[RecordJson | None], Most(MANY), Otherwise(())]
    first: Annotated[int, Otherwise(0)]
    oldest: Annotated[int, Otherwise(0)]
    dropped: Annotated[int, Otherwise(0)]


class RecordsData(RecordsState):
    """The records as a browser gets them, with the run's id."""

    run: Name


class VersionsData(TypedDict):
    """The version of Python."""

    python: str | None


class SnapshotState(TypedDict):
    """The kernel's state without its records; `logs` are the lines before the first cell."""

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
    """The snapshot as a browser gets it, with the run's id and the number of the last delta."""

    run: Name
    seq: int


class RecordEvent(TypedDict):
    """A new or changed record, and its place among the kernel's records (None if it has none)."""

    type: Annotated[Literal["record"], Unread()]
    place: int | None
    record: RecordJson


class LinesEvent(TypedDict):
    """New lines of the running cell with that number, or of no cell if it is None."""

    type: Annotated[Literal["logs"], Unread()]
    sequence: int | None
    lines: Lines


class DeviceEvent(TypedDict):
    """The devices or the request for them have changed."""

    type: Annotated[Literal["device"], Unread()]
    device: DeviceStatusData


class SidebarEvent(TypedDict):
    """A user has chosen something, or a choice has been applied."""

    type: Annotated[Literal["choices"], Unread()]
    choices: SidebarState


class DoctorEvent(TypedDict):
    """The doctor was started, or has answered."""

    type: Annotated[Literal["doctor"], Unread()]
    doctor: DoctorData


class ProgressEvent(TypedDict):
    """The running cell's progress."""

    type: Annotated[Literal["progress"], Unread()]
    sequence: int
    progress: Said | None


class TraceEvent(TypedDict):
    """Tracing was turned on or off."""

    type: Annotated[Literal["trace"], Unread()]
    on: bool
