"""Whatever reads a stranger's file, each as a function of the bytes and an empty folder.

Our own errors may come out of it, and nothing else. What a reader has accepted must then be shown, saved and
read again: a record that is taken and cannot be drawn is as bad as a traceback.
"""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from jupyter_mlgpu.jupyter.cli import main
from jupyter_mlgpu.record import decoding, files
from jupyter_mlgpu.record.incoming import read_json
from jupyter_mlgpu.record.record import Record
from tests.fuzz import mutations, seeds


@dataclass(frozen=True)
class Reader:
    """`read(data, folder)` of what `inputs()` draws; `whole()` is a file that nobody has changed."""

    read: Callable[[bytes, Path], None]
    inputs: Callable[[], st.SearchStrategy[bytes]]
    whole: Callable[[], bytes] | None = None


def command(*words: object) -> tuple[int, str]:
    """The exit status of `jupyter mlgpu WORDS`, and what it printed: to streams as Python makes them."""
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors, write_through=True)
        for errors in ("strict", "backslashreplace")
    )
    with redirect_stdout(out), redirect_stderr(err):
        status = main([str(word) for word in words])
    assert status in (0, 1, 2), status
    return status, "".join(one.buffer.getvalue().decode() for one in (out, err))  # type: ignore[attr-defined]


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def loaded(data: bytes, folder: Path) -> Sequence[Record]:
    """The records of a file; what was left out of it is told in a line each."""
    records, problems = files.load_records(put(folder, "records.jsonl", data))
    assert all(problem.isprintable() for problem in problems), problems
    return records


def load_and_save(data: bytes, folder: Path) -> None:
    """What was loaded can be saved, and is all there when it is loaded again."""
    records = loaded(data, folder)
    files.save_records(folder / "saved.jsonl", records)
    again, problems = files.load_records(folder / "saved.jsonl")
    assert (len(again), problems) == (len(records), [])
    json.loads(json.dumps([one.to_json() for one in records], allow_nan=False))


def keep(data: bytes, folder: Path) -> None:
    """A journal is brought to its last states, and a kernel's store holds its records, packed."""
    from jupyter_mlgpu.record.store import Store

    records = loaded(data, folder)
    path = put(folder, "journal.jsonl", data)
    files.keep_last_states(path)
    files.Journal(path).append(records[0] if records else Record.from_json(seeds.records()[0][0]))
    store = Store(newest=1)
    store.extend(records)
    assert len(list(store.records())) == len(store)


def show(data: bytes, folder: Path) -> None:
    """Every way in which a record is shown."""
    from jupyter_mlgpu.explain import growth
    from jupyter_mlgpu.explain.logs.catalogue import Catalogue
    from jupyter_mlgpu.explain.logs.reexplain import explain_again
    from jupyter_mlgpu.show.receipts import growing, logbook, text
    from jupyter_mlgpu.show.receipts.bundle import bundle

    records = [explain_again(record, Catalogue.load()) for record in loaded(data, folder)]
    said = [text.table(records), logbook.explained(records, []), logbook.as_json(records, [])]
    said.append(growing.table([*growth.of_all(records, 10), *growth.of_blocks(records, 10)]))
    for record in records:
        json.dumps(bundle(record), allow_nan=False).encode()
    for one in said:
        one.encode()


def report(data: bytes, folder: Path) -> None:
    from jupyter_mlgpu.show.receipts.report import report

    report(loaded(data, folder), title="records").encode()


def export(data: bytes, folder: Path) -> None:
    """A trace is JSON for the strictest reader."""
    from jupyter_mlgpu.show.exporting import chrome, timeline

    def nothing(_: object) -> tuple[()]:
        return ()

    records = loaded(data, folder)
    left_out = timeline.left_out(records, nothing)
    chrome.write(folder / "trace.json", timeline.items(records, nothing), {"left_out": left_out})
    json.loads((folder / "trace.json").read_bytes(), parse_constant=_refuse)


