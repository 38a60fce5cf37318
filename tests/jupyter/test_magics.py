"""Every magic does what its help says; what is typed wrongly is answered in one sentence."""

import json
import os
import re
import sys
import time

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record.files import load_records, save_records
from jupyter_mlgpu.record.record import DeviceUse
from jupyter_mlgpu.testing import example_record

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%mlc_device tpu", "Choose auto, cpu, gpu, or a numbered device"),
        ("%mlc_device cpu:", "Choose auto, cpu, gpu, or a numbered device"),
        ("%mlc_trace bogus", "Choose on, off, status, show, clear, save, load"),
        ("%mlc_trace save", "%mlc_trace save needs a file"),
        (
            "%mlc_trace load /nowhere/at/all.jsonl",
            "cannot be read as a records file (No such file or directory)",
        ),
        ("%mlc_trace save /proc/records.jsonl", "cannot be written"),
    ],
)
def test_a_mistake_is_one_sentence_and_no_traceback(plain, line, words):
    result = plain.run(line)
    assert result.status == "error"
    assert words in result.text
    assert "Traceback" not in result.text
    assert len(result.text.strip().splitlines()) == 1


@pytest.mark.parametrize("magic", ["mlc_device", "mlc_trace", "mlc_plan", "mlc_share"])
def test_every_magic_has_help_with_an_example(plain, magic):
    shown = plain.run(f"print(get_ipython().find_line_magic('{magic}').__doc__)").text
    assert "Example" in shown


def test_tracing_is_turned_off_and_on(plain):
    assert "off" in plain.run("%mlc_trace off").text
    assert plain.run("1").receipts == []
    assert "Tracing is off" in plain.run("%mlc_trace").text
    plain.run("%mlc_trace on")
    assert len(plain.run("1").receipts) == 1
    assert "Tracing is on" in plain.run("%mlc_trace status").text


def test_a_comment_after_a_magic_is_a_comment(start_kernel):
    notebook = start_kernel()
    assert "Tracing is on" in notebook.run("%mlc_trace status  # how is it?").text
    assert "once a framework is imported" in notebook.run("%mlc_device cpu  # the slow one").text


def test_records_are_shown_saved_cleared_and_loaded(plain, tmp_path):
    path = tmp_path / "my records.jsonl"
    plain.run("%mlc_trace clear")
    plain.run("answer = 42")
    assert "answer = 42" in plain.run("%mlc_trace show").text
    assert "Saved 1 record" in plain.run(f"%mlc_trace save {path}").text
    assert [record.cell.name for record in load_records(path)[0]] == ["answer = 42"]
    plain.run("%mlc_trace clear")
    assert "No records yet" in plain.run("%mlc_trace show").text
    assert "Loaded 1 record from" in plain.run(f"%mlc_trace load '{path}'").text
    again = plain.run(f"%mlc_trace load '{path}'").text
    assert again == f"The only record of {path} was already loaded.\n"
    assert "are the same records" in plain.run(f"%mlc_trace compare '{path}' '{path}'").text
    shown = plain.run("%mlc_trace show").text
    assert "loaded" in shown
    assert "answer = 42" in shown


