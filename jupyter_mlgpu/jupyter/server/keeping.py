"""Shortens the receipts in a notebook when the server saves it: all, one line, or none is kept.

The saved file changes for every page of the notebook, but open pages keep their receipts. Only notebooks
saved by this server are changed; a program that asks a page for a copy gets all.
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
    """Shorten receipts in each notebook that this server saves from now on."""

    def keep_receipts(model: dict[str, Any], **_: object) -> None:
        if model.get("type") == "notebook" and isinstance(model.get("content"), dict):
            shorten(model["content"], lambda: chosen_form(server_app))

    server_app.contents_manager.register_pre_save_hook(keep_receipts)


def shorten(notebook: dict[str, Any], wanted: Callable[[], ReceiptForm]) -> None:
    """Shorten or remove each receipt in a notebook; `wanted` is called only if there is a receipt."""
    outputs_with_receipts = [
        cell["outputs"]
        for cell in notebook.get("cells", ())
        if any(map(_is_receipt, cell.get("outputs", ())))
    ]
    form = wanted() if outputs_with_receipts else "full"
    if form == "full":
        return
    for outputs in outputs_with_receipts:
        outputs[:] = [_shortened(one) for one in outputs if form == "line" or not _is_receipt(one)]


def chosen_form(server_app: Any) -> ReceiptForm:
    """Return the user's setting in JupyterLab or Notebook 7; "full" if neither runs here."""
    from jupyterlab_server.settings_utils import get_settings

    for app in _applications(server_app):
        settings, _ = get_settings(
            app.app_settings_dir,
            app.schemas_dir,
            app.user_settings_dir,
            schema_name=PLUGIN,
            labextensions_path=[*app.extra_labextensions_path, *app.labextensions_path],
        )
        default = settings["schema"]["properties"][SETTING]["default"]  # an administrator may change it
        chosen = settings["settings"].get(SETTING, default)
        return chosen if chosen in ("line", "none") else "full"
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
