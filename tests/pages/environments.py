"""Makes the environments of pages.toml: pip installs the wheel with extras, as the pages say.

python -m tests.pages.environments               prints the names of those that the pages need
python -m tests.pages.environments FOLDER WHEEL  installs into the environment that lies in FOLDER
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.pages.plan import ROOT, Plan, load

#: Exact versions of what the extras ask for. They have no hashes: the wheel has none that is known before.
VERSIONS = (ROOT / "constraints/extras.txt", ROOT / "constraints/torch.txt")


def names(plan: Plan) -> list[str]:
    """Return the environments that a page needs."""
    needed = {page.environment for page in plan.pages.values()}
    return [name for name in plan.environments if name in needed]


def requirements(plan: Plan, name: str, wheel: Path) -> list[str]:
    """Return what pip installs, with this wheel as the package."""
    return [one.replace("jupyter_mlgpu", str(wheel)) for one in plan.environments[name]]


def main(arguments: Sequence[str]) -> int:
    """Print the names, or install one; returns pip's status."""
    plan = load()
    if not arguments:
        print(*names(plan))
        return 0
    folder, wheels = map(Path, arguments)
    (wheel,) = wheels.absolute().glob("*.whl")
    pip = [
        str(folder / "bin/python"),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--progress-bar",
        "off",
        "--no-compile",
    ]
    versions = [word for file in VERSIONS for word in ("--constraint", str(file))]
    return subprocess.call(
        [*pip, "--only-binary", ":all:", *versions, *requirements(plan, folder.name, wheel)]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
