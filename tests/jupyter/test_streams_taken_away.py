"""A cell that takes its streams away, breaks them, or prints what cannot be sent behaves as without us."""

import pytest

pytestmark = pytest.mark.kernel

#: With no stream at all ipykernel answers no further cell: so the cell has them put back behind us.
PUT_BACK = """
import io, sys
kept = sys.stdout, sys.stderr
def put_back(result):
    sys.stdout, sys.stderr = kept
    get_ipython().events.unregister('post_run_cell', put_back)
get_ipython().events.register('post_run_cell', put_back)
print('before')
"""
TAKEN_AWAY = [
    "sys.stdout = None",
    "sys.stderr = None",
    "sys.stdout = sys.stderr = None",
    "sys.stderr = object()",
    "sys.stdout = io.StringIO(); sys.stdout.close()",
]


@pytest.mark.parametrize("cell", TAKEN_AWAY)
def test_a_cell_that_takes_a_stream_away_is_answered_and_has_its_receipt_last(plain, cell):
    result = plain.run(PUT_BACK + cell)
    assert result.status == "ok"
    assert [kind for kind, _ in result.outputs] == ["stream", "display_data"]
    assert result.text == "before\n"
    assert result.receipt["outcome"] == "ok"


def test_a_cell_after_which_there_is_no_stderr_is_answered(start_kernel):
    result = start_kernel().run("import sys; print('before'); sys.stderr = None")
    assert result.status == "ok"
    assert result.text == "before\n"
    assert result.receipt["outcome"] == "ok"


def test_what_fails_in_us_while_there_is_no_stderr_fails_no_cell(start_kernel):
    notebook = start_kernel()
    notebook.evaluate(
        "None",
        prepare="from jupyter_mlgpu.measure.recorder import Recorder\n"
        "def start(*arguments, **named): raise RuntimeError('on purpose')\n"
        "Recorder.start = start",
    )
    result = notebook.run(PUT_BACK.replace("post_run_cell", "post_execute").replace("(result)", "()"))
    assert "could not begin to trace this cell (RuntimeError: on purpose)" in result.text
    result = notebook.run("import sys; sys.stderr = None")
    assert (result.status, result.receipts) == ("ok", [])


HALF = {
    "printed": r"print('\ud800')",
    "printed to stderr": r"import sys; print('\ud800', file=sys.stderr)",
    "on both streams": r"import sys; print('\ud800'); print('\ud800', file=sys.stderr)",
    "logged": r"import logging; logging.warning('\ud800')",
    "warned of": r"import warnings; warnings.warn('\ud800')",
    "in a profiled cell": "%%mlc_trace --ops\n" + r"print('\ud800')",
    "last": "class Half:\n    def __repr__(self): return '\\ud800'\nHalf()",
    "last, written out": r"'\ud800'",
}


@pytest.mark.parametrize("cell", HALF.values(), ids=HALF)
def test_half_a_character_costs_no_receipt(plain, cell):
    result = plain.run(cell)
    assert result.status == ("error" if "Half" in cell else "ok")  # ipykernel's own
    assert len(result.receipts) == 1
    assert "jupyter_mlgpu could not" not in result.text
    assert plain.run("1 + 1").receipt["outcome"] == "ok"


def test_that_it_could_not_be_sent_is_said_as_without_us(plain):
    assert "surrogates not allowed" in plain.run(r"print('\ud800')").text


def test_a_stream_of_ones_own_is_flushed_before_the_receipt(plain):
    result = plain.run(PUT_BACK + "sys.stdout = io.TextIOWrapper(io.BytesIO())\nprint('elsewhere')")
    assert [kind for kind, _ in result.outputs] == ["stream", "display_data"]
    assert plain.evaluate("1 + 1") == 2
