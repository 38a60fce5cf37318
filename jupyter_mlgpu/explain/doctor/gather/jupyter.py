"""Reads the state of JupyterLab and of our front end and server extension in it.

Lab extensions are folders with a package.json in `labextensions/` of Jupyter's data path;
`disabledExtensions` is in `labconfig/page_config.json` of its configuration path, server extensions in
jupyter_server_config.json and jupyter_server_config.d/*.json there (`ServerApp.jpserver_extensions`); see
JupyterLab's documentation, "Extensions".
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jupyter_mlgpu._version import __version__
from jupyter_mlgpu.explain.doctor.facts import Jupyter
from jupyter_mlgpu.explain.doctor.gather.tools import fact, table_of, version_of

_OURS = "jupyter-mlgpu"
_SERVER = "jupyter_mlgpu.serverextension"


def read() -> Jupyter:
    """Return the facts about the Jupyter of this environment."""
    return Jupyter(
        lab=fact(lambda: version_of("jupyterlab")),
        package=__version__,
        labextension=fact(_labextension),
        disabled=fact(disabled),
        server_extension=fact(server_extension),
    )


def _labextension() -> str | None:
    from jupyter_core.paths import jupyter_path

    for folder in map(Path, jupyter_path("labextensions")):
        version = table_of(folder / _OURS / "package.json").get("version")
        if isinstance(version, str):
            return version
    return None


def disabled() -> tuple[str, ...]:
    """Return the names of disabled lab extensions; the folder that comes first in the path decides."""
    found: dict[str, bool] = {}
    for folder in reversed(_configuration()):
        extensions = table_of(folder / "labconfig/page_config.json").get("disabledExtensions", {})
        found |= extensions if isinstance(extensions, dict) else dict.fromkeys(map(str, extensions), True)
    return tuple(sorted(name for name, off in found.items() if off))


def server_extension() -> bool:
    """Return True if our server extension is enabled; the folder that comes first in the path decides."""
    enabled = False
    for folder in reversed(_configuration()):
        for file in _server_files(folder):
            listed = table_of(file).get("ServerApp", {}).get("jpserver_extensions", {})
            enabled = bool(listed.get(_SERVER, enabled))
    return enabled


def _server_files(folder: Path) -> Iterator[Path]:
    yield from sorted((folder / "jupyter_server_config.d").glob("*.json"))
    yield folder / "jupyter_server_config.json"


def _configuration() -> list[Path]:
    from jupyter_core.paths import jupyter_config_path

    return [Path(one) for one in jupyter_config_path()]
