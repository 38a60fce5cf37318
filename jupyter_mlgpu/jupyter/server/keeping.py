"""What a saved notebook keeps of its receipts: all, one line, or none.

Done by the server when a notebook is saved, and so for every page of it: the page goes on with what it has.
Only what this server saves is changed, and a notebook's own program that is asked for a copy gets all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from jupyter_mlgpu.jupyter.cli.strip import RECORD

#: As in labextension/schema/sidebar.json.
PLUGIN = "jupyter-mlgpu:sidebar"
SETTING = "savedReceipts"
ReceiptForm = Literal["full", "line", "none"]


def register(server_app: Any) -> None:
    """Have it done to each notebook that this server saves from now on."""

    def keep_receipts(model: dict[str, Any], **_: object) -> None:
        if model.get("type") == "notebook" and isinstance(model.get("content"), dict):
            shorten(model["content"], lambda: kept(server_app))

    server_app.contents_manager.register_pre_save_hook(keep_receipts)


def shorten(notebook: dict[str, Any], wanted: Callable[[], ReceiptForm]) -> None:
    """Leave of each receipt in a notebook what is wanted, which is asked for only where there is one."""
    found = [
        cell["outputs"]
        for cell in notebook.get("cells", ())
        if any(map(_is_receipt, cell.get("outputs", ())))
    ]
    what = wanted() if found else "full"
    if what == "full":
        return
    for outputs in found:
        outputs[:] = [_shortened(one) for one in outputs if what == "line" or not _is_receipt(one)]


def kept(server_app: Any) -> ReceiptForm:
    """What the user has set in JupyterLab, or Notebook 7; all where neither runs here."""
    from jupyterlab_server.settings_utils import get_settings

    for app in _applications(server_app):
        found, _ = get_settings(
            app.app_settings_dir,
            app.schemas_dir,
            app.user_settings_dir,
            schema_name=PLUGIN,
            labextensions_path=[*app.extra_labextensions_path, *app.labextensions_path],
        )
        default = found["schema"]["properties"][SETTING]["default"]  # which an administrator may have changed
        said = found["settings"].get(SETTING, default)
        return said if said in ("line", "none") else "full"
    return "full"


def _applications(server_app: Any) -> list[Any]:
    apps = server_app.extension_manager.extension_apps.values()
    return [app for group in apps for app in group if hasattr(app, "user_settings_dir")]


def _is_receipt(output: dict[str, Any]) -> bool:
    return RECORD in output.get("data", ())


def _shortened(output: dict[str, Any]) -> dict[str, Any]:
    if not _is_receipt(output):
        return output
    text = output["data"].get("text/plain", "")
    first = ("".join(text) if isinstance(text, list) else text).partition("\n")[0]
    return {**output, "data": {"text/plain": first}}
