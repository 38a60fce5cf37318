"""A user's own magics under the names of ours: the cell is theirs, and an ordinary cell to us."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.support.kernels import Notebook

pytestmark = pytest.mark.kernel

#: Registers a magic that prints what it is given, as a line and as a cell magic; `old` is what stood there.
REGISTER = """
from IPython import get_ipython
magics = get_ipython().magics_manager.magics
old = magics["cell"].get({name!r})
def mine(line, cell=None):
    print("mine:", repr(line), repr(cell))
get_ipython().register_magic_function(mine, {kind!r}, {name!r})
"""


@pytest.fixture
def users(reload_kernel: Callable[..., Notebook]) -> Iterator[Notebook]:
    """A kernel from which the user's magics are taken away afterwards."""
    notebook = reload_kernel()
    yield notebook
    take_away = """
for _named in get_ipython().magics_manager.magics.values():
    for _name in ("mlc_trace", "mlc_device", "mlc_race"):
        _named.pop(_name, None)
"""
    notebook.evaluate("None", prepare=take_away)


@pytest.mark.parametrize("name", ["mlc_trace", "mlc_device", "mlc_race"])
@pytest.mark.parametrize("words", ["", " --mode fast"])
def test_a_users_own_cell_magic_gets_its_line_and_its_cell(users, name, words):
    assert users.run(REGISTER.format(kind="line_cell", name=name)).status == "ok"
    result = users.run(f"%%{name}{words}\nraise SystemError('this is not Python to run')")
    assert result.status == "ok", result
    assert result.text == f"""mine: {words.strip()!r} "raise SystemError('this is not Python to run')\\n"\n"""
    assert result.receipt["cell"]["name"] == f"%%{name}{words}"  # measured as any other cell
    assert result.receipt["notes"] == []


@pytest.mark.parametrize("name", ["mlc_trace", "mlc_device"])
def test_a_users_own_line_magic_never_gets_our_hidden_word(users, name):
    assert users.run(REGISTER.format(kind="line", name=name)).status == "ok"
    assert "--this-cell" not in users.run(f"%%{name} --none-such\nprint('ran')").text
    assert users.run(f"%{name} save").text == "mine: 'save' None\n"


def test_a_users_magic_that_calls_ours_has_the_cell_run_once(users):
    assert users.run(REGISTER.format(kind="cell", name="mlc_trace")).status == "ok"
    assert users.run("def mine(line, cell): old(line, cell)").status == "ok"
    assert users.run('get_ipython().register_magic_function(mine, "cell", "mlc_trace")').status == "ok"
    assert users.run("%%mlc_trace\nprint('ran')").text == "ran\n"


def test_unloading_leaves_a_users_own_magic_where_it_is(start_kernel):
    notebook = start_kernel()
    assert notebook.run(REGISTER.format(kind="cell", name="mlc_race")).status == "ok"
    assert notebook.run("%unload_ext jupyter_mlgpu").status == "ok"
    assert notebook.run("%%mlc_race\nx").text == "mine: '' 'x\\n'\n"


def test_a_users_own_magic_that_was_there_before_us_comes_back_when_we_are_unloaded(start_kernel):
    notebook = start_kernel(extension=False)
    assert notebook.run(REGISTER.format(kind="cell", name="mlc_race")).status == "ok"
    assert notebook.run("%load_ext jupyter_mlgpu").status == "ok"
    assert "mine" not in notebook.run("%%mlc_race\nx").text
    assert notebook.run("%unload_ext jupyter_mlgpu").status == "ok"
    assert notebook.run("%%mlc_race\nx").text == "mine: '' 'x\\n'\n"
