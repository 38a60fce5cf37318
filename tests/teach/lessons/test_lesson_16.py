"""Lesson 16: what its text says of the saved run is true, and its bytes are those of real arrays."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from jupyter_mlgpu.teach.lessons import recordings, text
from jupyter_mlgpu.teach.lessons.exercises import exercises

LESSON = Path(__file__).resolve().parents[3] / "notebooks" / "16_a_small_language_model.ipynb"


@pytest.fixture(scope="module")
def lesson():
    return nbformat.read(LESSON, 4)


def printed(lesson, name):
    cell = next(cell for cell in lesson.cells if cell.id == name)
    return "".join(
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
        if not any("mlgpu.record" in kind for kind in output.get("data", {}))
    )


def column(lesson, name, row, pattern):
    """The number in a table's row, at the group of a pattern behind the row's name."""
    found = re.search(rf"^{re.escape(row)}  +{pattern}", printed(lesson, name), re.M)
    assert found, row
    return float(found[1].replace(",", ""))


def recorded(name):
    """The rows of a recording, by their first column."""
    rows = recordings.read(recordings.FOLDER / f"{name}.json").data["rows"]
    return {next(iter(row.values())): row for row in rows}


def test_int4_needs_less_than_a_third_of_float16_and_no_published_figure_is_above_its_bound(lesson):
    size_of = exercises()["model_bytes"].reference
    assert size_of(8e9, 16, float("inf")) / size_of(8e9, 4, 32) > 3
    shares = re.findall(r" (\d+)% ", printed(lesson, "published"))
    assert len(shares) == 14
    assert all(40 < int(share) < 90 for share in shares)


def test_on_the_large_chips_a_token_takes_5_to_10_ms_beyond_the_bound(lesson):
    beyond = re.findall(r"^(?:M1 Max|M4 Max|M2 Ultra).* ([\d.]+)$", printed(lesson, "published"), re.M)
    assert len(beyond) == 9
    assert all(5 <= float(one) < 10 for one in beyond)


def test_int8_keeps_the_loss_a_scale_for_32_beats_one_for_a_row_and_two_bits_break_the_model(lesson):
    def loss(row):
        return column(lesson, "errors", row, r"\S+ +\S+ +(\S+)")

    exact = loss("float32")
    assert abs(loss("int8, a scale for a row") - exact) < 0.005
    assert exact + 0.005 < loss("int4, a scale for 32") < loss("int4, a scale for a row") < exact + 0.1
    assert loss("int2, a scale for 32") > exact + 0.5


def test_packed_weights_have_the_bytes_that_were_predicted_and_come_back(lesson):
    there, predicted = re.search(r"^([\d,]+) bytes, predicted ([\d,]+)", printed(lesson, "packed")).groups()
    assert there == predicted
    assert "all the same again: True" in printed(lesson, "packed")


def test_weights_that_are_turned_back_first_are_slower_than_float32_and_than_sixteen_rows(lesson):
    def speed(row):
        return column(lesson, "speed", row, r"\S+ +\S+ +(\S+)")

    assert speed("int8, all turned first") < 0.7
    assert speed("int8, sixteen rows at a time") > 1.4 * speed("int8, all turned first")
    assert speed("int4, all turned first") < speed("int8, all turned first")


def test_on_the_gpu_turning_first_is_slower_and_one_kernel_faster_and_int4_reads_at_half_the_rate():
    rows = recorded("16_gpu")
    speeds = {name: float(row["times as fast"]) for name, row in rows.items()}
    assert speeds["int8, turned into bf16 first"] < 0.5
    assert 1.4 < speeds["int8, the same with torch.compile"] < 2
    rates = {name: row["GB/s of weights"] for name, row in rows.items()}
    assert rates["int4 in groups of 32, PyTorch's kernel"] < 0.6 * rates["bf16"]


def test_a_llama_on_the_gpu_gains_nothing_from_int8_to_int4():
    tokens = {name: row["tokens/s"] for name, row in recorded("16_llama").items()}
    assert tokens["int8, torch.compile"] > 1.3 * tokens["bf16"]
    assert tokens["int4, PyTorch's kernel"] < 1.1 * tokens["int8, torch.compile"]


def test_lora_learns_less_and_forgets_less_than_all_weights(lesson):
    def change(row, column_number):
        return column(lesson, "tuned", row, rf"(?:\S+ +){{{2 + column_number}}}([-+]\S+)")

    assert change("all weights", 0) < 2 * change("LoRA", 0) * 0.9 < 0
    assert 0 < change("LoRA", 1) < 0.8 * change("all weights", 1)


def test_merged_weights_give_the_same_and_with_both_matrices_at_zero_nothing_is_learned(lesson):
    assert "approximate: yes" in printed(lesson, "merge")
    assert re.search(r"in any a or b: 0\.0$", printed(lesson, "zero"), re.M)


def test_one_large_weight_spoils_its_row_and_not_other_groups(lesson):
    found = re.findall(r" ([\d.]+)%$", printed(lesson, "outlier"), re.M)
    row, group, spoiled_row, spoiled_group = map(float, found)
    assert spoiled_row > 10 * row
    assert spoiled_group < 6 * group


def test_in_mlx_on_a_processor_one_kernel_spares_the_copy_and_fewer_bits_write_no_faster():
    products = {name: row["ms"] for name, row in recorded("16_mlx_products").items()}
    for bits in (8, 4):
        assert (
            products[f"{bits} bits, turned into float32 first"] > 2 * products[f"{bits} bits, in one kernel"]
        )
    written = recorded("16_mlx_model")
    assert written[4]["tokens/s"] < 0.5 * written[4]["if only bytes counted"]


def test_every_operation_of_the_loop_in_pytorch_has_a_kernel_on_mps():
    (row,) = recorded("16_torch").values()
    assert row["on MPS"].startswith("All ")
    assert row["ran on"] == "cpu"


def test_21_million_weights_are_trained_with_adapters_of_rank_8_in_llama_3_8b():
    shapes = [(4096, 4096), (4096, 1024), (4096, 1024), (4096, 4096)]
    shapes += [(4096, 14336), (4096, 14336), (14336, 4096)]
    count = 32 * sum(8 * (inputs + outputs) for inputs, outputs in shapes)
    assert round(count / 1e6) == 21
    assert round(3 * 4 * count / 1e9, 2) == 0.25


def test_the_sentences_of_one_package_are_read_without_importing_it():
    found = text.of("IPython")
    assert len(found) > 1000
    assert set(found.libraries) == {"IPython"}
    assert len(set(found)) == len(found)


def test_a_clipped_scale_is_never_worse_than_the_usual_one():
    row = np.random.default_rng(0).normal(size=64)
    share = exercises()["best_scale"].reference(row, 7, [1.0, 0.8])
    assert share in (1.0, 0.8)