def replay(data: bytes, folder: Path) -> None:
    from jupyter_mlgpu.measure.frameworks.replay import Replay
    from jupyter_mlgpu.show.receipts.bundle import bundle

    replayed = Replay(list(loaded(data, folder)), "records.jsonl")
    for record in replayed.records:
        json.dumps(bundle(record), allow_nan=False).encode()
    assert all(device.native_name for device in replayed.devices())


def compare(data: bytes, folder: Path) -> None:
    """A file beside a whole one, either first."""
    from jupyter_mlgpu.explain.comparing.compare import compare
    from jupyter_mlgpu.show.comparing import page
    from jupyter_mlgpu.show.page import plotly, view

    records = loaded(data, folder)
    whole = [Record.from_json(one) for one in seeds.records()[0]]
    for first, second in ((records, whole), (whole, records)) if records != whole else ():
        found = compare(first, second)
        for said in (
            repr(found),
            found._repr_html_(),
            json.dumps(decoding.to_json(view.data(page.page(found))), allow_nan=False),
        ):
            said.encode()
        plotly.figure(page.chart(found))


def doctor(data: bytes, folder: Path) -> None:
    from jupyter_mlgpu.explain.doctor.consult import consult
    from jupyter_mlgpu.show.doctor import page

    path = put(folder, "facts.json", data)
    for words in ((), ("--all", "--language", "zh"), ("--json",), ("--fix-plan",)):
        command("doctor", "--facts", path, *words)
    page.html(consult(facts_from=path, save_to=folder / "again.json")).encode()
    consult(facts_from=folder / "again.json")


def bench(data: bytes, folder: Path) -> None:
    from jupyter_mlgpu.experiment.bench.against import against
    from jupyter_mlgpu.experiment.bench.run import load
    from jupyter_mlgpu.show.page import plotly
    from jupyter_mlgpu.show.page.rendering import bundle_of, page_of

    path = put(folder, "mine.json", data)
    whole = put(folder, "theirs.json", json.dumps(seeds.benches()[0]).encode())
    command("bench", "--against", path, whole)
    command("bench", "--against", whole, path)
    run = load(path)
    for said in (repr(run), run._repr_html_(), repr(against(run, "h200"))):
        said.encode()
    for made in (bundle_of(run), plotly.figure(*page_of(run).charts)):
        json.dumps(made, allow_nan=False).encode()
    load(run.save(folder / "again.json"))


def race(data: bytes, folder: Path) -> None:
    """What a race's file holds is drawn, and saved again as it was."""
    from jupyter_mlgpu.experiment.race.result import RaceResult
    from jupyter_mlgpu.show.page import plotly
    from jupyter_mlgpu.show.page.rendering import bundle_of, page_of

    result = RaceResult.from_json(read_json(put(folder, "race.json", data), most=10**7, what="a race"))
    for said in (repr(result), result._repr_html_(), result.svg()):
        said.encode()
    for made in (bundle_of(result), plotly.figure(*page_of(result).charts)):
        json.dumps(made, allow_nan=False).encode()
    result.save(folder / "again.json")
    again = RaceResult.from_json(json.loads((folder / "again.json").read_bytes()))
    assert again == result


def strip(data: bytes, folder: Path) -> None:
    """A stripped notebook is still one, and has nothing left to strip."""
    path = put(folder, "lesson.ipynb", data)
    status, _ = command("strip", path)
    if status == 0:
        assert "left unchanged" in command("strip", path)[1]
    else:
        assert path.read_bytes() == data


