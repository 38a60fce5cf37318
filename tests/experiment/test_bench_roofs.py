"""A benchmark keeps the best that it has shown: a product of each type, and the memory."""

from dataclasses import replace

import pytest

from jupyter_mlgpu.experiment.bench import roofs
from jupyter_mlgpu.record import cachefolder
from jupyter_mlgpu.record.roofs import MEMORY, read
from tests.experiment.test_bench_results import measured, moving, run, skipped

pytestmark = pytest.mark.small
MACHINE = "0" * 12


def product(seconds: float, type_: str = "float32", **more):
    made = measured(seconds, name="gemm")
    return replace(made, case="gemm", type_asked=type_, type_ran=type_, flops=1e12, **more)


def kept(*results, **fields):
    return {one.type: one for one in roofs.of(run(*results, **fields), MACHINE)}


def test_the_fastest_product_of_each_type_and_the_fastest_move_are_roofs():
    found = kept(
        product(0.2), product(0.1), product(0.05, "bfloat16"), moving(3e9, 0.001), moving(3e9, 0.002)
    )
    assert {type_: one.rate for type_, one in found.items()} == pytest.approx(
        {"float32": 1e13, "bfloat16": 2e13, MEMORY: 3e12}
    )
    one = found["float32"]
    assert (one.machine, one.framework, one.device, one.version) == (MACHINE, "torch", "gpu:0", "2.13.0")
    assert one.samples == 6
    assert one.measured_at == "2026-11-22T01:00:00Z"


DISTURBED = {"flags": ("Something else used gpu:0 at the same time: a game.",)}


def test_a_disturbed_figure_is_no_roof_and_no_lower_one_stands_in_for_it():
    assert kept(product(0.1, **DISTURBED), product(0.2), moving(3e9, 0.001)).keys() == {MEMORY}
    assert kept(product(0.1), product(0.2, **DISTURBED)).keys() == {"float32"}


def test_what_is_not_saved_is_said_in_a_sentence_and_an_older_roof_stays(tmp_path, monkeypatch):
    monkeypatch.setenv(cachefolder.VARIABLE, str(tmp_path))
    assert roofs.keep(run(product(0.2)), MACHINE) is None
    disturbed = run(product(0.1, **DISTURBED), replace(moving(3e9, 0.001), **DISTURBED))
    assert roofs.keep(disturbed, MACHINE) == (
        "Not saved as this machine's roof, because something disturbed the benchmark: float32 and memory "
        "bandwidth; repeat it when the machine is idle."
    )
    assert [(one.type, one.rate) for one in read()] == [("float32", pytest.approx(5e12))]


def test_what_was_not_measured_here_now_or_failed_or_is_no_roof_is_none():
    assert kept(product(0.1), origin="loaded") == {}
    assert kept(skipped(), measured(0.1, name="resnet50")) == {}
    assert kept(product(0.1, options=("compile",))) == {}


def test_they_are_there_for_the_next_cell_and_a_folder_that_cannot_be_written_costs_nothing(
    tmp_path, monkeypatch
):
    monkeypatch.setenv(cachefolder.VARIABLE, str(tmp_path))
    assert roofs.keep(run(product(0.1)), MACHINE) is None
    assert [one.type for one in read()] == ["float32"]
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cachefolder.VARIABLE, str(tmp_path / "file"))
    assert roofs.keep(run(product(0.1)), MACHINE).startswith(
        "This machine's roof could not be saved for receipts:"
    )
