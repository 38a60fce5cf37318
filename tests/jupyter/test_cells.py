"""The user's cell comes first: whatever it does, it runs as without us, and its receipt is right."""

import json
import time
from importlib.resources import files

import pytest

from tests.support.later import Later

pytestmark = pytest.mark.kernel

jsonschema = Later("jsonschema")

SCHEMA = json.loads(files("jupyter_mlgpu").joinpath("record/record.schema.json").read_text())


def test_a_cell_gets_one_receipt_under_its_own_output(plain):
    result = plain.run("print('mine')\n6 * 7")
    assert [kind for kind, _ in result.outputs] == ["stream", "execute_result", "display_data"]
    assert result.text == "mine\n"
    assert result.receipt["cell"]["name"] == "6 * 7"
    assert result.receipt["outcome"] == "ok"


def test_the_receipt_follows_the_schema(plain):
    jsonschema.validate(plain.run("x = 1").receipt, SCHEMA)


def test_the_receipt_knows_execution_count_and_cell_id(plain):
    message = plain.client.session.msg(
        "execute_request",
        {
            "code": "1",
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        },
    )
    message["metadata"] = {"cellId": "a-cell"}
    plain.client.shell_channel.send(message)
    result = plain.wait(message["header"]["msg_id"])
    assert result.receipt["cell"]["id"] == "a-cell"
    assert result.receipt["cell"]["execution_count"] == result.execution_count


def test_without_history_the_execution_count_is_not_invented(plain):
    assert plain.run("1", store_history=False).receipt["cell"]["execution_count"] is None


def test_wall_time_lies_between_a_clock_inside_the_cell_and_one_outside_the_kernel(plain):
    begun = time.perf_counter()
    result = plain.run(
        "import time\nstart = time.perf_counter()\ntime.sleep(0.5)\nprint(time.perf_counter() - start)"
    )
    assert float(result.text) <= result.value("wall_time") <= time.perf_counter() - begun


def test_a_cell_that_freezes_the_time_is_timed_all_the_same(plain):
    frozen = plain.run("import time\nreal = time.perf_counter_ns\ntime.perf_counter_ns = lambda: 0")
    within = plain.run("sum(range(1000))")
    thawed = plain.run("time.perf_counter_ns = real\ndel real, time")
    assert all(one.value("wall_time") > 0 for one in (frozen, within, thawed))


def test_a_cell_that_begins_the_kernels_peak_afresh_gets_a_note_and_no_low_peak(plain):
    result = plain.run("block = bytearray(10**8)\ndel block\nopen('/proc/self/clear_refs', 'w').write('5')")
    assert result.value("peak_memory_process") is None
    assert any("reset the peak" in note for note in result.receipt["notes"])
    assert plain.run("1").value("peak_memory_process") > 0


def test_cpu_time_tells_sleeping_from_computing(plain):
    plain.run("import time\ntime.sleep(0.3)")  # the first cell's looks import what they need
    sleeping = plain.run("time.sleep(0.3)")
    computing = plain.run("end = time.process_time() + 0.3\nwhile time.process_time() < end: pass")
    assert sleeping.value("cpu_time") < 0.1
    assert computing.value("cpu_time") >= 0.3


def test_a_cell_that_raises_keeps_its_own_exception(plain):
    result = plain.run("print('before')\n1 / 0")
    assert result.status == "error"
    assert result.error == "ZeroDivisionError: division by zero"
    assert result.receipt["outcome"] == "error"
    assert [kind for kind, _ in result.outputs] == ["stream", "error", "display_data"]


SLOW_TRACEBACKS = """
from jupyter_mlgpu.testing import FakeClock
ip = get_ipython()
recorder = ip._jupyter_mlgpu.runtime.recorder
system, recorder.clock = recorder.clock, FakeClock()
for traceback in (ip.InteractiveTB, ip.SyntaxTB):
    def slow(*arguments, made=traceback.structured_traceback, clock=recorder.clock, **named):
        clock.advance(7)
        return made(*arguments, **named)
    traceback.structured_traceback = slow
"""
AS_BEFORE = """
recorder.clock = system
del ip.InteractiveTB.structured_traceback, ip.SyntaxTB.structured_traceback
print("showtraceback" in vars(ip), "showsyntaxerror" in vars(ip))
del ip, recorder, system, slow, traceback, FakeClock
"""


