"""Write down the names in the metadata of pyobjc-framework-MLCompute: enumerations, classes, selectors.

    python -m pip download --no-deps --only-binary :all: --platform macosx_11_0_universal2 \
        pyobjc-framework-MLCompute==12.2.2
    python scripts/ml_compute_names.py pyobjc_framework_mlcompute-12.2.2-py2.py3-none-any.whl

The table, tests/data/mlcompute_names.json, is what tests hold our names against. The wheel is read as data:
it can be imported on a Mac alone. Selectors stand as pyobjc spells them, `_` for `:`.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent.parent / "tests" / "data" / "mlcompute_names.json"


def names(metadata: str) -> dict[str, Any]:
    """What the wheel's MLCompute/_metadata.py tells: values by name, selectors by class."""
    tree = ast.parse(metadata)
    values: dict[str, int] = {}
    selectors: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "enums":
            pairs = re.findall(r"(\w+)@(-?\d+)", ast.literal_eval(node.value))
            values = {name: int(number) for name, number in pairs}
        if isinstance(node, ast.Call) and (found := _selector(node)):
            selectors.setdefault(found[0], set()).add(found[1])
    return {
        "values": dict(sorted(values.items())),
        "selectors": {kind: sorted(own) for kind, own in sorted(selectors.items())},
    }


def _selector(call: ast.Call) -> tuple[str, str] | None:
    """Of `r(class, selector, {...})` and `registerNewKeywords(class, keywords, selector)`: class and
    selector.
    """
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if name == "r":
        kind, selector = (ast.literal_eval(one).decode() for one in call.args[:2])
        return kind, selector.replace(":", "_")
    if name == "registerNewKeywords":
        return ast.literal_eval(call.args[0]), ast.literal_eval(call.args[2])
    return None


def main() -> None:
    """Write the table from the wheel that is named."""
    if len(sys.argv) != 2:
        sys.exit((__doc__ or "").strip())
    wheel = Path(sys.argv[1])
    with zipfile.ZipFile(wheel) as archive:
        found = names(archive.read("MLCompute/_metadata.py").decode())
    found = {"origin": f"MLCompute/_metadata.py of {wheel.name}, by scripts/ml_compute_names.py"} | found
    TABLE.write_text(json.dumps(found, indent=1) + "\n")
    count = sum(map(len, found["selectors"].values()))
    print(
        f"{TABLE.name}: {len(found['values'])} values, {count} selectors on {len(found['selectors'])} classes"
    )


if __name__ == "__main__":
    main()
