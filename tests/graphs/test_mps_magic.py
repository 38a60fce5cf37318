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

FAILING = """\
class Failing(nn.Module):
    def forward(self, x):
        raise ValueError
"""


@pytest.fixture(scope="module")
def notebook(start_for_module):
    notebook = start_for_module()
    notebook.run(STEP)
    assert notebook.run(FAILING).execution_count == 3
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


def test_what_depends_on_values_is_told_with_the_line_of_the_cell(notebook):
    cell = "def read(x):\n    y = x.exp()\n    if y.sum() > 0:\n        return y\n    return y @ x"
    number = notebook.run(cell).execution_count
    told = notebook.run("p = %mlc_plan read x --target mps\nprint(p)").text
    assert f"Values are read (line 3 of [{number}])" in told


def test_a_batch_may_be_given_with_stars(notebook):
    notebook.run("batch = (x, y)\nclass Named(nn.Module):\n    def forward(self, a, b): return a @ b")
    told = notebook.run("p = %mlc_plan model *batch --target mps\nprint(p.subject)").text
    assert told == "training step of Linear\n"
    told = notebook.run("p = %mlc_plan Named() **{'a': x, 'b': y} --target mps\nprint(p.subject)").text
    assert told == "forward pass of Named\n"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%mlc_plan model x", "choose the target mps"),
        ("%mlc_plan step x", "choose the target mps"),
        ("%mlc_plan nn.Linear", "choose the target mps"),
        ("%mlc_plan 7 --target mps", "An object of type int cannot be planned for mps"),
        ("%mlc_plan step --target mps", "missing 1 required positional argument"),
        ("%mlc_plan model x --target mpss", "metal-community, cuda, mlcompute or mps"),
        ("%mlc_plan nosuch x --target mps", "'nosuch' after %mlc_plan is not defined: run the cell"),
        ("%mlc_plan model *7 --target mps", "an object of type int has no items"),
        ("%mlc_plan lambda a: a x --target mps", "put one with blanks in brackets"),
        ("%mlc_plan model x[9] --target mps", "IndexError"),
        ("%mlc_plan nn.Linear(3, 3).cuda() x --target mps", "make it in a function, and plan that"),
        ("%mlc_plan Failing() x --target mps", "an error at line 3 of [3], before the first operation"),
    ],
)
def test_a_mistake_is_one_sentence(notebook, line, words):
    result = notebook.run(line)
    assert result.status == "error"
    assert words in result.text
    assert len(result.text.strip().splitlines()) == 1
