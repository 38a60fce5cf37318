"""No file of the project names a package index: which one is used is the user's own setting."""

from __future__ import annotations

import re
import subprocess

from constraints import ROOT

#: Written so that no pattern matches itself.
ADDRESSES = re.compile(
    r"pypi\.org/simple"
    r"|files\.pythonhosted\.org"
    r"|download\.pytorch\.org/whl"
    r"|registry\.(npmjs\.org|yarnpkg\.com)"
    r"|resolved \"?https?://"
    r"|__archiveUrl[=]"
    r"|npmRegistryServer[:]"
    r"|(index-url|find-links)[ =]+\S*://"
)


def test_no_file_names_the_address_of_a_package_index() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    assert ROOT / "pyproject.toml" in files
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in files
        if path.is_file()
        for match in ADDRESSES.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []
