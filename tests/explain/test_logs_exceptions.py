"""A failed cell's exception is explained from the catalogue that explains log lines."""

import pytest

from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.explain.logs.reader import LogReader
from jupyter_mlgpu.measure.capture.stretch import EXCEPTION


def said(text):
    reader = LogReader(Catalogue.load())
    reader.add("stderr", text, level="ERROR", origin=EXCEPTION, time="2026-11-28T12:00:00Z")
    return reader.finish().lines


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "\x1b[31mRuntimeError\x1b[39m: mat1 and mat2 shapes cannot be multiplied (3x4 and 3x4)",
            "torch-shapes-do-not-fit",
        ),
        (
            "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate "
            "memory: you tried to allocate 40000000000000 bytes. Error code 12 (Cannot allocate memory)",
            "torch-cpu-out-of-memory",
        ),
        ("RuntimeError: PyTorch is not linked with support for mps devices", "torch-mps-not-built"),
        (
            "ValueError: [quantize] The last dimension of the matrix needs to be divisible by the "
            "quantization group size 64. However the provided  matrix has shape (10,784)",
            "mlx-quantize-group",
        ),
        (
            "ValueError: [set_default_device] Cannot set gpu device without gpu backend.",
            "mlx-no-metal-backend",
        ),
        (
            "TypeError: dot_general requires contracting dimensions to have the same shape, got (4,) and "
            "(3,).",
            "jax-shapes",
        ),
        (
            "RuntimeError: Error(s) in loading state_dict for Linear:\n\tMissing key(s) in state_dict: "
            '"weight". \n\tUnexpected key(s) in state_dict: "a". ',
            "torch-state-dict",
        ),
        (
            "RuntimeError: Expected a 'mps' device type for generator but found 'cpu'",
            "torch-generator-device",
        ),
    ],
)
def test_an_exception_is_explained(text, wanted):
    (line,) = said(text)
    assert (line.id, line.verdict != "unknown", "\x1b" in line.text) == (wanted, True, False)


def test_a_generator_on_another_device_is_mended_by_the_line_that_is_advised():
    (line,) = said("RuntimeError: Expected a 'mps' device type for generator but found 'cpu'")
    assert "DataLoader(..., generator=torch.Generator(device='mps'))" in line.advice


@pytest.mark.parametrize("backend", ["cuda", "mps"])
def test_a_missing_backend_of_jax_is_named_without_its_full_stop(backend):
    (line,) = said(f"RuntimeError: Unknown backend {backend}. Available backends are ['cpu']")
    assert line.meaning.startswith(f"'{backend}' was asked for")


@pytest.mark.parametrize(
    "text",
    ["NameError: name 'x' is not defined", "", "\ud800", "\x1b[31m"],
)
def test_an_exception_that_is_not_known_adds_nothing_to_its_traceback(text):
    assert said(text) == ()
