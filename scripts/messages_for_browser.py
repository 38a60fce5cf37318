"""Writes the Chinese explanations of log messages for the browser; `make messages` runs it.

Records carry the English ones. A Chinese JupyterLab finds its own by the message's id in
labextension/src/messages.zh.json, which labextension/packmessages.mjs packs into a file that it loads only
then. The JSON is committed, and a test says when it is older than the catalogue.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "jupyter_mlgpu" / "logs" / "messages"
WRITTEN = ROOT / "labextension" / "src" / "messages.zh.json"


def messages() -> dict[str, dict[str, str]]:
    """Meaning and advice in Chinese by message id, with `{fields}` in their places."""
    found = {}
    for path in sorted(CATALOGUE.glob("*/*.toml"), key=lambda path: path.stem):
        texts = tomllib.loads(path.read_text(encoding="utf-8"))["zh"]
        found[path.stem] = {"meaning": texts["meaning"], "advice": texts["advice"]}
    return found


def written() -> str:
    """What the file should hold, laid out as prettier does."""
    return json.dumps(messages(), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    WRITTEN.write_text(written(), encoding="utf-8")
    print(f"    {len(messages())} messages in {WRITTEN.relative_to(ROOT)}")
