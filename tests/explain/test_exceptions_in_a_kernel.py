"""The receipt of a cell that failed explains its exception."""

import pytest

pytestmark = pytest.mark.kernel


@pytest.mark.needs("torch")
def test_a_failed_cell_explains_its_exception(start_kernel):
    notebook = start_kernel()
    notebook.run("import torch")
    failed = notebook.run("torch.randn(3, 4) @ torch.randn(3, 4)")
    (line,) = failed.receipt["logs"]
    assert (line["id"], line["verdict"]) == ("torch-shapes-do-not-fit", "action")
    assert notebook.run("undefined").receipt["logs"] == []
    handled = "try: torch.randn(3, 4) @ torch.randn(3, 4)\nexcept RuntimeError: pass"
    assert notebook.run(handled).receipt["logs"] == []


def test_without_a_framework_nothing_is_looked_up(plain):
    failed = plain.run("raise RuntimeError('mat1 and mat2 shapes cannot be multiplied (3x4 and 3x4)')")
    assert failed.receipt["logs"] == []
