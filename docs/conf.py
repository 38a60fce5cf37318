"""How Sphinx builds the site; `scripts/docs_site.py` puts its sources together and calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_mlgpu import __version__

project = "jupyter_mlgpu"
author = "jupyter_mlgpu contributors"
version = release = __version__
language = "en"

extensions = ["myst_nb", "sphinx_copybutton"]
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
html_search_scorer = str(Path(__file__).parent / "_search" / "scorer.js")
templates_path: list[str] = []

# A button on what is typed: not on outputs, log lines and help.
copybutton_selector = "div:not(.highlight-none, .highlight-text) > div.highlight > pre"
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True


def setup(app: Any) -> None:
    """Add what Sphinx's options do not: a page's language, and its text as Markdown."""
    app.connect("html-page-context", _tell_language)
    app.connect("html-page-context", _link_to_markdown)


def _tell_language(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Pages below zh/ say that they are Chinese: browsers choose glyphs, and readers voices, by it."""
    if page.startswith("zh/"):
        context["language"] = "zh-CN"


def _link_to_markdown(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Each page of the reference links to itself as Markdown, which `scripts/docs_site.py` puts beside it."""
    if page.startswith("reference/") and "body" in context:
        name = page.removeprefix("reference/")
        context["body"] += f'<p class="as-markdown"><a href="{name}.md">This page as Markdown</a></p>'
