"""Who hears of us: whoever has asked, and nobody before."""

from types import SimpleNamespace

import pytest

from jupyter_mlgpu.jupyter.notebook.browser.audience import SETTING, Audience
from jupyter_mlgpu.jupyter.notebook.cell.cell_code import addresses_package

REQUEST = {"header": {"msg_id": "1"}, "content": {}}


def shell(**more):
    return SimpleNamespace(kernel=object(), **more)


def begin(audience, code):
    audience.cell_begins(SimpleNamespace(raw_cell=code))


def end(audience, *, store_history):
    audience.cell_ended(SimpleNamespace(info=SimpleNamespace(store_history=store_history)))


def test_a_kernel_that_a_profile_has_loaded_us_into_has_not_asked():
    assert not Audience(shell(parent_header={}), {}).output_requested
    assert not Audience(shell(), {}).output_requested


def test_a_cell_that_loads_us_has_asked():
    assert Audience(shell(parent_header=REQUEST), {}).output_requested


def test_a_setting_asks_for_every_kernel():
    assert Audience(shell(parent_header={}), {SETTING: "1"}).output_requested
    assert not Audience(shell(parent_header={}), {SETTING: ""}).output_requested


def test_in_a_terminal_the_cell_that_loads_us_has_asked_and_a_profile_has_not():
    of_a_profile, of_a_line_in_a_profile, of_a_cell = (Audience(SimpleNamespace(), {}) for _ in range(3))
    begin(of_a_profile, "x = 1")
    end(of_a_profile, store_history=True)
    assert not of_a_profile.output_requested
    end(of_a_line_in_a_profile, store_history=False)
    begin(of_a_line_in_a_profile, "x = 1")
    end(of_a_line_in_a_profile, store_history=True)
    assert not of_a_line_in_a_profile.output_requested
    end(of_a_cell, store_history=True)
    assert of_a_cell.output_requested


def test_a_cell_that_was_interrupted_so_that_it_has_no_result_says_nothing():
    audience = Audience(SimpleNamespace(), {})
    audience.cell_ended(None)
    assert not audience.output_requested


def test_a_page_of_ours_asks():
    audience = Audience(shell(parent_header={}), {})
    audience.ask()
    assert audience.output_requested


def test_a_cell_asks_that_loads_us_where_a_profile_has_done_it_before():
    audience = Audience(shell(parent_header={}), {})
    begin(audience, "x = 1")
    assert not audience.output_requested
    begin(audience, "import numpy\n%load_ext jupyter_mlgpu")
    assert audience.output_requested
    begin(audience, "x = 1")
    assert audience.output_requested


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
    assert addresses_package(code, lambda magic: True)


@pytest.mark.parametrize("code", ["", "x = 1", "# %load_ext jupyter_mlgpu", "%load_ext autoreload"])
def test_another_cell_does_not(code):
    assert not addresses_package(code, lambda magic: True)