def submissions(data: bytes, folder: Path) -> None:
    """Collected, read, asked by a lab's tests, and reported; one that is broken costs no other."""
    from jupyter_mlgpu.teach.lessons.labs import Submitted
    from jupyter_mlgpu.teach.submissions import read

    whole = json.dumps(seeds.notebooks()[0]).encode()
    put(folder, "course/source/lab/lab.ipynb", whole)
    put(folder, "inbox/ada/lab.ipynb", data)
    put(folder, "inbox/bob/lab.ipynb", whole)
    command("class", "collect", folder / "course", "--lab", "lab", "--from", folder / "inbox")
    status, said = command("class", "report", folder / "course")
    assert status in (0, 1), said
    assert "2 students" in said, said
    notebook = read(folder / "inbox/ada/lab.ipynb")
    mine = Submitted(notebook)
    for cell in notebook.cells:
        for name in cell.names:
            try:
                mine.seconds(name)
                mine.peak(name)
                mine.same_machine(name, name)
            except AssertionError as error:
                assert str(error)  # noqa: PT017 - a student's test fails, with a sentence


def run(data: bytes, folder: Path) -> None:
    """What `run` does before it starts a kernel; what it takes it can write, when its cells have run."""
    import nbformat

    from jupyter_mlgpu.jupyter.cli import run
    from jupyter_mlgpu.jupyter.cli.kernel import Kernel

    notebook = run._read(put(folder, "lesson.ipynb", data))
    Kernel(run._own_kernel(notebook) or "python3").check()
    with warnings.catch_warnings():  # as `run` has it, about cells without an id
        warnings.simplefilter("ignore")
        nbformat.writes(notebook).encode()


def explain(data: bytes, folder: Path) -> None:
    path = put(folder, "training.log", data)
    assert command("explain", path)[0] == 0
    status, said = command("explain", "--json", "--language", "zh", path)
    assert status == 0
    for line in said.splitlines():
        json.loads(line, parse_constant=_refuse)


def assistant(data: bytes, folder: Path) -> None:
    """What an assistant is told of a notebook is JSON, in which a null is the only gap."""
    from jupyter_mlgpu.jupyter.assistant import questions

    path = str(put(folder, "lesson.ipynb", data))
    said, told = questions.records(path, None)
    assert said.isprintable()
    json.loads(json.dumps(told, allow_nan=False))
    for one in told["cells"]:
        said, told = questions.limit(path, one["name"])
        assert said.isprintable()
        json.dumps(told, allow_nan=False)
    questions.comparison(path, None, None, told["cell"])


def sharing(data: bytes, folder: Path) -> None:
    """What the teacher's view takes from a kernel; what it takes, it can send on as it was."""
    from jupyter_mlgpu.teach.sharing import report

    taken = report.from_bytes(data)
    assert report.from_bytes(report.to_bytes(taken)) == taken


def answer(data: bytes, folder: Path) -> None:
    """What a kernel makes of the answer of something at the address of the teacher's view."""
    from jupyter_mlgpu.teach.sharing.post import _parse_answer

    for status in (200, 400, 500):
        said = _parse_answer(status, data).why
        assert said is None or said.isprintable(), said


def recording(data: bytes, folder: Path) -> None:
    from jupyter_mlgpu.teach.lessons.recordings import read

    one = read(put(folder, "03_race.json", data))
    str(one).encode()
    one.label.encode()


def _refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is no JSON")


def _records() -> st.SearchStrategy[bytes]:
    return mutations.of_lines(seeds.records())


def _notebooks() -> st.SearchStrategy[bytes]:
    return mutations.of_json(seeds.notebooks())


def _lines() -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in seeds.records()[0])


def _first(of: Callable[[], Sequence[Any]]) -> Callable[[], bytes]:
    return lambda: json.dumps(of()[0]).encode()


def flight_record(data: bytes, folder: Path) -> None:
    """What a kernel left behind is read, and a death is told of it; or there is none."""
    from jupyter_mlgpu.record.flight import flight_files
    from jupyter_mlgpu.record.flight.exit_report import ExitReport

    found = flight_files.read(put(folder, "jupyter_mlgpu-kernel-1.account", data))
    for status in (None, -9, -6, 3):
        _tell_of(found, ExitReport(pid=None if found is None else found.state.pid, status=status, at=1e9))


