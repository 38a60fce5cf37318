"""The documentation builds without a warning, and has all that there is to be documented."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import docs_reference
import docs_site
import pytest
from tracked import tracked

import jupyter_mlgpu
from constraints import ROOT
from jupyter_mlgpu import bench
from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.graphs import mlcompute
from jupyter_mlgpu.jupyter import cli
from jupyter_mlgpu.jupyter.notebook.magics.magics import MlgpuMagics
from jupyter_mlgpu.teach import lessons
from jupyter_mlgpu.teach.lessons import shipped

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Whichever test comes first waits for the whole site.
pytestmark = [pytest.mark.needs("sphinx", "myst_nb", "furo"), pytest.mark.timeout(1200)]

PACKAGE = ROOT / "jupyter_mlgpu"
LANGUAGES = {"en": "", "zh": "zh/"}
each_language = pytest.mark.parametrize("language", LANGUAGES)


class Site:
    """A site that was built: `status` as `make docs` ends."""

    def __init__(self, folder: Path) -> None:
        self.status = docs_site.build(docs_site.sources(), folder)
        self.html = folder / "html"

    def read(self, page: str) -> str:
        return (self.html / page).read_text(encoding="utf-8")

    def places(self, page: str) -> set[str]:
        """What addresses can lead to on a page."""
        return docs_site.Page(self.read(page)).places

    def text(self, page: str) -> str:
        """What a page says, with single blanks."""
        return Text(self.read(page)).said


class Text(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self.feed(page)
        self.said = " ".join("".join(self._parts).split())

    def handle_data(self, data: str) -> None:
        self._parts.append(data)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(tmp_path_factory.mktemp("docs"))


def test_the_site_builds_without_a_warning_and_every_link_leads_somewhere(site: Site):
    assert site.status == 0


def test_every_public_name_of_the_package_is_described(site: Site):
    described = site.places("reference/package.html") | site.places("reference/bench.html")
    names = set(jupyter_mlgpu.__all__) - {"__version__", "bench"}
    assert {f"jupyter_mlgpu.{name}" for name in names} <= described
    assert f"jupyter_mlgpu.bench.{bench.bench.__name__}" in described


def test_every_name_that_lessons_import_is_described(site: Site):
    described = site.places("reference/lessons.html")
    modules = {"data", "text"}
    assert {f"jupyter_mlgpu.lessons.{name}" for name in set(lessons.__all__) - modules} <= described
    assert {f"module-jupyter_mlgpu.lessons.{name}" for name in modules} <= described


def test_every_layer_and_graph_of_mlcompute_is_described(site: Site):
    described = site.places("reference/mlcompute.html")
    layers = {name for name in vars(mlcompute) if name.endswith(("_layer", "_optimizer", "_graph"))}
    assert len(layers) > 30
    for name in layers | {"tensor", "device", "graph", "explain"}:
        assert f"jupyter_mlgpu.mlcompute.{name}" in described


def test_every_error_is_described(site: Site):
    source = (PACKAGE / "record" / "errors.py").read_text(encoding="utf-8")
    names = re.findall(r"^class (\w+)", source, re.MULTILINE)
    assert {f"jupyter_mlgpu.record.errors.{name}" for name in names} <= site.places("reference/errors.html")


def test_every_magic_stands_there_with_every_line_of_its_help(site: Site):
    text = site.text("reference/magics.html")
    magics = {*MlgpuMagics.magics["line"], *MlgpuMagics.magics["cell"]}
    assert "mlc_trace" in magics
    for name in magics:
        assert docs_reference.magic_anchor(name) in site.places("reference/magics.html")
        for line in (getattr(MlgpuMagics, name).__doc__ or "").splitlines():
            if line.lstrip().startswith("%"):
                assert " ".join(line.split()) in text


def test_every_command_stands_there_with_every_word_that_may_follow(site: Site):
    text = site.text("reference/commands.html")
    for name in cli.COMMANDS:
        assert f"command-{name}" in site.places("reference/commands.html")
        assert all(option in text for option in options(cli.command_parser(name)))


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from options(below)


def test_every_field_of_a_record_and_every_setting_stands_there(site: Site):
    schema = json.loads((PACKAGE / "record" / "record.schema.json").read_text(encoding="utf-8"))
    text = site.text("reference/record.html").partition("The schema")[0]
    assert all(name in text for name in schema["properties"])
    assert "readings[].why_missing" in text
    settings = json.loads((ROOT / "labextension/schema/sidebar.json").read_text(encoding="utf-8"))
    text = site.text("reference/settings.html")
    assert all(name in text for name in settings["properties"])
    assert all(" ".join(key["keys"]) in text for key in settings["jupyter.lab.shortcuts"])


@each_language
def test_every_log_message_is_explained(site: Site, language: str):
    files = sorted((PACKAGE / "explain" / "logs" / "messages").glob("*/*.toml"))
    assert len(files) > 1_000
    known = Catalogue.load().definitions
    for family in {path.parent.name for path in files}:
        page = f"{LANGUAGES[language]}troubleshooting/messages-{family}.html"
        places, text = site.places(page), site.text(page)
        for path in files:
            if path.parent.name == family:
                prefix = "log-" if language == "en" else "log-zh-"
                assert prefix + path.stem in places
                meaning = known[path.stem].tables[language]["meaning"]
                if not re.search(r"[{`]", meaning):
                    assert " ".join(meaning.split()) in text


@each_language
def test_every_check_of_the_doctor_is_explained(site: Site, language: str):
    names = {path.stem for path in (PACKAGE / "explain" / "doctor" / "checks").glob("[a-z]*.py")}
    prefix = "check-" if language == "en" else "check-zh-"
    places = site.places(f"{LANGUAGES[language]}troubleshooting/doctor.html")
    assert len(names) > 25
    assert {prefix + name.replace("_", "-") for name in names} <= places


@each_language
def test_every_lesson_is_there_with_its_receipts_as_they_were_saved(site: Site, language: str):
    lessons = [Path(LANGUAGES[language]) / path.name for path in tracked(ROOT / "notebooks", "*.ipynb")]
    assert len(lessons) >= 15
    for path in lessons:
        cells = json.loads(shipped.content(path))["cells"]
        saved = [
            output
            for cell in cells
            for output in cell.get("outputs", ())
            if "application/vnd.jupyter-mlgpu.record+json" in output.get("data", {})
        ]
        page = site.read(f"{LANGUAGES[language]}lessons/{path.stem}.html")
        assert page.count('<div class="receipt"') == len(saved)
        for output in saved:
            text = output["data"].get("text/html", output["data"]["text/plain"])
            assert "".join(text) in page


def test_a_chinese_page_says_that_it_is_chinese(site: Site):
    assert '<html class="no-js" lang="zh-CN"' in site.read("zh/tutorial.html")
    assert '<html class="no-js" lang="en"' in site.read("tutorial.html")


def test_the_site_loads_nothing_from_elsewhere(site: Site):
    loading = re.compile(r"<(?:script|img|iframe|link rel=\"stylesheet\")[^>]+(?:src|href)=\"(?:https?:)?//")
    pages = sorted(site.html.rglob("*.html"))
    assert [str(page) for page in pages if loading.search(page.read_text(encoding="utf-8"))] == []


@pytest.fixture(scope="session")
def page(site: Site) -> Iterator[Page]:
    """A page of Chromium, which may open files of the site."""
    from playwright.sync_api import sync_playwright

    from tests.support import browser

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser.on_path())
        yield chromium.new_page()
        chromium.close()


def found_by(page: Page, site: Site, words: str) -> list[str]:
    """The pages that the site's search finds, in its order, each once."""
    page.goto(f"{(site.html / 'search.html').as_uri()}?q={words}")
    page.locator("#search-results .search-summary").filter(has_text="Search finished").wait_for()
    links = page.locator("#search-results li > a").evaluate_all(
        "links => links.map((link) => link.getAttribute('href'))"
    )
    return list(dict.fromkeys(link.partition("#")[0] for link in links))


