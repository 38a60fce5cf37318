"""The demo's notebooks: all that was recorded says so, in both languages, and links lead somewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import demo_site
import pytest

from constraints import ROOT
from jupyter_mlgpu.show.page import view
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE

LANGUAGES = ("", "zh/")


@pytest.fixture(scope="module")
def notebooks() -> dict[str, dict[str, Any]]:
    return {place: json.loads(content) for place, content in demo_site.notebooks().items()}


def data_of(notebook: dict[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    """The data of a kind in a notebook's outputs."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if kind in output.get("data", {}):
                yield output["data"]


@pytest.mark.parametrize("folder", LANGUAGES)
def test_every_receipt_of_the_first_notebook_is_replayed_from_a_gpu_and_has_a_timeline(
    notebooks: dict[str, dict[str, Any]], folder: str
) -> None:
    records = [data[MIME_TYPE] for data in data_of(notebooks[f"{folder}demo.ipynb"], MIME_TYPE)]
    assert records
    assert {record["origin"] for record in records} == {"replayed"}
    assert all(record["gpu_work"][0]["lane"] for record in records)
    assert all("NVIDIA H200" in json.dumps(record["notes"]) for record in records)


def test_the_race_says_that_it_was_replayed_and_the_plan_that_nothing_was_run(
    notebooks: dict[str, dict[str, Any]],
) -> None:
    race, plan = data_of(notebooks["demo.ipynb"], view.MIME_TYPE)
    assert "Replayed from" in race["text/plain"]
    assert "NVIDIA H200" in race["text/plain"]
    assert "A forecast: nothing was run" in "".join(plan["text/plain"])


def test_each_notebook_has_its_chinese_twin_and_the_first_one_is_one_click_from_it(
    notebooks: dict[str, dict[str, Any]],
) -> None:
    english = {place for place in notebooks if "/" not in place}
    assert {place.removeprefix("zh/") for place in notebooks if place.startswith("zh/")} == english
    welcome = {
        folder: "".join(notebooks[f"{folder}demo.ipynb"]["cells"][0]["source"]) for folder in LANGUAGES
    }
    assert "(zh/demo.ipynb)" in welcome[""]
    assert "(../demo.ipynb)" in welcome["zh/"]


def test_links_lead_to_notebooks_of_the_demo_or_to_files_of_the_repository(
    notebooks: dict[str, dict[str, Any]],
) -> None:
    lost = []
    for place, notebook in notebooks.items():
        folder = "zh/" if place.startswith("zh/") else ""
        text = "\n".join(
            "".join(one["source"]) for one in notebook["cells"] if one["cell_type"] == "markdown"
        )
        for address in re.findall(r"\]\(([^)\s#]+)", text):
            in_repository = re.fullmatch(r"https://git\.[^/]+/[^/]+/[^/]+/blob/HEAD/(.+)", address)
            if in_repository:
                found = (ROOT / in_repository[1]).exists()
            else:
                known = f"{folder}{address}".replace("zh/../", "")
                found = address.startswith("https://") or known in notebooks
            if not found:
                lost.append(f"{place}: {address}")
    assert lost == []
