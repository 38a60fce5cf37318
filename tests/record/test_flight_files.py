"""A kernel's account can be read again whatever its last write came to, and by its kernel's name."""

import os

import pytest

from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.flight import flight_files, flight_record
from jupyter_mlgpu.record.flight.exit_report import ExitReport
from jupyter_mlgpu.record.flight.flight_record import (
    At,
    CellName,
    FlightRecord,
    KernelState,
    MemorySample,
    OomKills,
    Pages,
    decode,
)

LOOK = MemorySample(1e9, 2**30, 2**32, 2**34, oom_kills=OomKills(0, 3))
STATE = KernelState(1, 4711, 1e9, "run", "host", 1e9, CellName(2, "model.fit(x)"), LOOK, 5, ("a line",))
RUNNING = At("running", 1e9 + 1, 2, 7, 10, 20)


def written(*writes):
    """The file after these writes."""
    data = bytearray(flight_record.SIZE)
    pages = Pages(data)
    for one in writes:
        (pages.put_at if isinstance(one, At) else pages.put_state)(one)
    return data


def test_what_was_written_last_is_read():
    earlier = At("idle", 1e9)
    assert decode(bytes(written(earlier, STATE, RUNNING))) == FlightRecord(RUNNING, STATE)
    assert decode(bytes(written(RUNNING, STATE, earlier))).at == earlier


@pytest.mark.parametrize("cut", [1, 30, 70])
def test_a_write_that_was_cut_short_leaves_the_one_before_it(cut):
    """The kernel dies in the middle of a store: the rest of the slot is what had stood there."""
    before = written(At("idle", 1e9), STATE, At("running", 1e9 + 1, 1), STATE)
    after = written(At("idle", 1e9), STATE, At("running", 1e9 + 1, 1), STATE, At("idle", 1e9 + 2, 1))
    changed = [place for place in range(len(after)) if after[place] != before[place]]
    torn = bytes(after[: changed[0] + cut] + before[changed[0] + cut :])
    assert decode(torn).at.phase in ("running", "idle")
    if torn not in (bytes(before), bytes(after)):
        assert decode(torn).at == At("running", 1e9 + 1, 1)


@pytest.mark.parametrize("data", [b"", b"x" * 100, bytes(flight_record.SIZE), os.urandom(flight_record.SIZE)])
def test_what_is_no_account_is_refused_in_a_sentence(data):
    with pytest.raises(RecordError, match="it holds no account of a kernel"):
        decode(data)


@pytest.mark.parametrize("text", [b"\xed\xa0", b"[" * 10_000, b"1" * 10_000, b'"\\ud800"', b"no JSON"])
def test_a_state_that_is_no_json_is_refused_in_a_sentence(text):
    data = written(RUNNING)
    Pages(data).put_text(text)
    with pytest.raises(RecordError, match=r"it holds no JSON|the state should be"):
        decode(bytes(data))


def test_what_no_file_can_hold_is_written_as_question_marks():
    half = KernelState(1, 1, 1.0, "run", "host", 1.0, CellName(2, "print('\ud800')"))
    assert decode(bytes(written(RUNNING, half))).first_line == "print('?')"


def test_the_first_line_is_told_of_the_cell_it_belongs_to_alone():
    assert decode(bytes(written(RUNNING, STATE))).first_line == "model.fit(x)"
    assert decode(bytes(written(At("running", 1e9, 3), STATE))).first_line is None


def test_lines_for_which_there_is_no_room_are_left_out_from_the_oldest_on():
    lines = tuple(f"{number:02d}" + "\U0001f525" * 298 for number in range(20))
    kept = decode(bytes(written(RUNNING, KernelState(1, 1, 1.0, "r", "h", 1.0, lines=lines)))).state.lines
    assert 10 <= len(kept) < 20
    assert kept == lines[-len(kept) :]


@pytest.mark.parametrize(
    ("connection", "name"),
    [
        ("/run/user/1/jupyter/kernel-0a1b.json", "jupyter_mlgpu-kernel-0a1b.account"),
        ("kernel-0a1b.json", "jupyter_mlgpu-kernel-0a1b.account"),
        ("/tmp/a b.json", None),
        ("", None),
        ("..", "jupyter_mlgpu-...account"),
    ],
)
def test_an_account_is_found_by_its_kernels_connection_file(connection, name):
    assert flight_files.name_for(connection) == name
    assert name is None or flight_files.is_name(name)


@pytest.mark.parametrize("name", [None, 3, "", "other.account", "jupyter_mlgpu-a/../b.account"])
def test_another_name_is_none_of_ours(name):
    assert not flight_files.is_name(name)


def test_a_file_that_is_no_account_is_no_account(tmp_path):
    path = tmp_path / "jupyter_mlgpu-kernel-1.account"
    assert flight_files.read(path) is None
    path.write_bytes(b"garbage")
    assert flight_files.read(path) is None
    path.write_bytes(bytes(flight_record.SIZE + 1))
    assert flight_files.read(path) is None
    path.unlink()
    os.mkfifo(path)
    assert flight_files.read(path) is None


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "real").write_bytes(written(RUNNING, STATE))
    (tmp_path / "link").symlink_to("real")
    assert flight_files.read(tmp_path / "real") is not None
    assert flight_files.read(tmp_path / "link") is None


def test_an_ending_lies_beside_its_account_and_goes_with_it(tmp_path):
    path = tmp_path / "jupyter_mlgpu-kernel-1.account"
    path.write_bytes(written(RUNNING, STATE))
    exit_report = ExitReport(pid=4711, status=-6, at=1e9, lines=("Check failed",))
    flight_files.write_exit_report(path, ExitReport())
    flight_files.write_exit_report(path, exit_report)
    assert flight_files.read_exit_report(path) == exit_report
    assert (flight_files.exit_report_path(path).stat().st_mode & 0o777) == 0o600
    flight_files.remove(path)
    assert list(tmp_path.iterdir()) == []


def test_where_an_ending_cannot_be_written_a_sentence_says_so(tmp_path):
    with pytest.raises(RecordError, match="cannot be written"):
        flight_files.write_exit_report(tmp_path / "missing" / "jupyter_mlgpu-kernel-1.account", ExitReport())


def test_old_accounts_of_kernels_that_are_gone_are_taken_away(tmp_path):
    days = {"fresh": 0, "gone": 2, "alive": 2, "elsewhere": 2, "long-elsewhere": 40, "garbage": 40}
    for name, age in days.items():
        path = tmp_path / f"jupyter_mlgpu-{name}.account"
        run = KernelState(1, 4711, 1e9, name, "host", 1e9)
        path.write_bytes(b"x" if name == "garbage" else written(RUNNING, run))
        then = path.stat().st_mtime - age * 24 * 3600 - 60
        os.utime(path, (then, then))
    (tmp_path / "of-somebody-else").write_bytes(b"")
    alive = {"gone": False, "fresh": False, "alive": True}
    flight_files.remove_old(tmp_path, lambda one: alive.get(one.state.run))
    left = sorted(
        path.name.removeprefix("jupyter_mlgpu-").removesuffix(".account") for path in tmp_path.iterdir()
    )
    assert left == ["alive", "elsewhere", "fresh", "of-somebody-else"]
