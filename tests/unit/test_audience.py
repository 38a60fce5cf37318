"""Who hears of us: whoever has asked, and nobody before."""

from types import SimpleNamespace

import pytest

from jupyter_mlgpu.notebook.audience import SETTING, Audience
from jupyter_mlgpu.notebook.cell_code import calls_us

REQUEST = {"header": {"msg_id": "1"}, "content": {}}


def shell(**more):
    return SimpleNamespace(kernel=object(), **more)


def begin(audience, code):
    audience.cell_begins(SimpleNamespace(raw_cell=code))


def test_a_kernel_that_a_profile_has_loaded_us_into_has_not_asked():
    assert not Audience(shell(parent_header={}), {}).asked
    assert not Audience(shell(), {}).asked


def test_a_cell_that_loads_us_has_asked():
    assert Audience(shell(parent_header=REQUEST), {}).asked


def test_a_setting_asks_for_every_kernel():
    assert Audience(shell(parent_header={}), {SETTING: "1"}).asked
    assert not Audience(shell(parent_header={}), {SETTING: ""}).asked


def test_a_terminal_has_asked_for_nobody_else_looks_at_it():
    assert Audience(SimpleNamespace(), {}).asked


def test_a_page_of_ours_asks():
    audience = Audience(shell(parent_header={}), {})
    audience.ask()
    assert audience.asked


def test_a_cell_asks_that_loads_us_where_a_profile_has_done_it_before():
    audience = Audience(shell(parent_header={}), {})
    begin(audience, "x = 1")
    assert not audience.asked
    begin(audience, "import numpy\n%load_ext jupyter_mlgpu")
    assert audience.asked
    begin(audience, "x = 1")
    assert audience.asked


@pytest.mark.parametrize(
    "code",
    [
        "%load_ext jupyter_mlgpu",
        "if True:\n    %load_ext  jupyter_mlgpu",
        "load_ext jupyter_mlgpu",
        "%reload_ext jupyter_mlgpu",
        "%mlc_trace on",
        "%%mlc_trace --ops\nx = 1",
    ],
)
def test_a_cell_with_a_magic_of_ours_calls_us(code):
    assert calls_us(code)


@pytest.mark.parametrize("code", ["", "x = 1", "# %load_ext jupyter_mlgpu", "%load_ext autoreload"])
def test_another_cell_does_not(code):
    assert not calls_us(code)
