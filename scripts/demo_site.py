"""Builds the demo, a JupyterLab of static files without a kernel; `make demo` runs it.

    python scripts/demo_site.py WHEEL [--out build/demo]

JupyterLite makes the page; our labextension comes from the wheel as it is. OUT/site holds demo/demo.ipynb
with its recorded cells, lessons as they were saved, and the same in Chinese. What our server has for
JupyterLab, the texts of a language and open receipts, lies there as files.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import demo_notebook

from constraints import ROOT
from jupyter_mlgpu.jupyter.server import messages, receipts
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE
from jupyter_mlgpu.teach.lessons.assembly import assembled

FOLDER = ROOT / "demo"
LESSONS = ("00_start_here", "04_how_fast_can_it_be", "17_feeding_the_gpu")
LANGUAGES = {"en": "", "zh": "zh/"}
#: The language of `LANGUAGES` for which the browser asks the server, by its name there.
CATALOGUES = ("zh_CN", "zh")
#: A Markdown link to a file.
_LINK = re.compile(r"(\]\()(?![a-z]+:|#|/)([^()\s#]+)")


def notebooks() -> dict[str, bytes]:
    """Return the notebooks of the demo, by their places."""
    found = {}
    for language, folder in LANGUAGES.items():
        found[f"{folder}demo.ipynb"] = demo_notebook.notebook(language)
        for lesson in LESSONS:
            found[f"{folder}{lesson}.ipynb"] = _linked(_lesson(lesson, language), language)
    return found


def _lesson(name: str, language: str) -> bytes:
    english = (ROOT / "notebooks" / f"{name}.ipynb").read_bytes()
    if language == "en":
        return english
    return assembled(english, ROOT / "notebooks" / language / f"{name}.po", language)


def _linked(notebook: bytes, language: str) -> bytes:
    """Return a lesson whose links to files that the demo lacks lead to the repository."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    repository = configuration["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    places = {f"{lesson}.ipynb" for lesson in LESSONS}
    folder = ROOT / "notebooks" / LANGUAGES[language]

    def turned(link: re.Match[str]) -> str:
        if link[2] in places:
            return link[0]
        target = (folder / link[2]).resolve()
        if not target.exists():  # a lesson in another language, of which the repository has the catalogue
            target = ROOT / "notebooks" / target.name
        return f"{link[1]}{repository}/blob/HEAD/{target.relative_to(ROOT).as_posix()}"

    data = json.loads(notebook)
    for cell in data["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = _LINK.sub(turned, "".join(cell["source"]))
    return json.dumps(data, ensure_ascii=False).encode()


def answers(found: Mapping[str, bytes]) -> dict[str, object]:
    """Return what our server answers about the receipts of these notebooks, by the places of its files.

    demo/extension reads them. The answer about a notebook is named after its newest receipt.
    """
    made: dict[str, object] = {}
    for notebook in map(json.loads, found.values()):
        records = [
            output["data"][MIME_TYPE]
            for cell in notebook["cells"]
            for output in cell.get("outputs", ())
            if MIME_TYPE in output.get("data", {})
        ]
        records.sort(key=lambda record: str(record["started_at"]))
        for record in records:
            made[f"receipt/{_name(record)}"] = receipts.receipt({"record": record})
        made[f"answer/{_name(records[-1])}"] = receipts.answer({"records": records})
    return made


def _name(record: Mapping[str, Any]) -> str:
    return f"{record['run']['id']}-{record['cell']['sequence']}.json"


def build(wheel: Path, out: Path) -> int:
    """Build the demo into `out`/site; returns the exit status of JupyterLite."""
    shutil.rmtree(out, ignore_errors=True)
    source, site = out / "source", out / "site"
    shutil.copytree(FOLDER, source, ignore=shutil.ignore_patterns("*.ipynb", "zh"))
    found = notebooks()
    for place, content in found.items():
        _write(source / "files" / place, content)
    extensions = {"federated_extensions": [str(wheel.resolve()), str(FOLDER / "extension")]}
    _write(source / "jupyter_lite_config.json", json.dumps({"LiteBuildConfig": extensions}).encode())
    command = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", ".", "--contents", "files"]
    command += ["--output-dir", str(site), "--apps", "lab", "--ignore-sys-prefix", "--no-sourcemaps"]
    command += ["--no-unused-shared-packages", "--no-libarchive"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
        return done.returncode
    _write(site / "index.html", (FOLDER / "index.html").read_bytes())
    for place, answer in answers(found).items():
        _write(site / "jupyter-mlgpu" / place, json.dumps(answer, ensure_ascii=False).encode())
    for language in CATALOGUES:
        _write(site / "jupyter-mlgpu" / "texts" / language, messages.texts(language).encode())
        _write(site / "jupyter-mlgpu" / "messages" / language, messages.messages(language).encode())
    return 0


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def size(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the demo; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("wheel", type=Path, help="the wheel of jupyter_mlgpu")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "demo", help="the folder to build in")
    asked = parser.parse_args(arguments)
    out = asked.out.resolve()
    begun = time.monotonic()
    status = build(asked.wheel, out)
    if status == 0:
        megabytes = size(out / "site") / 1e6
        print(f"    {megabytes:.1f} MB in {time.monotonic() - begun:.1f} s; to see it:")
        print(f"    python -m http.server --directory {out / 'site'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
