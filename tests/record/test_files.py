"""Records files: whole or not at all, and broken lines cost only themselves."""

import errno
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record import destinations
from jupyter_mlgpu.record import lines as recordlines
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.files import (
    Journal,
    keep_last_states,
    load_records,
    save_records,
    write_atomically,
    writing,
)
from jupyter_mlgpu.record.record import Fact, LogLine
from jupyter_mlgpu.testing import example_record


def test_saved_records_come_back_marked_as_loaded(tmp_path):
    path = tmp_path / "records.jsonl"
    assert save_records(path, [example_record(1), example_record(2)]) == 2
    records, problems = load_records(path)
    assert [record.cell.sequence for record in records] == [1, 2]
    assert {record.origin for record in records} == {"loaded"}
    assert problems == []


def test_one_line_holds_one_record(tmp_path):
    path = tmp_path / "records.jsonl"
    save_records(path, [example_record(1), example_record(2)])
    assert [json.loads(line)["cell"]["sequence"] for line in path.read_text().splitlines()] == [1, 2]


def test_a_replayed_record_stays_labelled_as_replayed(tmp_path):
    path = tmp_path / "records.jsonl"
    save_records(path, [example_record().with_origin("replayed")])
    assert load_records(path)[0][0].origin == "replayed"


def test_broken_lines_are_named_and_the_rest_is_kept(tmp_path):
    path = tmp_path / "records.jsonl"
    save_records(path, [example_record(1), example_record(2)])
    first, second = path.read_bytes().splitlines(keepends=True)
    newer = json.dumps(example_record(3).to_json() | {"schema": 9}).encode() + b"\n"
    path.write_bytes(first + b"{broken\n" + newer + b"\xff\xfe\n" + b"[]\n\n" + second)
    records, problems = load_records(path)
    assert [record.cell.sequence for record in records] == [1, 2]
    assert len(problems) == 4
    assert problems[0] == "Line 2 of records.jsonl is not JSON and was left out."
    assert "Line 3" in problems[1]
    assert "schema 9" in problems[1]
    assert "pip install --upgrade" in problems[1]
    assert "Line 4 of records.jsonl is not UTF-8" in problems[2]
    assert "Line 5" in problems[3]


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(RecordError, match=r"nothing\.jsonl cannot be read as a records file \(No such file"):
        load_records(tmp_path / "nothing.jsonl")


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be written"):
        save_records(tmp_path / "file" / "records.jsonl", [])


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "records.jsonl"
    save_records(path, [example_record(1)])

    def full(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(RecordError, match="No space left"):
        save_records(path, [example_record(2)])
    assert [record.cell.sequence for record in load_records(path)[0]] == [1]
    assert [entry.name for entry in tmp_path.iterdir()] == ["records.jsonl"]


def unwritable(sequence, value):
    """A record measured here that holds what no file can."""
    return replace(example_record(sequence), facts={"x": Fact(value, "a test")})


@pytest.mark.parametrize("value", [object(), float("nan"), {1: {(): 2}}])
def test_a_record_that_cannot_be_saved_costs_only_itself_and_is_told(tmp_path, value):
    path = tmp_path / "records.jsonl"
    with pytest.warns(
        UserWarning, match=r"The record of cell \[2\] was not saved: it holds what JSON cannot: .+\."
    ):
        assert save_records(path, [example_record(1), unwritable(2, value), example_record(3)]) == 2
    assert [record.cell.sequence for record in load_records(path)[0]] == [1, 3]
    with pytest.raises(RecordError, match="what JSON cannot"):
        Journal(path).append(unwritable(4, value))
    assert len(load_records(path)[0]) == 2


def test_half_a_character_in_a_cells_name_is_saved_as_a_question_mark(tmp_path):
    path = tmp_path / "records.jsonl"
    assert save_records(path, [example_record(name="print('\udc80')")]) == 1
    ((record,), problems) = load_records(path)
    assert (record.cell.name, problems) == ("print('?')", [])


def test_a_record_too_large_for_a_line_is_saved_in_part_and_says_so(tmp_path):
    path = tmp_path / "records.jsonl"
    line = LogLine("x" * 1_000, None, "unknown", None, None, {}, 1, "stderr", None, False)
    large = replace(example_record(), logs=(line,) * 3_000, notes=("one",))
    assert save_records(path, [large]) == 1
    assert path.stat().st_size <= recordlines.LINE
    ((record,), problems) = load_records(path)
    left = 3_000 - len(record.logs)
    assert len(record.logs) >= 375
    assert record.notes == (
        "one",
        f"Left out when this was saved, because of its size: {left:,} of its logs.",
    )
    assert problems == []


def test_a_line_that_is_too_long_costs_itself_and_little_memory(tmp_path):
    path = tmp_path / "records.jsonl"
    save_records(path, [example_record(1), example_record(2)])
    first, second = path.read_bytes().splitlines(keepends=True)
    with path.open("wb") as file:
        file.write(first + b'{"notes": ["')
        for _ in range(60):
            file.write(b"x" * 1_000_000)
        file.write(b'"]}\n' + second)
    tracemalloc.start()
    try:
        records, problems = load_records(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [record.cell.sequence for record in records] == [1, 2]
    assert problems == ["Line 2 of records.jsonl is larger than 1 MB and was left out."]
    assert peak < 5_000_000


def test_a_line_as_long_as_a_line_may_be_is_read(tmp_path):
    path = tmp_path / "records.jsonl"
    save_records(path, [example_record(1)])
    line = path.read_bytes().rstrip()
    longest = line[:-1] + b" " * (recordlines.LINE - len(line)) + b"}"
    path.write_bytes(longest + b"\n" + longest)
    assert load_records(path)[1] == []
    path.write_bytes(longest + b" \n")
    assert load_records(path)[1] == ["Line 1 of records.jsonl is larger than 1 MB and was left out."]


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "records.jsonl"
    with path.open("wb") as file:
        file.truncate(recordlines.FILE + 1)
    with pytest.raises(RecordError, match="for it has more than 200 MB"):
        load_records(path)


@pytest.mark.parametrize("kind", ["a folder", "a pipe (FIFO)", "a device"])
def test_what_is_no_file_is_refused_at_once_and_not_waited_for(tmp_path, kind):
    path = tmp_path / "records.jsonl"
    if kind == "a folder":
        path.mkdir()
    elif kind == "a device":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)
    script = "import sys, jupyter_mlgpu; jupyter_mlgpu.load_records(sys.argv[1])"
    ended = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=20)
    assert (
        f"{path} cannot be read as a records file, for it is {kind}; give the name of a file." in ended.stderr
    )


