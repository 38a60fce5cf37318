"""How Sphinx builds the site; `scripts/docs_site.py` puts its sources together and calls it."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu import __version__

project = "jupyter_mlgpu"
author = "jupyter_mlgpu contributors"
version = release = __version__
language = "en"

extensions = ["myst_nb"]
# What is typed stands as it is typed.
smartquotes = False
html_copy_source = False
html_show_sourcelink = False

# A lesson is shown as it was saved, with the receipts of the machine it ran on: nothing is run here.
nb_execution_mode = "off"
# Widgets would load scripts from elsewhere; no lesson has one.
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

html_theme = "furo"
html_title = f"jupyter_mlgpu {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
templates_path: list[str] = []


def setup(app: Any) -> None:
    """Pages below zh/ say that they are Chinese: browsers choose glyphs, and readers voices, by it."""
    app.connect("html-page-context", _tell_language)


def _tell_language(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    if page.startswith("zh/"):
        context["language"] = "zh-CN"
