"""`%mlc_plan ... --target mps` in a notebook."""

from __future__ import annotations

import pytest

from jupyter_mlgpu.show.page.view import MIME_TYPE

pytestmark = [pytest.mark.kernel, pytest.mark.needs("torch")]

STEP = """\
import torch
from torch import nn
model = nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
def step(x):
    optimizer.zero_grad()
    loss = torch.linalg.eig(model(x))[0].abs().sum()
    loss.backward()
    optimizer.step()
    print("ran")
x, y = torch.ones(3, 3), torch.ones(3, 3)
"""


@pytest.fixture(scope="module")
def notebook(start_for_module):
    notebook = start_for_module()
    notebook.run(STEP)
    return notebook


def test_the_magic_says_the_answer_first_with_the_line_of_the_cell(notebook):
    result = notebook.run("%mlc_plan step x --target mps")
    (shown,) = [data for kind, data in result.outputs if kind == "execute_result"]
    answer = shown["text/plain"].splitlines()[0]
    assert "`linalg_eig` (line 7 of [" in answer
    assert "PYTORCH_ENABLE_MPS_FALLBACK=1" in answer
    assert "loss = torch.linalg.eig(model(x))" in shown["text/html"]
    assert shown[MIME_TYPE]["headline"]
    assert "ran" not in result.text


def test_the_step_did_not_run(notebook):
    assert notebook.run("print(model.weight.grad, type(model.weight).__name__)").text == "None Parameter\n"


def test_a_module_is_planned_as_its_training_step(notebook):
    assert (
        notebook.run("p = %mlc_plan model x y --target mps\nprint(p.kinds, p.of('missing'))").status == "ok"
    )
    told = notebook.run("print(str(p.subject))").text
    assert told == "training step of Linear\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%mlc_plan model x", "choose the target mps"),
        ("%mlc_plan 7 --target mps", "An object of type int cannot be planned for mps"),
        ("%mlc_plan step --target mps", "missing 1 required positional argument"),
        ("%mlc_plan model x --target mpss", "metal-community, cuda, mlcompute or mps"),
    ],
)
def test_a_mistake_is_one_sentence(notebook, line, words):
    result = notebook.run(line)
    assert result.status == "error"
    assert words in result.text
    assert len(result.text.strip().splitlines()) == 1
