"""A receipt whose GPU is still at work is shown at once, and completed when the work is done."""

import nbformat
import pytest
from nbclient import NotebookClient

from jupyter_mlgpu.record.gpu_work import STILL_AT_WORK
from tests.support.kernels import MIME_TYPE
from tests.support.reading import receipt_as_read

pytestmark = pytest.mark.kernel

#: A machine with a GPU in place of this one's.
GPU = """
import time, numpy
from tests.support.gpu_machine import Machine
from tests.support.cupti import kernel
from jupyter_mlgpu.measure.runtime import current
machine = Machine(0)
current().recorder.gpu = lambda: machine.meter
"""
LAUNCH = """
machine.cupti.at_work = True
now = machine.cupti.ticks
machine.cupti.happen(kernel(now, now + 500_000_000))
"""
WAIT = """
machine.cupti.ticks = now + 600_000_000
machine.cupti.at_work = False
record = current().store.records()[-1]
while current().store.get(record.key).unfinished:
    time.sleep(0.01)
"""


def device_time(receipt):
    return next(one for one in receipt["readings"] if one["quantity"] == "device_time")


def test_the_reply_does_not_wait_and_the_receipt_is_completed_in_the_next_cell(reload_kernel):
    notebook = reload_kernel()
    notebook.run(GPU)
    launched = notebook.run(LAUNCH)
    assert device_time(launched.receipt)["why_missing"] == STILL_AT_WORK
    assert launched.receipt["asynchronous"]
    sent = notebook.send(WAIT)
    update = notebook.hear_until(lambda message: message["msg_type"] == "update_display_data")
    assert update["parent_header"]["msg_id"] == sent
    whole = receipt_as_read(update["content"]["data"][MIME_TYPE])
    assert whole["cell"] == launched.receipt["cell"]
    assert device_time(whole)["value"] == pytest.approx(0.5)
    assert whole["gpu_work"][0]["went_on"] == pytest.approx(0.5)
    assert "went on for 500 ms" in update["content"]["data"]["text/plain"]


def test_a_notebook_that_nbclient_runs_has_the_completed_receipt(tmp_path):
    code = ["%load_ext jupyter_mlgpu", GPU, LAUNCH, WAIT, LAUNCH]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in code])
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}, kernel_name="python3").execute()
    first, last = (notebook.cells[number].outputs[-1].data for number in (2, 4))
    assert "GPU busy" in first["text/plain"]
    # Nobody waited for this one: it says so, and is as valid.
    assert "GPU time to come" in last["text/plain"]
