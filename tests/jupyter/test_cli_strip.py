"""`jupyter mlgpu strip` takes our receipts out of a notebook and touches nothing else."""

import json
import os
import stat
import threading

import pytest

from jupyter_mlgpu.jupyter.cli import main
from jupyter_mlgpu.jupyter.cli.strip import EXIT, strip_text
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record

RECEIPT = {"output_type": "display_data", "data": bundle(example_record()), "metadata": {}}
DIED = {"output_type": "display_data", "data": {EXIT: {}, "text/plain": "The kernel died"}, "metadata": {}}
PRINTED = {"output_type": "stream", "name": "stdout", "text": ['mine, [] {} "\\\n']}
SHOWN = {"output_type": "display_data", "data": {"text/html": "<b>mine</b>"}, "metadata": {"mine": 1}}


def notebook(*outputs_of_cells: list[object]) -> dict[str, object]:
    cells = [
        {
            "cell_type": "code",
            "execution_count": 1,
            "id": f"cell-{number}",
            "metadata": {"tags": ["kept"]},
            "outputs": outputs,
            "source": ["print('ü')\n"],
        }
        for number, outputs in enumerate(outputs_of_cells)
    ]
    words = {"cell_type": "markdown", "metadata": {}, "source": ["# Words"]}
    return {"cells": [words, *cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def as_jupyter_writes(data: object) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


CASES = {
    "alone": ([RECEIPT], []),
    "two alone": ([RECEIPT, RECEIPT], []),
    "first": ([RECEIPT, PRINTED, SHOWN], [PRINTED, SHOWN]),
    "between": ([PRINTED, RECEIPT, SHOWN], [PRINTED, SHOWN]),
    "last": ([PRINTED, SHOWN, RECEIPT], [PRINTED, SHOWN]),
    "around": ([RECEIPT, RECEIPT, PRINTED, RECEIPT, RECEIPT], [PRINTED]),
}


@pytest.mark.parametrize(("outputs", "kept"), CASES.values(), ids=CASES)
def test_receipts_go_and_every_other_byte_stays(outputs, kept):
    before = as_jupyter_writes(notebook([PRINTED], outputs, [SHOWN]))
    after, count = strip_text(before)
    assert after == as_jupyter_writes(notebook([PRINTED], kept, [SHOWN]))
    assert count == outputs.count(RECEIPT)


@pytest.mark.parametrize(
    "style",
    [{}, {"indent": 4}, {"indent": "\t"}, {"separators": (",", ":")}, {"indent": 1, "ensure_ascii": True}],
    ids=str,
)
def test_however_the_file_is_laid_out_it_stays_so(style):
    outputs = [PRINTED, RECEIPT, SHOWN]
    after, _ = strip_text(json.dumps(notebook(outputs), **style))
    assert after == json.dumps(notebook([PRINTED, SHOWN]), **style)


def test_what_a_kernel_died_of_goes_too():
    after, count = strip_text(as_jupyter_writes(notebook([PRINTED, DIED])))
    assert (after, count) == (as_jupyter_writes(notebook([PRINTED])), 1)


def test_numbers_line_ends_and_spaces_are_not_rewritten():
    text = as_jupyter_writes(notebook([RECEIPT, PRINTED])).replace("\n", "\r\n")
    text = text.replace('"metadata": {},', '"metadata": { "a":1.50E+3, "b" : [ ],"c":\t"\\u00fc" },', 1)
    after, count = strip_text(text)
    assert count == 1
    assert '{ "a":1.50E+3, "b" : [ ],"c":\t"\\u00fc" }' in after
    assert "\n" not in after.replace("\r\n", "")


def test_a_stripped_notebook_has_nothing_more_to_strip():
    once, _ = strip_text(as_jupyter_writes(notebook([RECEIPT, PRINTED, RECEIPT])))
    assert strip_text(once) == (once, 0)


def test_the_command_says_how_many_were_removed_and_leaves_the_others(tmp_path, capsys):
    with_receipts, without = tmp_path / "a.ipynb", tmp_path / "b.ipynb"
    with_receipts.write_text(as_jupyter_writes(notebook([RECEIPT, PRINTED, RECEIPT])))
    without.write_text(as_jupyter_writes(notebook([PRINTED])))
    before = without.stat()
    assert main(["strip", str(with_receipts), str(without)]) == 0
    assert capsys.readouterr().out == (
        f"{with_receipts}: removed 2 receipts.\n{without}: no receipts, left unchanged.\n"
    )
    assert with_receipts.read_text() == as_jupyter_writes(notebook([PRINTED]))
    after = without.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.ipynb", "b.ipynb"]


def test_permissions_and_links_stay(tmp_path, capsys):
    path, link = tmp_path / "a.ipynb", tmp_path / "link.ipynb"
    path.write_text(as_jupyter_writes(notebook([RECEIPT])))
    path.chmod(0o640)
    link.symlink_to(path)
    assert main(["strip", str(link)]) == 0
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.read_text() == as_jupyter_writes(notebook([]))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"print('a program')", "it is not JSON"),
        (b"\xff\xfe\x00", "it is not UTF-8 text"),
        (b"[]", "it contains no JSON object"),
        (b'{"cells": 3}', "it has no list of cells"),
        (b'{"worksheets": []}', "it has no list of cells"),
        (b"[" * 100_000, "it is nested too deeply"),
    ],
)
def test_what_is_no_notebook_is_one_sentence_and_stays(tmp_path, capsys, content, reason):
    path = tmp_path / "other.ipynb"
    path.write_bytes(content)
    assert main(["strip", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"jupyter mlgpu: {path} is not a notebook in format 4 ({reason}); it was left unchanged.\n"
    )
    assert path.read_bytes() == content


def test_one_bad_file_does_not_keep_the_others_from_being_stripped(tmp_path, capsys):
    good = tmp_path / "good.ipynb"
    good.write_text(as_jupyter_writes(notebook([RECEIPT])))
    assert main(["strip", str(tmp_path / "missing.ipynb"), str(good)]) == 2
    shown = capsys.readouterr()
    assert "missing.ipynb cannot be read as a notebook (No such file or directory)" in shown.err
    assert shown.out == f"{good}: removed 1 receipt.\n"


def test_a_file_that_cannot_be_replaced_stays_whole(tmp_path, capsys, monkeypatch):
    path = tmp_path / "a.ipynb"
    path.write_text(as_jupyter_writes(notebook([RECEIPT])))
    before = path.read_text()

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert main(["strip", str(path)]) == 2
    assert "a.ipynb cannot be written (No space left on device)" in capsys.readouterr().err
    assert path.read_text() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.ipynb"]


def test_a_pipe_is_refused_at_once_and_does_not_keep_the_others(tmp_path, capsys):
    pipe, good = tmp_path / "pipe.ipynb", tmp_path / "good.ipynb"
    os.mkfifo(pipe)
    good.write_text(as_jupyter_writes(notebook([RECEIPT])))
    status = []
    command = threading.Thread(
        target=lambda: status.append(main(["strip", str(pipe), str(good)])), daemon=True
    )
    command.start()
    command.join(20)
    assert status == [2]
    shown = capsys.readouterr()
    assert f"{pipe} cannot be read as a notebook, for it is a pipe (FIFO)" in shown.err
    assert "removed 1 receipt" in shown.out


def test_a_standard_input_that_was_closed_is_no_notebook(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)
    assert main(["strip", "-"]) == 2
    assert capsys.readouterr().err.startswith("jupyter mlgpu: No notebooks given")


@pytest.fixture
def linked(tmp_path):
    """A notebook with two names, and what it holds."""
    path = tmp_path / "a.ipynb"
    path.write_text(as_jupyter_writes(notebook([RECEIPT, PRINTED])))
    path.chmod(0o640)
    (tmp_path / "other.ipynb").hardlink_to(path)
    return path, tmp_path / "other.ipynb", path.read_text()


def test_a_file_with_two_names_stays_one_file(linked, tmp_path, capsys):
    path, other, _ = linked
    before = path.stat()
    assert main(["strip", str(path)]) == 0
    after = path.stat()
    assert (after.st_ino, after.st_nlink, after.st_mode) == (before.st_ino, 2, before.st_mode)
    assert other.read_text() == path.read_text() == as_jupyter_writes(notebook([PRINTED]))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.ipynb", "other.ipynb"]


def test_a_link_to_a_file_with_two_names_stays_a_link(linked, tmp_path, capsys):
    path, other, _ = linked
    link = tmp_path / "link.ipynb"
    link.symlink_to(path)
    assert main(["strip", str(link)]) == 0
    assert link.is_symlink()
    assert path.samefile(other)
    assert other.read_text() == as_jupyter_writes(notebook([PRINTED]))


@pytest.mark.parametrize("failing", ["pwrite", "ftruncate", "fsync"])
def test_where_writing_in_place_fails_the_old_content_is_put_back(
    linked, tmp_path, capsys, monkeypatch, failing
):
    path, other, before = linked
    real, done = getattr(os, failing), []

    def fail(handle, *arguments):
        done.append(failing)
        # Half is written; the file beside it was synced before.
        if failing == "pwrite" and len(done) == 1:
            return real(handle, arguments[0][:50], arguments[1])
        if len(done) == (1 if failing == "ftruncate" else 2):
            raise OSError(28, "No space left on device")
        return real(handle, *arguments)

    monkeypatch.setattr(os, failing, fail)
    assert main(["strip", str(path)]) == 2
    assert "a.ipynb cannot be written (No space left on device)" in capsys.readouterr().err
    assert len(done) > 1
    assert path.read_text() == other.read_text() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.ipynb", "other.ipynb"]


def test_where_it_cannot_be_put_back_the_new_content_is_kept_and_named(linked, tmp_path, capsys, monkeypatch):
    path, _, _ = linked

    def broken(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "pwrite", broken)
    assert main(["strip", str(path)]) == 2
    (kept,) = (entry for entry in tmp_path.iterdir() if entry.name.startswith("."))
    assert capsys.readouterr().err == (
        f"jupyter mlgpu: {path} could not be written whole (Input/output error); "
        f"copy its new content from {kept}.\n"
    )
    assert kept.read_text() == as_jupyter_writes(notebook([PRINTED]))


def test_an_interrupt_while_it_is_written_leaves_the_new_content_beside_it(
    linked, tmp_path, monkeypatch, capsys
):
    path, _, _ = linked

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "pwrite", interrupted)
    assert main(["strip", str(path)]) == 130
    (kept,) = (entry for entry in tmp_path.iterdir() if entry.name.startswith("."))
    assert kept.read_text() == as_jupyter_writes(notebook([PRINTED]))


def test_where_nothing_can_be_written_beside_it_a_file_with_two_names_is_not_touched(
    linked, tmp_path, capsys, monkeypatch
):
    path, other, before = linked

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    assert main(["strip", str(path)]) == 2
    assert path.read_text() == other.read_text() == before
