"""What the server leaves of a receipt in the notebooks that it saves."""

import copy
import json
from types import SimpleNamespace

import pytest

from jupyter_mlgpu.jupyter.cli.strip import strip_text
from jupyter_mlgpu.jupyter.server import keeping
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record
from tests.jupyter.test_cli_strip import PRINTED, RECEIPT, SHOWN, as_jupyter_writes, notebook

ONE_LINE = {
    "output_type": "display_data",
    "data": {"text/plain": "[mlgpu] 500 ms · ran on cpu:0 · peak memory 512 MiB"},
    "metadata": {},
}


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [("full", [PRINTED, RECEIPT, SHOWN]), ("line", [PRINTED, ONE_LINE, SHOWN]), ("none", [PRINTED, SHOWN])],
)
def test_all_of_it_one_line_or_nothing(wanted, kept):
    saved = notebook(copy.deepcopy([PRINTED, RECEIPT, SHOWN]))
    keeping.shorten(saved, lambda: wanted)
    assert saved == notebook(kept)


def test_of_several_lines_the_first_stays_also_where_the_file_had_them_apart():
    text = bundle(example_record())["text/plain"]
    receipt = {**RECEIPT, "data": {**RECEIPT["data"], "text/plain": [f"{text}\n", "        More."]}}
    saved = notebook([receipt])
    keeping.shorten(saved, lambda: "line")
    assert saved == notebook([ONE_LINE])


def test_the_one_line_is_stripped_as_a_receipt_is():
    assert strip_text(as_jupyter_writes(notebook([ONE_LINE, PRINTED]))) == (
        as_jupyter_writes(notebook([PRINTED])),
        1,
    )


def test_a_notebook_without_receipts_asks_for_no_setting():
    saved = notebook([PRINTED])
    keeping.shorten(saved, lambda: pytest.fail("asked"))
    assert saved == notebook([PRINTED])


@pytest.fixture
def folders(tmp_path):
    """JupyterLab's folders with our settings' description, as it is installed, and an empty one of a user."""
    app = SimpleNamespace(
        app_settings_dir=str(tmp_path / "app"),
        schemas_dir=str(tmp_path / "schemas"),
        user_settings_dir=str(tmp_path / "user"),
        extra_labextensions_path=[],
        labextensions_path=[],
    )
    schema = {"type": "object", "properties": {keeping.SETTING: {"type": "string", "default": "full"}}}
    for folder, name, data in [("schemas", "sidebar.json", schema), ("app", "overrides.json", {})]:
        path = tmp_path / folder / ("jupyter-mlgpu" if folder == "schemas" else "") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data))
    (tmp_path / "user" / "jupyter-mlgpu").mkdir(parents=True)
    return tmp_path, SimpleNamespace(extension_manager=SimpleNamespace(extension_apps={"lab": {Hashed(app)}}))


class Hashed(SimpleNamespace):
    """JupyterLab's application, which its server keeps in a set."""

    def __init__(self, app):
        super().__init__(**vars(app))

    __hash__ = object.__hash__


def test_the_setting_is_the_users_else_the_administrators_else_all(folders):
    folder, server_app = folders
    assert keeping.chosen_form(server_app) == "full"
    (folder / "app" / "overrides.json").write_text(json.dumps({keeping.PLUGIN: {keeping.SETTING: "line"}}))
    assert keeping.chosen_form(server_app) == "line"
    setting = folder / "user" / "jupyter-mlgpu" / "sidebar.jupyterlab-settings"
    setting.write_text(f'// as JupyterLab writes it\n{{"{keeping.SETTING}": "none"}}')
    assert keeping.chosen_form(server_app) == "none"


def test_without_jupyterlab_all_is_kept():
    assert (
        keeping.chosen_form(SimpleNamespace(extension_manager=SimpleNamespace(extension_apps={}))) == "full"
    )