def account_state(data: bytes, folder: Path) -> None:
    """The same, with checksums that are right: somebody meant what stands there."""
    flight_record(seeds.account_with(data), folder)


def exit_report(data: bytes, folder: Path) -> None:
    """How a kernel ended, as a server wrote it down."""
    from jupyter_mlgpu.record.flight import flight_files, flight_record

    path = put(folder, "jupyter_mlgpu-kernel-1.account", seeds.flight()[0])
    flight_files.exit_report_path(path).write_bytes(data)
    found = flight_files.read_exit_report(path)
    if found is not None:
        _tell_of(flight_record.decode(seeds.flight()[0]), found)
        flight_files.write_exit_report(path, found)
        assert flight_files.read_exit_report(path) == found


def _tell_of(found: Any, how: Any) -> None:
    from jupyter_mlgpu.explain.exits.kernel_exit import post_mortem
    from jupyter_mlgpu.record import sentence

    kernel_exit = post_mortem(found, how)
    if kernel_exit is not None:
        json.dumps(kernel_exit.to_json(), allow_nan=False).encode()
        assert sentence.from_json(kernel_exit.note.to_json()) == kernel_exit.note


def roofs(data: bytes, folder: Path) -> None:
    """Whatever is in the file, a cell is asked about its roof, and new roofs can be kept."""
    from unittest.mock import patch

    from jupyter_mlgpu.record import cachefolder
    from jupyter_mlgpu.record import roofs as kept

    with patch.dict("os.environ", {cachefolder.VARIABLE: str(folder)}):
        put(folder, kept.FILE, data)
        found = kept.read()
        for one in found:
            assert found.find(one.machine, one.framework, one.device, one.hardware, one.type) == one
        kept.keep(list(found))
        assert {one.key for one in kept.read()} == {one.key for one in found}


READERS = {
    "records-save": Reader(load_and_save, _records, _lines),
    "records-keep": Reader(keep, _records, _lines),
    "records-show": Reader(show, _records, _lines),
    "records-report": Reader(report, _records, _lines),
    "records-export": Reader(export, _records, _lines),
    "records-replay": Reader(replay, _records, _lines),
    "records-compare": Reader(compare, _records, _lines),
    "doctor": Reader(doctor, lambda: mutations.of_json(seeds.facts()), _first(seeds.facts)),
    "bench": Reader(bench, lambda: mutations.of_json(seeds.benches()), _first(seeds.benches)),
    "race": Reader(race, lambda: mutations.of_json(seeds.races()), _first(seeds.races)),
    "strip": Reader(strip, _notebooks, _first(seeds.notebooks)),
    "submissions": Reader(submissions, _notebooks, _first(seeds.notebooks)),
    "run": Reader(run, _notebooks, _first(seeds.notebooks)),
    "explain": Reader(explain, lambda: mutations.of_bytes(seeds.logs()), lambda: seeds.logs()[0]),
    "assistant": Reader(assistant, _notebooks, _first(seeds.notebooks)),
    "sharing": Reader(sharing, lambda: mutations.of_json(seeds.reports()), _first(seeds.reports)),
    "sharing-answer": Reader(answer, lambda: mutations.of_json(seeds.answers()), _first(seeds.answers)),
    "account": Reader(flight_record, lambda: mutations.of_bytes(seeds.flight()), lambda: seeds.flight()[0]),
    "account-state": Reader(
        account_state, lambda: mutations.of_json(seeds.account_states()), _first(seeds.account_states)
    ),
    "ending": Reader(exit_report, lambda: mutations.of_json(seeds.endings()), _first(seeds.endings)),
    "roofs": Reader(roofs, lambda: mutations.of_json(seeds.roofs()), _first(seeds.roofs)),
    "recordings": Reader(recording, lambda: mutations.of_json(seeds.recordings()), _first(seeds.recordings)),
}