def test_a_saved_file_has_the_permissions_of_any_new_file(tmp_path):
    path, plain = tmp_path / "records.jsonl", tmp_path / "plain"
    save_records(path, [])
    plain.write_text("")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_journal_holds_each_record_as_soon_as_it_is_made(tmp_path):
    journal = Journal(tmp_path / "records.jsonl")
    for sequence in (1, 2):
        journal.append(example_record(sequence))
        assert len(load_records(journal.path)[0]) == sequence


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full, the disk that is full")
def test_a_full_disk_is_one_sentence():
    with pytest.raises(RecordError, match="No space left on device"):
        Journal("/dev/full").append(example_record())


def test_a_line_cut_short_by_a_full_disk_is_taken_back(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "records.jsonl")
    journal.append(example_record(1))
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:10]))
    with pytest.raises(RecordError, match="the disk is full"):
        journal.append(example_record(2))
    monkeypatch.undo()
    records, problems = load_records(journal.path)
    assert len(records) == 1
    assert problems == []


def test_of_a_record_that_a_journal_holds_twice_the_last_one_counts(tmp_path):
    journal = Journal(tmp_path / "records.jsonl")
    journal.append(example_record(1))
    journal.append(example_record(2))
    journal.append(example_record(1).with_note("A message came after the cell."))
    records, problems = load_records(tmp_path / "records.jsonl")
    assert [(record.cell.sequence, record.notes) for record in records] == [
        (1, ("A message came after the cell.",)),
        (2, ()),
    ]
    assert problems == []


def test_a_finished_journal_holds_each_record_once_and_what_is_not_readable(tmp_path):
    path = tmp_path / "records.jsonl"
    journal = Journal(path)
    journal.append(example_record(1))
    with path.open("ab") as file:
        file.write(b"{broken\n")
    journal.append(example_record(2))
    journal.append(example_record(1).with_note("A message came after the cell."))
    _, broken, second, last = path.read_bytes().splitlines(keepends=True)
    keep_last_states(path)
    assert path.read_bytes() == last + broken + second


# -- what else than a file may stand there ----------------------------------------------------------


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


def read_meanwhile(path):
    """What a reader of a FIFO gets, who is there before anything is written."""
    got = []
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(handle, True)

    def read():
        with os.fdopen(handle, "rb") as file:
            while data := file.read():
                got.append(data)

    thread = threading.Thread(target=read)
    return got, thread


def test_the_reader_of_a_fifo_gets_what_is_written_and_the_fifo_stays(fifo):
    data = b"x" * 1_000_000  # more than the FIFO holds
    got, reader = read_meanwhile(fifo)
    with writing(fifo) as file:
        file.write(data)
        reader.start()
    reader.join()
    assert b"".join(got) == data
    assert fifo.is_fifo()


