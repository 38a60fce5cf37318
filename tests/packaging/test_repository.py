"""Addresses: no file names a package index, and one line of pyproject.toml names the repository."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest
import yaml
from tracked import tracked

import jupyter_mlgpu
from constraints import ROOT
from hatch_build import absolute, urls

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REPOSITORY: str = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
FORK = "https://git.example.net/ada/mlgpu"
#: How often each file names the repository.
NAMED = {
    "pyproject.toml": 1,
    "CITATION.cff": 1,
    "README.md": 1,
    "conda.recipe/recipe.yaml": 1,
    "demo/demo.ipynb": 2,
    "demo/extension/static/remoteEntry.js": 1,
    "demo/zh/demo.po": 4,
    "labextension/package.json": 3,
}
#: Addresses of package indexes: which one is used is the user's own setting. No pattern matches itself.
INDEXES = re.compile(
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
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in tracked(ROOT, "**/*")
        for match in INDEXES.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


def test_the_files_that_name_the_repository_name_the_one_of_pyproject() -> None:
    found = subprocess.run(
        ["git", "grep", "--fixed-strings", "--count", "--untracked", REPOSITORY],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    counts = dict(line.split(":") for line in found.stdout.splitlines())
    assert {name: int(count) for name, count in counts.items()} == NAMED, "run `make addresses`"


def test_a_fork_changes_one_line_and_runs_make_addresses(tmp_path: Path) -> None:
    for name in NAMED:
        text = (ROOT / name).read_text(encoding="utf-8")
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.replace(REPOSITORY, FORK) if name == "pyproject.toml" else text)
    for words in (
        ["git", "init", "-q"],
        ["git", "add", "."],
        ["make", "-sf", str(ROOT / "Makefile"), "addresses"],
    ):
        subprocess.run(words, cwd=tmp_path, check=True)
    for name, count in NAMED.items():
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert (text.count(FORK), REPOSITORY in text) == (count, False), name


@pytest.fixture(scope="module")
def metadata(tmp_path_factory: pytest.TempPathFactory) -> Message:
    """What an index is told of the package."""
    from hatchling.build import prepare_metadata_for_build_wheel

    folder = tmp_path_factory.mktemp("metadata")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        name = prepare_metadata_for_build_wheel(str(folder))
    return message_from_string((folder / name / "METADATA").read_text(encoding="utf-8"))


def test_an_index_is_told_where_everything_is(metadata: Message) -> None:
    told = dict(line.split(", ", 1) for line in metadata.get_all("Project-URL", []))
    assert told == urls(REPOSITORY)


def test_links_of_the_long_description_lead_into_the_version_s_files_and_others_stay(
    metadata: Message,
) -> None:
    text = "![a](docs/a.png) [b](docs/b.md#c) [d](https://example.org/d) [e](#e) [f](mailto:f@example.org)"
    assert absolute(text, FORK, "1.2.3") == (
        f"![a]({FORK}/raw/v1.2.3/docs/a.png) [b]({FORK}/blob/v1.2.3/docs/b.md#c) "
        "[d](https://example.org/d) [e](#e) [f](mailto:f@example.org)"
    )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert metadata.get_payload() == absolute(readme, REPOSITORY, jupyter_mlgpu.__version__)


@pytest.mark.parametrize(
    ("address", "refused"),
    [
        ("https://git.example.org/a/b", True),
        ("https://example.com/b", True),
        ("https://forge.invalid/b", True),
        ("https://forge.example.org.uk/b", False),
        ("https://codeberg.org/ada/mlgpu", False),
    ],
)
def test_no_release_bears_an_address_of_nobody_s(tmp_path: Path, address: str, refused: bool) -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
    (check,) = [one["run"] for one in workflow["jobs"]["build"]["steps"] if "pyproject" in one.get("run", "")]
    (tmp_path / "pyproject.toml").write_text(f'repository = "{address}"\n')
    # As GitHub runs it.
    done = subprocess.run(["bash", "-e", "-c", check], cwd=tmp_path, capture_output=True)
    assert (done.returncode != 0) == refused


def test_every_file_that_the_readme_and_the_documentation_show_or_link_to_is_there() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *tracked(ROOT / "docs", "**/*.md")]
    linked = [
        (page, address.partition("#")[0])
        for page in pages
        for address in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
        # Pages of the reference and of troubleshooting are made, and looked at by `make docs`.
        if not re.match(r"[a-z]+:|#", address)
        and not re.search(r"(reference|troubleshooting)/[\w-]+\.md", address)
    ]
    assert len(linked) > 100
    assert [f"{page.name}: {path}" for page, path in linked if not (page.parent / path).exists()] == []


def test_forms_and_settings_of_the_repository_can_be_read() -> None:
    for form in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        data = yaml.safe_load(form.read_text(encoding="utf-8"))
        assert form.name == "config.yml" or {"name", "description", "body"} <= data.keys()
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["license"] == "BSD-3-Clause"
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert all(shlex.split(hook["entry"]) for repo in hooks for hook in repo["hooks"])
