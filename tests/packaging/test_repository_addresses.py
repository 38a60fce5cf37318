"""The repository's address stands in one line, and everything that names it is made of that line."""

from __future__ import annotations

import json
import shutil
import subprocess
from email import message_from_string
from email.message import Message
from pathlib import Path

import addresses
import pytest
from addresses_in_metadata import absolute, urls

import jupyter_mlgpu
from constraints import ROOT

FORK = "https://git.example.net/ada/mlgpu"


def test_every_file_that_names_the_repository_is_as_make_addresses_writes_it() -> None:
    for name, text in addresses.texts().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: run `make addresses`"


def test_no_other_file_names_the_repository() -> None:
    found = subprocess.run(
        ["git", "grep", "--fixed-strings", "--files-with-matches", "--untracked", addresses.repository()],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert set(found.stdout.split()) == {"pyproject.toml", *addresses.texts()}
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").count(addresses.repository())
    assert lines == 1


def test_a_fork_changes_one_line(tmp_path: Path) -> None:
    for name in ("pyproject.toml", *addresses.texts()):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    project = tmp_path / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace(addresses.repository(), FORK), encoding="utf-8")
    for name, text in addresses.texts(tmp_path).items():
        assert FORK in text, name
        assert addresses.repository() not in text, name


def test_the_labextension_says_what_it_is_and_where_it_comes_from() -> None:
    package = json.loads((ROOT / addresses.PACKAGE).read_text(encoding="utf-8"))
    assert "jupyterlab-extension" in package["keywords"]
    assert package["author"]["name"]
    assert package["bugs"]["url"].startswith(package["homepage"])


def test_links_of_the_long_description_lead_into_the_version_s_files_and_others_stay() -> None:
    text = "![a](docs/a.png) [b](docs/b.md#c) [d](https://example.org/d) [e](#e) [f](mailto:f@example.org)"
    assert absolute(text, FORK, "1.2.3") == (
        f"![a]({FORK}/raw/v1.2.3/docs/a.png) [b]({FORK}/blob/v1.2.3/docs/b.md#c) "
        "[d](https://example.org/d) [e](#e) [f](mailto:f@example.org)"
    )


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
    assert told == urls(addresses.repository())
    assert {"Homepage", "Repository", "Issues", "Documentation", "Changelog"} <= told.keys()


def test_the_long_description_has_no_address_that_an_index_cannot_follow(metadata: Message) -> None:
    text = str(metadata.get_payload())
    assert "](docs/" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{addresses.repository()}/raw/v{jupyter_mlgpu.__version__}/docs/images/" in text
    assert text == absolute(text, FORK, "9.9.9")


@pytest.mark.parametrize(
    "classifier",
    [
        "Environment :: GPU",
        "Intended Audience :: Education",
        "Topic :: System :: Monitoring",
        "Natural Language :: Chinese (Simplified)",
        "Framework :: Jupyter :: JupyterLab :: Extensions :: Prebuilt",
    ],
)
def test_an_index_finds_it_where_people_look(metadata: Message, classifier: str) -> None:
    assert classifier in metadata.get_all("Classifier", [])


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("https://git.example.org/a/b", 1),
        ("https://example.com/b", 1),
        ("https://forge.invalid/b", 1),
        ("https://forge.example.org.uk/b", 0),
        ("https://codeberg.org/ada/mlgpu", 0),
    ],
)
def test_no_release_bears_an_address_of_nobody_s(
    monkeypatch: pytest.MonkeyPatch, address: str, status: int
) -> None:
    monkeypatch.setattr(addresses, "repository", lambda root=ROOT: address)
    assert addresses.main(["--published"]) == status


def test_the_release_looks_at_it() -> None:
    workflow = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert "scripts/addresses.py --published" in workflow