_FOR_CONTRIBUTORS = "adr/|measurements/|changelog|contributing|design"


@pytest.mark.needs("playwright")
@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("teacher", r"teacher"),
        ("grade", r"first-class|how-to/labs"),
        ("out of memory", r"how-to/memory|how-to/dead-kernel"),
        ("gpu not found", r"how-to/|troubleshooting/doctor"),
        ("receipt", r"tutorial"),
        ("slow", r"how-to/slow-cell"),
    ],
)
def test_the_search_gives_guides_first_then_other_pages_then_chinese_ones_and_decisions_last(
    page: Page, site: Site, words: str, first: str
):
    found = found_by(page, site, words)
    assert re.match(first, found[0])
    assert not [one for one in found[:5] if re.match("adr/|measurements/|zh/|.*messages-", one)]
    of_decisions = [one.startswith("adr/") for one in found]
    assert of_decisions == sorted(of_decisions)
    for_users = [one for one in found if not re.match(_FOR_CONTRIBUTORS, one)]
    chinese = [one.startswith("zh/") for one in for_users]
    assert chinese == sorted(chinese)


@pytest.mark.needs("playwright")
def test_who_searches_in_chinese_gets_chinese_pages(page: Page, site: Site):
    assert all(one.startswith("zh/") for one in found_by(page, site, "内存")[:5])


@pytest.mark.needs("playwright")
def test_code_can_be_copied_with_a_button(page: Page, site: Site):
    page.goto((site.html / "tutorial.html").as_uri())
    buttons = page.locator("button.copybtn")
    buttons.first.wait_for(state="attached")
    assert buttons.count() >= page.locator("div.highlight-python pre").count() > 0


def test_decisions_measurements_and_design_are_in_the_site(site: Site):
    for path in tracked(ROOT / "docs", "**/*.md"):
        page = path.relative_to(ROOT / "docs").with_suffix(".html")
        assert (site.html / page).is_file()


def texts() -> list[Path]:
    """What people read and type from, less what is a report of the past."""
    past = {"adr", "measurements", "design.md"}
    return [page for page in tracked(ROOT / "docs", "**/*.md") if not past & set(page.parts)]


@pytest.mark.parametrize("path", texts(), ids=lambda path: str(path.relative_to(ROOT / "docs")))
def test_what_a_page_says_to_type_is_understood(path: Path):
    text = path.read_text(encoding="utf-8")
    for line in re.findall(r"^ *(?:.*\| )?jupyter mlgpu (.*)$", text, re.MULTILINE):
        name, *words = shlex.split(line)
        cli.command_parser(name).parse_args(words)
    magics = {*MlgpuMagics.magics["line"], *MlgpuMagics.magics["cell"]}
    assert set(re.findall(r"%(mlc_\w+)", text)) <= magics
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^\.PHONY: ([a-z-]+)$", makefile, re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)) <= targets
