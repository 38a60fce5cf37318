"""Records files: whole or not at all, and broken lines cost only themselves."""

import json
import os
import stat
from pathlib import Path

import pytest

from jupyter_mlgpu.errors import RecordError
from jupyter_mlgpu.files import Journal, load_records, save_records
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
    assert problems[0] == "Line 2 of records.jsonl is not JSON; it was left out."
    assert "Line 3" in problems[1]
    assert "schema 9" in problems[1]
    assert "pip install --upgrade" in problems[1]
    assert "Line 4 of records.jsonl is not UTF-8" in problems[2]
    assert "Line 5" in problems[3]


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(RecordError, match=r"nothing\.jsonl cannot be read \(No such file"):
        load_records(tmp_path / "nothing.jsonl")


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be written"):
        save_records(tmp_path / "file" / "records.jsonl", [])


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "records.jsonl"
    save_records(path, [example_record(1)])
    unwritable = example_record(2)
    object.__setattr__(unwritable, "facts", {"x": object()})
    with pytest.raises(TypeError):
        save_records(path, [unwritable])
    assert len(load_records(path)[0]) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["records.jsonl"]


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