def test_the_reader_of_a_fifo_gets_nothing_of_what_could_not_be_made(fifo):
    got, reader = read_meanwhile(fifo)
    with pytest.raises(ZeroDivisionError), writing(fifo) as file:  # noqa: PT012 - it fails in the middle
        reader.start()
        file.write(b"half")
        raise ZeroDivisionError
    reader.join()
    assert got == []


def test_a_fifo_that_nobody_reads_is_refused_and_stays(fifo):
    for write in (lambda: write_atomically(fifo, b"x"), lambda: Journal(fifo).append(example_record())):
        with pytest.raises(RecordError, match="fifo cannot be written because nothing reads from it"):
            write()
    assert fifo.is_fifo()


def test_a_journal_may_be_a_fifo_and_never_waits_for_its_reader(fifo):
    handle = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    Journal(fifo).append(example_record(1))
    assert json.loads(os.read(handle, 100_000))["cell"]["sequence"] == 1
    with pytest.raises(RecordError, match="cannot be written"):  # noqa: PT012 - some of these
        for sequence in range(1000):
            Journal(fifo).append(example_record(sequence))
    os.close(handle)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux has /proc")
def test_what_a_program_saves_to_its_standard_output_comes_out_there(tmp_path):
    code = (
        "import pathlib; from jupyter_mlgpu.record import files\n"
        "files.write_atomically(pathlib.Path('/dev/stdout'), b'x')"
    )
    run = [sys.executable, "-c", code]
    assert subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout == b"x"
    with (tmp_path / "out").open("wb") as out:
        out.write(b"before ")
        out.flush()
        subprocess.run(run, stdout=out, check=True)
    assert (tmp_path / "out").read_bytes() == b"before x"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device, and only root can replace one")
def test_a_device_stays_a_device(tmp_path):
    null, full = tmp_path / "null", tmp_path / "full"  # not those of /dev: what is wrong would take them away
    for path, of in ((null, "/dev/null"), (full, "/dev/full")):
        if not Path(of).exists():
            pytest.skip(f"there is no {of} here")
        try:
            os.mknod(path, 0o600 | stat.S_IFCHR, os.stat(of).st_rdev)
        except PermissionError:
            pytest.skip("no device can be made here")
    write_atomically(null, b"x")
    with pytest.raises(RecordError, match=r"full cannot be written \(No space left on device"):
        write_atomically(full, b"x")
    assert null.is_char_device()
    assert full.is_char_device()


def test_a_folder_and_a_socket_are_refused(tmp_path):
    folder, place = tmp_path / "folder", tmp_path / "socket"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        for path, what in ((folder, "a folder"), (place, "a socket")):
            for write in (lambda p: write_atomically(p, b"x"), lambda p: Journal(p).append(example_record())):
                with pytest.raises(RecordError, match=f"{path.name} cannot be written because it is {what};"):
                    write(path)
        assert place.is_socket()


def test_through_a_link_of_ones_own_its_target_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("step")
    (tmp_path / "step").symlink_to(tmp_path / "there" / ".." / "there" / "records.jsonl")
    save_records(tmp_path / "link", [example_record(1)])
    Journal(tmp_path / "link").append(example_record(2))
    assert len(load_records(tmp_path / "there" / "records.jsonl")[0]) == 2
    assert (tmp_path / "link").is_symlink()


def test_a_link_that_leads_in_a_circle_is_one_sentence(tmp_path):
    (tmp_path / "link").symlink_to("link")
    for write in (lambda p: write_atomically(p, b"x"), lambda p: Journal(p).append(example_record())):
        with pytest.raises(RecordError, match="link cannot be written"):
            write(tmp_path / "link")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can plant a link for another user")
@pytest.mark.parametrize("planted", ["the file", "its folder"])
def test_a_link_planted_where_everybody_may_write_is_not_followed(tmp_path, planted):
    everybodys, target = tmp_path / "tmp", tmp_path / "mine"
    for folder in (everybodys, target):
        folder.mkdir()
    everybodys.chmod(0o1777)
    (target / "records.jsonl").write_text("mine")
    link = everybodys / ("records.jsonl" if planted == "the file" else "folder")
    link.symlink_to(target / "records.jsonl" if planted == "the file" else target)
    path = link if planted == "the file" else link / "records.jsonl"
    os.lchown(link, 12345, 12345)
    for write in (lambda: write_atomically(path, b"x"), lambda: Journal(path).append(example_record())):
        with pytest.raises(RecordError, match=f"{link} is another user's link"):
            write()
    assert (target / "records.jsonl").read_text() == "mine"
    os.lchown(link, os.geteuid(), -1)
    write_atomically(path, b"new")
    assert (target / "records.jsonl").read_text() == "new"