def test_the_time_of_a_cell_that_fails_is_that_of_its_code_and_not_of_its_traceback(plain):
    plain.run(SLOW_TRACEBACKS, silent=True)
    failed, mistyped = plain.run("recorder.clock.advance(2)\n1 / 0"), plain.run("1 +")
    by_hand = plain.run("try:\n    1 / 0\nexcept ZeroDivisionError:\n    ip.showtraceback()")
    again = plain.run("try:\n    1 / 0\nexcept ZeroDivisionError:\n    ip.showtraceback()\n    raise")
    left = plain.run(AS_BEFORE, silent=True).text
    cells = (failed, mistyped, by_hand, again)
    assert failed.error == "ZeroDivisionError: division by zero"
    assert [one.value("wall_time") for one in cells] == [2, 0, 7, 7]
    assert ["traceback" in one.receipt["facts"] for one in cells[:3]] == [True, True, False]
    assert left == "False False\n"


def test_a_cell_may_show_tracebacks_in_its_own_way_from_then_on(plain):
    plain.run(
        "ip = get_ipython()\ntheirs = ip.showtraceback\n"
        "def mine(*arguments, **named):\n    print('mine')\n    theirs(*arguments, **named)\n"
        "ip.showtraceback = mine"
    )
    assert [plain.run("1 / 0").text for _ in range(2)] == ["mine\n"] * 2
    assert plain.run("del ip.showtraceback, ip, theirs, mine\n1 / 0").status == "error"
    assert plain.run("print('showtraceback' in vars(get_ipython()))").text == "True\n"


def test_a_cell_with_a_syntax_error_gets_a_receipt(plain):
    result = plain.run("1 +")
    assert result.error.startswith("SyntaxError")
    assert result.receipt["outcome"] == "error"


def test_a_cell_that_calls_sys_exit_leaves_the_kernel_alive(plain):
    result = plain.run("import sys\nsys.exit(3)")
    assert result.error == "SystemExit: 3"
    assert result.receipt["outcome"] == "error"
    assert plain.run("1").status == "ok"


def test_an_interrupted_cell_says_so(plain):
    message = plain.send("import time\nprint('started', flush=True)\ntime.sleep(60)")
    while plain.client.get_iopub_msg(timeout=20)["msg_type"] != "stream":
        pass
    plain.manager.interrupt_kernel()
    result = plain.wait(message)
    assert result.error == "KeyboardInterrupt: "
    assert result.receipt["outcome"] == "interrupted"
    assert result.value("wall_time") < 30


def test_a_receipt_comes_after_the_reply_and_before_the_kernel_is_idle(plain):
    plain.run("sent = []")
    plain.run(
        "session = get_ipython().kernel.session\n"
        "original = session.send\n"
        "def send(stream, message, *arguments, **named):\n"
        "    kind = message if isinstance(message, str) else message['header']['msg_type']\n"
        "    content = arguments[0] if arguments else {}\n"
        "    sent.append(content.get('execution_state', kind))\n"
        "    return original(stream, message, *arguments, **named)\n"
        "session.send = send"
    )
    plain.run("sent.clear()\nprint('hello')")
    plain.run("session.send = original\nseen = list(sent)")
    seen = plain.evaluate("seen")
    # What pages get is sent by another thread, at any time.
    of_the_cell = [one for one in seen[: seen.index("idle") + 1] if one != "comm_msg"]
    assert of_the_cell == ["stream", "execute_reply", "display_data", "idle"]


def test_an_expression_beside_the_cell_finds_its_record(plain):
    message = plain.client.execute(
        "x = 1", user_expressions={"name": "__import__('jupyter_mlgpu').records()[-1].cell.name"}
    )
    reply = plain.client.get_shell_msg(timeout=60)
    while reply["parent_header"].get("msg_id") != message:
        reply = plain.client.get_shell_msg(timeout=60)
    assert reply["content"]["user_expressions"]["name"]["data"]["text/plain"] == "'x = 1'"


def test_a_cell_that_awaits_is_measured_to_its_end(plain):
    begun = time.perf_counter()
    result = plain.run("import asyncio\nawait asyncio.sleep(0.2)")
    assert result.status == "ok"
    assert 0.2 <= result.value("wall_time") <= time.perf_counter() - begun


def test_an_interrupted_await_says_so_and_the_next_cell_is_measured(plain):
    # ipykernel itself may notice the interrupt only when the await ends, hence the short one.
    message = plain.send(
        "import asyncio\nprint('started', flush=True)\nfor _ in range(300): await asyncio.sleep(0.1)"
    )
    while plain.client.get_iopub_msg(timeout=20)["msg_type"] != "stream":
        pass
    plain.manager.interrupt_kernel()
    result = plain.wait(message)
    assert result.status == "error"
    assert result.receipt["outcome"] == "interrupted"
    assert plain.run("1").receipt["outcome"] == "ok"


