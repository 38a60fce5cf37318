"""A benchmark leaves its roofs to the receipts, and a profiled cell stands under them, in a real kernel."""

from __future__ import annotations

import json

import pytest

from jupyter_mlgpu.record import cachefolder
from tests.support.roofs import undisturbed_roofs

pytestmark = pytest.mark.kernel
SET_UP = (
    "import tensorflow as tf\n"
    "a = tf.random.normal((400, 400))\n"
    "@tf.function\n"
    "def product(a):\n"
    "    return tf.linalg.matmul(a, a)\n"
    "product(a)"
)
CODE = "for _ in range(10):\n    b = product(a)\nb = b.numpy()"


def readings(result) -> dict[str, dict]:
    return {one["quantity"]: one for one in result.receipt["readings"]}


def notes(result) -> str:
    return " ".join(one if isinstance(one, str) else one["text"] for one in result.receipt["notes"])


@pytest.mark.needs("tensorflow")
@pytest.mark.slow
def test_a_cell_is_placed_by_its_light_runs_under_the_roof_that_the_benchmark_has_left(
    start_kernel, tmp_path
):
    notebook = start_kernel(**{cachefolder.VARIABLE: str(tmp_path)})
    notebook.run(SET_UP)
    profiled = notebook.run(f"%%mlc_trace --ops --shapes\n{CODE}")
    assert "Run the cell once without `--ops`" in str(readings(profiled)["flop_rate"]["why_missing"])
    assert readings(profiled)["flops"]["value"] == 10 * 2 * 400**3
    # The same code below our line is the same cell, so this run is timed for the one before.
    light = readings(notebook.run(CODE))
    wall = light["wall_time"]["value"]
    assert light["flop_rate"]["value"] == pytest.approx(10 * 2 * 400**3 / wall)
    assert "%mlc_bench --quick" in str(light["flop_share"]["why_missing"])

    assert notebook.run(undisturbed_roofs("tensorflow")).status == "ok"
    kept = json.loads((tmp_path / "roofs.json").read_text())["roofs"]
    assert {"float32", "memory"} <= {one["type"] for one in kept}
    again = notebook.run(f"%%mlc_trace --ops --shapes\n{CODE}")
    assert "of this machine's float32 matrix product rate" in notes(again)
    assert "data:image/svg+xml" in again.outputs[-1][1]["text/html"]
    why = notebook.run("%mlc_trace why")
    assert "Where the cell stands under this machine's roof" in why.text + str(why.outputs)


@pytest.mark.slow
@pytest.mark.needs("tensorflow")
def test_a_damaged_file_of_roofs_costs_a_note_and_nothing_else(start_kernel, tmp_path):
    (tmp_path / "roofs.json").write_text("{")
    notebook = start_kernel(**{cachefolder.VARIABLE: str(tmp_path)})
    notebook.run(SET_UP)
    result = notebook.run(f"%%mlc_trace --ops --shapes\n{CODE}\nprint('mine')")
    assert result.text == "mine\n"
    assert "roofs.json in your cache folder is not used" in notes(result)