def test_a_fifo_whose_reader_takes_nothing_is_given_up_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(destinations, "PATIENCE", 0.1)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(RecordError, match="nothing has read from it"):
            write_atomically(fifo, b"x" * 1_000_000)
    finally:
        os.close(reader)


def test_what_is_written_through_an_open_file_stands_between_what_came_before_and_after(tmp_path):
    log = tmp_path / "log"
    with log.open("wb", buffering=0) as file:
        file.write(b"before\n")
        write_atomically(Path(f"/dev/fd/{file.fileno()}"), b"written\n")
        file.write(b"behind\n")
    assert log.read_bytes() == b"before\nwritten\nbehind\n"


def test_a_line_that_a_dying_kernel_left_torn_costs_only_itself(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    first, second, third = (example_record(number) for number in (1, 2, 3))
    Journal(path).append(first)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])  # the second record, half of it on the disk
    journal = Journal(path)
    journal.append(second)
    journal.append(third)
    records, problems = load_records(path)
    assert [one.cell.sequence for one in records] == [1, 2, 3]
    assert [one.split(" was")[0] for one in problems] == ["Line 2 of journal.jsonl is not JSON and"]
    # Where the last line is whole nothing comes before the next.
    assert path.read_bytes().count(b"\n") == 4


def test_a_journal_that_may_be_written_and_not_read_takes_records_all_the_same(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    Journal(path).append(example_record(1))
    path.chmod(0o200)
    Journal(path).append(example_record(2))
    path.chmod(0o600)
    assert len(load_records(path)[0]) == 2


@pytest.fixture
def everybodys(tmp_path):
    """A folder where everybody may write, as /tmp, but owned by whoever runs this."""
    folder = tmp_path / "everybodys"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def of_a_stranger(path):
    os.lchown(path, 12345, 12345)
    return path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can lay out a file for another user")
def test_a_journal_adds_nothing_to_what_a_stranger_has_laid_out(everybodys):
    file, fifo = everybodys / "records.jsonl", everybodys / "fifo"
    file.write_text("theirs\n")
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for path in (file, fifo):
            with pytest.raises(
                RecordError, match=f"{path.name} was not written: it belongs to another user, in a"
            ):
                Journal(of_a_stranger(path)).append(example_record())
        with pytest.raises(RecordError, match="fifo was not written: it belongs to another user"):
            write_atomically(fifo, b"secret")
        assert os.read(reader, 10) == b""
    finally:
        os.close(reader)
    assert file.read_text() == "theirs\n"
    os.lchown(file, os.geteuid(), -1)
    Journal(file).append(example_record())
    assert len(load_records(file)[0]) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can lay out a file for another user")
def test_a_file_that_a_stranger_has_laid_out_does_not_lend_its_permissions_to_ours(everybodys):
    path, mine = everybodys / "page.html", everybodys / "mine.html"
    for one in (path, mine):
        one.write_text("old")
        one.chmod(0o666)
    write_atomically(of_a_stranger(path), b"new")
    write_atomically(mine, b"new")
    assert not stat.S_IMODE(path.stat().st_mode) & stat.S_IWOTH
    assert path.stat().st_uid == os.geteuid()
    assert stat.S_IMODE(mine.stat().st_mode) == 0o666


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can plant a link for another user")
def test_a_planted_link_is_refused_also_where_the_folder_is_not_sticky(everybodys, tmp_path):
    everybodys.chmod(0o777)
    (tmp_path / "mine").write_text("mine")
    (everybodys / "out.json").symlink_to(tmp_path / "mine")
    of_a_stranger(everybodys / "out.json")
    with pytest.raises(RecordError, match="is another user's link"):
        write_atomically(everybodys / "out.json", b"x")
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("kind", ["a link", "a link to nothing", "a FIFO", "a socket"])
def test_a_name_that_is_ours_is_replaced_whatever_stands_there(tmp_path, kind):
    page, target = tmp_path / "class_report.html", tmp_path / "target"
    target.write_text("target")
    if kind.startswith("a link"):
        page.symlink_to(target if kind == "a link" else tmp_path / "nothing")
    elif kind == "a FIFO":
        os.mkfifo(page)
    else:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(page))
    write_atomically(page, b"page", follow=False)
    assert stat.S_ISREG(page.lstat().st_mode)
    assert page.read_bytes() == b"page"
    assert target.read_text() == "target"
    assert not (tmp_path / "nothing").exists()


def test_a_folder_is_never_replaced(tmp_path):
    (tmp_path / "class_report.html").mkdir()
    with pytest.raises(RecordError, match=r"class_report\.html cannot be written because it is a folder"):
        write_atomically(tmp_path / "class_report.html", b"page", follow=False)
    assert [one.name for one in tmp_path.iterdir()] == ["class_report.html"]
