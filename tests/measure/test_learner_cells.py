"""What receipts say of the cells of learners of PyTorch and JAX on a machine without a GPU."""

from __future__ import annotations

import pytest

from tests.support import learner_cells

pytestmark = [pytest.mark.kernel, pytest.mark.slow]

#: The cells that fail, by file.
FAIL = {"torch.py": {"20", "21", "22"}, "jax.py": {"07", "08"}}
#: What a learner without TensorFlow, an NVIDIA GPU and the framework's own profiler can do nothing with.
FOREIGN = ("nvidia-smi", "tf.", "model.fit", "jit_compile")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("torch.py", marks=pytest.mark.needs("torch")),
        pytest.param("jax.py", marks=pytest.mark.needs("jax")),
    ],
)
def told(request, start_for_module):
    results = learner_cells.run(start_for_module(), request.param)
    print(learner_cells.table(results))
    return request.param, {one.cell.number: one for one in results}


def test_cells_fail_as_they_do_without_us(told):
    name, found = told
    assert {number for number, one in found.items() if one.result.status == "error"} == FAIL[name]


def test_each_error_is_explained(told):
    name, found = told
    for number in FAIL[name]:
        assert "1 to act on" in found[number].text, found[number].text


def test_each_cell_that_names_a_place_names_the_cpu(told):
    _, found = told
    assert {place for one in found.values() for place in one.places or ()} == {"cpu:0"}
    assert [one.cell.title for one in found.values() if "device not known" in one.text] == []


def test_no_advice_is_another_frameworks(told):
    _, found = told
    for one in found.values():
        advice = (one.result.receipt.get("limit") or {}).get("next") or ""
        assert [words for words in FOREIGN if words in advice] == [], one.cell.title
