"""Writes the repository's address, a line of pyproject.toml, where files name it; `make addresses` runs it.

What is built, such as the package's metadata, is made of that line itself (addresses_in_metadata.py).
--published says whether it is an address that a release may bear.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "labextension/package.json"
CITATION = "CITATION.cff"
RECIPE = "conda.recipe/recipe.yaml"
README = "README.md"
#: Names that belong to nobody (RFC 2606).
_NOBODYS = re.compile(r"^https://([\w.-]+\.)?(example\.(org|com|net)|[\w.-]+\.invalid)(/|$)")


def repository(root: Path = ROOT) -> str:
    """The address, as pyproject.toml has it."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    address: str = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    return address


def texts(root: Path = ROOT) -> dict[str, str]:
    """The files that name it, as they should be."""
    address = repository(root)
    package = json.loads((root / PACKAGE).read_text(encoding="utf-8"))
    package |= {
        "homepage": address,
        "bugs": {"url": f"{address}/issues"},
        "repository": {"type": "git", "url": f"{address}.git"},
    }
    return {
        PACKAGE: json.dumps(package, indent=2, ensure_ascii=False) + "\n",
        CITATION: _with_line(root / CITATION, "repository-code: ", address),
        RECIPE: _with_line(root / RECIPE, "  repository: ", address),
        README: _with_line(root / README, "    git clone ", f"{address}.git"),
    }


def _with_line(path: Path, start: str, rest: str) -> str:
    """The text of a file whose one line with this start goes on with `rest`."""
    text = path.read_text(encoding="utf-8")
    changed, count = re.subn(rf"^{start}.*$", f"{start}{rest}", text, flags=re.MULTILINE)
    if count != 1:
        raise ValueError(f"{path} has {count} lines that begin with `{start}`, and should have one.")
    return changed


def main(arguments: Sequence[str] | None = None) -> int:
    """Write them, or with --published only look; the exit status is 1 where a release may not bear it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--published", action="store_true", help="write nothing; 1 for an address of nobody's"
    )
    if parser.parse_args(arguments).published:
        if _NOBODYS.match(repository()):
            print(f"pyproject.toml names {repository()}, where nothing is published.", file=sys.stderr)
            return 1
        return 0
    for name, text in texts().items():
        (ROOT / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