def test_records_saved_onto_a_fifo_reach_its_reader(plain, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    plain.run("x = 1")
    assert "nothing reads from it" in plain.run(f"%mlc_trace save {fifo}").text
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert "Saved 1 record" in plain.run(f"%mlc_trace save {fifo}").text
    assert json.loads(os.read(reader, 60_000))["cell"]["name"] == "x = 1"
    os.close(reader)
    assert fifo.is_fifo()


def test_status_tells_the_memory_under_the_line_that_mlc_device_prints(plain):
    line = plain.run("%mlc_device").text.splitlines()
    assert len(line) == 1
    first, head, *rows = plain.run("%mlc_device status").text.splitlines()
    assert [first] == line
    assert head.split() == ["Memory", "used", "free", "total"]
    assert any(row.startswith("machine ") for row in rows)
    assert any(row.startswith("this process ") for row in rows)
    assert any("NVIDIA" in row for row in rows) == (sys.platform != "darwin")
    assert "No framework is imported, so there is no allocator to query." in rows


def test_status_imports_no_framework(plain):
    plain.run("%mlc_device status")
    asked = "import sys; print({'tensorflow', 'torch', 'jax', 'mlx.core'} & set(sys.modules))"
    assert plain.run(asked).text == "set()\n"


def test_a_large_file_is_loaded_without_flooding_the_browser(start_kernel, tmp_path):
    path = tmp_path / "records.jsonl"
    save_records(path, [example_record(number) for number in range(1, 1001)])
    notebook = start_kernel()
    notebook.deltas()
    notebook.broadcasts.clear()
    assert "Loaded 1,000 records" in notebook.run(f"%mlc_trace load {path}").text
    assert [event for delta in notebook.deltas() for event in delta["events"]] == [{"type": "hello"}]
    answer = notebook.ask("jupyter_mlgpu_snapshot_request")
    assert len(json.dumps(answer)) < 250_000
    pages = [answer["records"]]
    while answer["first"] > answer["oldest"]:
        answer = notebook.ask("jupyter_mlgpu_request", {"type": "records", "before": answer["first"]})
        assert len(json.dumps(answer)) < 250_000
        pages.insert(0, answer["records"])
    assert [record["cell"]["sequence"] for page in pages for record in page] == list(range(1, 1001))


def test_a_file_with_broken_lines_is_loaded_as_far_as_it_goes(plain, tmp_path):
    path = tmp_path / "records.jsonl"
    save_records(path, [example_record(name="kept")])
    newer = json.dumps(example_record(2).to_json() | {"schema": 9})
    path.write_text(path.read_text() + "broken\n" + newer + "\n")
    plain.run("%mlc_trace clear")
    said = plain.run(f"%mlc_trace load {path}").text
    assert "Loaded 1 record" in said
    assert "Line 2 of records.jsonl is not JSON" in said
    assert "Line 3 of records.jsonl was left out: the record has schema 9" in said
    assert "kept" in plain.run("%mlc_trace show").text


def test_saved_records_are_replayed_with_a_label_and_their_devices_listed_but_not_chosen(
    start_kernel, tmp_path
):
    notebook = start_kernel()
    notebook.run("x = 1")
    example = example_record(1, run="a" * 32)
    metal = replace(example.device.ran_on[0], device="gpu:0", kind="metal")
    saved = replace(example, device=DeviceUse({"*": "gpu:0"}, (metal,)))
    nowhere = replace(example_record(2, run="a" * 32), device=DeviceUse({}, None, "No framework."))
    path = tmp_path / "mac.jsonl"
    save_records(path, [saved, nowhere])
    replayed = notebook.run(f"%mlc_trace replay {path}")
    assert "Replayed 1 record" in replayed.text
    assert "nothing was run here" in replayed.text
    assert "1 were left out because they do not say where they ran" in replayed.text
    (receipt,) = replayed.receipts
    assert receipt["origin"] == "replayed"
    assert receipt["device"]["ran_on"][0]["device"] == "gpu:0"
    assert "Replayed from mac.jsonl: nothing ran here." in receipt["notes"]
    assert all(one["detail"].startswith("replayed from mac.jsonl") for one in receipt["readings"])
    again = notebook.run(f"%mlc_trace replay {path}").text
    assert again.startswith(f"The only record of {path} was already loaded. 1 were left out ")
    own = notebook.run("y = 2").receipt
    assert own["origin"] == "live"
    assert own["device"]["ran_on"] is None
    shown = notebook.run("%mlc_trace show").text
    assert shown.count("replayed") == 1
    devices = (
        "import jupyter_mlgpu; kit = get_ipython()._jupyter_mlgpu.runtime; print(kit.selection.devices())"
    )
    assert notebook.run(devices).text == "[]\n"
    notebook.run("%mlc_trace clear")
    assert notebook.run("print(kit.replays)").text == "[]\n"


def test_a_file_without_a_device_cannot_be_replayed_and_says_what_to_choose(plain, tmp_path):
    path = tmp_path / "no_device.jsonl"
    save_records(path, [replace(example_record(), device=DeviceUse({}, None, "No framework."))])
    refused = plain.run(f"%mlc_trace replay {path}").text
    assert "No record of no_device.jsonl says on which device it ran" in refused
    assert "Traceback" not in refused


def test_loading_the_extension_twice_changes_nothing(plain):
    plain.run("%load_ext jupyter_mlgpu")
    plain.run("import jupyter_mlgpu\njupyter_mlgpu.load_ipython_extension(get_ipython())", silent=True)
    assert len(plain.run("1").receipts) == 1


STATE = """
import logging, os, sys, threading, json
ip = get_ipython()
def target(number):
    try:
        return os.path.exists(f"/proc/self/fd/{number}") and os.readlink(f"/proc/self/fd/{number}")
    except OSError:  # closed between the two
        return False
print(json.dumps({
    "pre": len(ip.events.callbacks["pre_run_cell"]),
    "post": len(ip.events.callbacks["post_run_cell"]),
    "finders": [str(type(f)) for f in sys.meta_path],
    "threads": sorted(t.name for t in threading.enumerate()),
    # IPython's own history thread opens and closes its journal as it likes.
    "files": sorted(name for name in map(target, os.listdir("/proc/self/fd"))
                    if name and os.environ["IPYTHONDIR"] not in name),
    "magics": sorted(ip.magics_manager.magics["line"]),
    "cell magics": sorted(ip.magics_manager.magics["cell"]),
    "transformers": len(ip.input_transformers_cleanup), "handlers": sorted(ip.kernel.control_handlers),
    "filters": len(logging.getLogger("Comm").filters), "targets": sorted(ip.kernel.comm_manager.targets),
    "comms": sorted(ip.kernel.comm_manager.comms)}))
"""


def test_unloading_leaves_no_hook_thread_or_file_behind(start_kernel):
    notebook = start_kernel(extension=False)
    notebook.run("1")
    before = json.loads(notebook.run(STATE).text)
    notebook.run("%load_ext jupyter_mlgpu")
    assert len(notebook.run("1").receipts) == 1
    during = json.loads(notebook.run(STATE).text)
    assert during["pre"] == before["pre"] + 1  # all of ours in one
    notebook.run("%unload_ext jupyter_mlgpu")
    # A thread that still looks at something when its last job is taken ends by itself, soon after.
    deadline = time.monotonic() + 20
    while (after := json.loads(notebook.run(STATE).text)) != before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert after == before
    assert notebook.run("1").receipts == []
    assert "not found" in notebook.run("%mlc_trace on").text
    names = "[name for kind in get_ipython().magics_manager.magics.values() for name in kind]"
    assert "mlc_" not in notebook.run(f"print({names})").text
    notebook.run("%load_ext jupyter_mlgpu")
    assert len(notebook.run("1").receipts) == 1


def test_magics_answer_in_the_language_that_the_lessons_were_told_to_speak(start_kernel):
    notebook = start_kernel()
    notebook.run("import jupyter_mlgpu.lessons\njupyter_mlgpu.lessons.speak('zh')")
    assert notebook.run("%mlc_trace status").text.startswith("跟踪已打开")
    refused = notebook.run("%mlc_trace nonsense")
    assert refused.status == "error"
    assert "之后的命令 'nonsense' 无法识别" in refused.text


def test_cells_are_named_by_their_execution_count_everywhere(start_kernel):
    notebook = start_kernel()
    notebook.run("%mlc_trace status\n")  # a cell without a record: from here on the two numbers differ
    first, again, other = (notebook.run(code) for code in ("x = 1", "x = 1", "y = 2"))
    own = other.receipt["cell"]["sequence"]
    assert own != other.execution_count
    shown = notebook.run("%mlc_trace show").text.splitlines()
    assert [line.split()[0] for line in shown[1:]] == [
        f"[{one.execution_count}]" for one in (first, again, other)
    ]
    why = notebook.run(f"%mlc_trace why {other.execution_count}")
    own_why = notebook.run(f"%mlc_trace why #{own}  # by its own number")
    assert f"[{other.execution_count}]" in str(why.outputs)
    assert str(why.outputs) == str(own_why.outputs)
    compared = notebook.run(f"%mlc_trace compare #{own - 2}-#{own - 1} {other.execution_count}")
    assert {f"#{own - 2}-#{own - 1}", f"[{other.execution_count}]"} <= set(
        re.findall(r"[#\[][#\d\]-]+", str(compared.outputs))
    )
    exported = notebook.run(f"%mlc_trace export --cell {other.execution_count} one.json").text
    assert "from 1 cell to one.json" in exported
    assert json.loads((notebook.folder / "one.json").read_text())["otherData"]["cells"] == 1


def test_one_magic_lists_all_of_them_with_an_example_each(plain):
    lines = plain.run("%mlgpu").text.splitlines()
    assert lines[0] == "Every day:"
    known = plain.run(
        "print(*sorted({name for kind in get_ipython().magics_manager.magics.values() for name in kind"
        " if name.startswith('mlc_')}))"
    ).text.split()
    listed = [line.split()[0].strip("%") for line in lines if line.lstrip().startswith("%")]
    assert sorted(listed) == known
    assert listed[:2] == ["mlc_device", "mlc_trace"]
    assert all(len(line) < 110 for line in lines)


def test_the_list_itself_gets_no_receipt(plain):
    assert plain.run("%mlgpu").receipts == []


@pytest.mark.parametrize("magic", ["mlc_device", "mlc_trace"])
def test_the_help_of_what_one_types_most_begins_with_every_day(plain, magic):
    shown = plain.run(f"print(get_ipython().find_line_magic('{magic}').__doc__)").text
    every_day, more = shown.split("More\n")
    assert "Every day\n" in every_day
    assert f"%{magic} " in every_day
    assert f"%{magic} " in more


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("%mlgpu trace", "%mlc_trace"),
        ("%mlc_trace shwo", "show"),
        ("%mlc_trace logs --rwa", "--raw"),
        ("%mlc_trace verbose onn", "on"),
        ("%mlc_trace verbose TF_CPP_VMODUL=1", "TF_CPP_VMODULE"),
        ("%mlc_trace compare gpuu cpu", "gpu"),
        ("%mlc_trace export --cel 3 x.json", "--cell"),
        ("%mlc_device statu", "status"),
        ("%mlc_device gpu0", "gpu"),
        ("%mlc_device cpu --framework tensorflw", "tensorflow"),
        ("%mlc_bench --quik", "--quick"),
        ("%mlc_bench gem", "gemm"),
        ("%mlc_doctor --dep", "--deep"),
        ("%mlc_doctor --language zhh", "zh"),
        ("%mlc_share statsu", "status"),
        ("%%mlc_race --repeat 3\n1", "--repeats"),
        ("%%mlc_trace --opps\n1", "--ops"),
    ],
)
def test_an_unknown_word_of_any_magic_is_answered_with_the_nearest(plain, line, meant):
    said = plain.run(line).text
    assert f"Did you mean {meant}?" in said
    assert len(said.strip().splitlines()) == 1
