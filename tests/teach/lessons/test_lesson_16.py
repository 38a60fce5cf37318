"""Lesson 16: what its text says of the saved run is true, and its bytes are those of real arrays."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from jupyter_mlgpu.teach.lessons import recordings, smallmodels, text
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
    assert len(shares) == 3 * len(smallmodels.PUBLISHED) == 15
    assert all(40 < int(share) < 90 for share in shares)


def test_a_token_of_llama_takes_4_to_7_ms_beyond_the_reading_and_one_of_qwen3_2_5_to_2_7(lesson):
    rows = re.findall(r"^.*(Llama 2 7B|Qwen3 4B), .* ([\d.]+)$", printed(lesson, "published"), re.M)
    beyond = {name: [float(ms) for model, ms in rows if model == name] for name, _ in rows}
    assert 3.5 <= min(beyond["Llama 2 7B"]) < max(beyond["Llama 2 7B"]) < 7.5
    assert set(beyond["Qwen3 4B"]) <= {2.5, 2.6, 2.7}
    llama = beyond["Llama 2 7B"]
    chips = [llama[start : start + 3] for start in range(0, len(llama), 3)]
    assert all(max(chip) - min(chip) < 1.6 for chip in chips)


def test_the_cache_of_llama_3_1_8b_takes_1_1_gb_after_8192_tokens():
    layers, heads, width, keys_and_values, float16 = 32, 8, 128, 2, 2
    assert round(8192 * layers * heads * width * keys_and_values * float16 / 1e9, 1) == 1.1


def test_the_loss_rises_about_with_the_square_of_the_error_and_two_bits_break_the_model(lesson):
    def error(row):
        return column(lesson, "errors", row, r"\S+ +(\S+)%")

    def rise(row):
        return column(lesson, "errors", row, r"\S+ +\S+ +([-+]\S+)")

    assert abs(rise("int8, a scale for 128")) < 0.005
    small, large = "int4, a scale for 32", "int4, a scale for 128"
    assert 0.005 < rise(small) < rise(large) < 0.1
    assert 0.6 < (rise(large) / rise(small)) / (error(large) / error(small)) ** 2 < 1.6
    assert rise("int2, a scale for 32") > 0.5


def test_packed_weights_have_the_bytes_that_were_predicted_and_come_back(lesson):
    there, predicted = re.search(r"^([\d,]+) bytes, predicted ([\d,]+)", printed(lesson, "packed")).groups()
    assert there == predicted
    assert "all the same again: True" in printed(lesson, "packed")


def test_turning_back_makes_products_slower_than_float32_and_most_of_it_is_the_turning(lesson):
    def ms(row):
        return column(lesson, "speed", row, r"(\S+)")

    float32, first, few = ms("float32"), ms("int8, all turned first"), ms("int8, sixteen rows at a time")
    assert first > 1.4 * max(float32, few)
    assert ms("  of it turning alone") > 0.5 * first
    assert ms("  of it turning alone, in the cache") > 0.7 * float32
    assert ms("int4, all turned first") > first


def test_on_the_gpu_turning_first_is_slower_and_one_kernel_faster_and_int4_reads_at_half_the_rate():
    rows = recorded("16_gpu")
    speeds = {name: float(row["times as fast"]) for name, row in rows.items()}
    assert speeds["int8, turned into bf16 first"] < 0.5
    assert 1.4 < speeds["int8, the same with torch.compile"] < 2
    rates = {name: row["GB/s of weights"] for name, row in rows.items()}
    for kernel in ("PyTorch's kernel", "a kernel in Triton"):
        assert rates[f"int4 in groups of 32, {kernel}"] < 0.5 * rates["bf16"]


def test_a_llama_on_the_gpu_gains_nothing_from_int8_to_int4():
    tokens = {name: row["tokens/s"] for name, row in recorded("16_llama").items()}
    assert tokens["int8, torch.compile"] > 1.3 * tokens["bf16"]
    assert tokens["int4, PyTorch's kernel"] < 1.1 * tokens["int8, torch.compile"]


def test_a_token_of_llama_on_the_gpu_takes_1_to_2_ms_beyond_the_reading():
    for row in recorded("16_llama").values():
        reading = 1000 * row["GB"] / (0.88 * 4800)
        assert 1 <= 1000 / row["tokens/s"] - reading < 2.5


def test_lora_learns_half_as_much_and_forgets_as_much_for_each_unit_learned(lesson):
    def row(name):
        return [column(lesson, "tuned", name, rf"(?:\S+ +){{{before}}}(\S+)") for before in range(3)]

    adapters, early, everything = map(
        row, ("adapters, 100 steps", "all weights, 50 steps", "all weights, 100 steps")
    )
    assert 0.35 < adapters[0] / everything[0] < 0.6
    assert adapters[1] < everything[1]
    assert 0.7 < adapters[2] / everything[2] < 1.4
    assert early[0] > adapters[0]
    assert early[2] < 1.2 * adapters[2]


def test_merged_weights_give_the_same(lesson):
    assert "approximate: yes" in printed(lesson, "merge")


def test_one_large_weight_spoils_its_row_and_not_other_groups(lesson):
    table = printed(lesson, "outlier")
    row, spoiled_row, group, spoiled_group = map(float, re.findall(r" ([\d.]+)%", table))
    assert 15 * row < spoiled_row < 40 * row
    assert spoiled_group < 6 * group


def test_mlx_reads_few_gb_a_second_on_a_processor_in_every_type():
    rows = recorded("16_mlx")
    assert [row["MB"] for row in rows.values()] == [336, 105, 63]
    assert all(row["GB/s of one product"] < 10 for row in rows.values())


def test_lora_in_4_bits_needs_a_twentieth_of_the_memory_for_all_weights():
    rows = recorded("16_mlx_lora")
    for row in rows.values():
        assert row["MB predicted"] < row["MB measured"] < 1.5 * row["MB predicted"]
    measured = [row["MB measured"] for row in rows.values()]
    assert measured[0] / measured[1] < 6
    assert 17 < measured[0] / measured[2] < 23


def test_in_pytorch_int8_writes_faster_and_every_operation_has_a_kernel_on_mps():
    bf16, int8 = recorded("16_torch").values()
    assert int8["tokens/s measured"] > bf16["tokens/s measured"]
    for row in (bf16, int8):
        assert row["on MPS"].startswith("All ")
        assert row["weights"].endswith("on cpu")


def test_the_sentences_of_one_package_are_read_without_importing_it():
    found = text.of("IPython")
    assert len(found) > 1000
    assert set(found.libraries) == {"IPython"}
    assert len(set(found)) == len(found)


def test_a_clipped_scale_is_never_worse_than_the_usual_one():
    row = np.random.default_rng(0).normal(size=64)
    share = exercises()["best_scale"].reference(row, 7, [1.0, 0.8])
    assert share in (1.0, 0.8)