def test_a_nested_run_cell_belongs_to_its_outer_cell(plain):
    result = plain.run("get_ipython().run_cell('inner = 5'); print(inner)")
    assert result.text == "5\n"
    assert result.receipt["cell"]["name"].startswith("get_ipython()")


def test_a_nested_run_cell_that_raises_leaves_the_outer_one_measured(plain):
    result = plain.run("get_ipython().run_cell('1 / 0'); print('on')")
    assert result.text.endswith("on\n")
    assert result.receipt["outcome"] == "ok"
    assert plain.run("1").receipt["outcome"] == "ok"


def test_a_cell_that_forks_keeps_its_receipt_and_the_child_writes_none(plain):
    result = plain.run(
        "import os\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    assert result.text == "7\n"
    assert result.receipt["outcome"] == "ok"
    assert plain.run("2").receipt["outcome"] == "ok"


def test_a_forked_child_can_trace_on_its_own(plain):
    result = plain.run(
        "import os, jupyter_mlgpu\n"
        "reader, writer = os.pipe()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    with jupyter_mlgpu.trace('in the child') as record:\n"
        "        pass\n"
        "    os.write(writer, record.outcome.encode())\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "print(os.read(reader, 10))"
    )
    assert result.text == "b'ok'\n"


def test_silent_execution_leaves_no_receipt(plain):
    assert plain.run("hidden = 1", silent=True).receipts == []


def test_cells_that_only_steer_us_get_no_receipt(plain):
    assert plain.run("# how it stands\n%mlc_trace status").receipts == []


def test_a_thousand_lines_stay_complete_and_in_order(plain):
    result = plain.run("for number in range(1000): print(number)")
    assert result.text.split() == [str(number) for number in range(1000)]


@pytest.mark.parametrize("magic", ["%%mlc_trace", "%%mlc_trace  "])
def test_a_traced_cell_runs_as_an_ordinary_one(plain, magic):
    plain.run("%mlc_trace off")
    assert plain.run("1").receipts == []
    assert plain.run(f"{magic}\n40 + 2").receipt["cell"]["name"] == "40 + 2"
    failed = plain.run(f"{magic}\n1 / 0")
    assert failed.status == "error"
    assert failed.receipt["outcome"] == "error"
    timed = plain.run(f"{magic}\n%%capture out\nprint('captured')")
    assert timed.text == ""
    assert timed.receipt["outcome"] == "ok"
    awaited = plain.run(f"{magic}\nimport asyncio\nawait asyncio.sleep(0)\n'done'")
    assert awaited.outputs[0][1]["text/plain"] == "'done'"
    assert plain.run("2").receipts == []
    plain.run("%mlc_trace on")


def test_a_full_disk_costs_the_record_on_disk_and_nothing_else(start_kernel):
    notebook = start_kernel(JUPYTER_MLGPU_RECORDS="/dev/full")
    result = notebook.run("print('fine')")
    assert result.status == "ok"
    assert result.text == "fine\n"
    assert "was not saved" in result.receipt["notes"][0]
    assert "No space left on device" in result.receipt["notes"][0]


def test_home_folders_and_tokens_stay_out_of_receipts(plain):
    result = plain.run("secret_token = 'abcdef0123'")
    assert "abcdef0123" not in json.dumps(result.receipt)


def test_a_failure_inside_us_is_one_sentence_and_the_cell_runs(start_kernel):
    notebook = start_kernel()
    notebook.run(
        "def broken(*arguments, **named): raise RuntimeError('planted')\n"
        "get_ipython()._jupyter_mlgpu.runtime.recorder.start = broken"
    )
    result = notebook.run("print('mine')")
    assert result.status == "ok"
    assert "mine\n" in result.text
    assert "jupyter_mlgpu could not begin to trace this cell (RuntimeError: planted)" in result.text
    assert "Traceback" not in result.text


def test_what_is_put_in_the_place_of_a_framework_is_not_asked_and_costs_nothing(start_kernel):
    notebook = start_kernel()
    put = (
        "import sys\n"
        "class NoFramework:\n"
        "    def __getattribute__(self, name):\n"
        "        print('asked for its', name)\n"
        "        raise RuntimeError(name)\n"
        "for name in ('tensorflow', 'keras', 'torch', 'jax', 'jaxlib', 'mlx', 'mlx.core', 'numpy'):\n"
        "    sys.modules[name] = NoFramework()"
    )
    for cell in (put, "1 + 1", "%mlc_device", "[one for one in range(9)]"):
        result = notebook.run(cell)
        assert result.status == "ok"
        assert "jupyter_mlgpu" not in result.text
        assert "asked for" not in result.text
        assert len(result.receipts) == (cell != "%mlc_device")
