"""Rules that tell what library functions do, by the file in which they are defined.

A rule has the beginning of a path below `site-packages` or the standard library, and what all functions there
or those of some names do. Frameworks bring rules of their own in their description (`Framework.stack_rules`).
"""

from __future__ import annotations

import sysconfig
from collections.abc import Callable, Iterable, Mapping
from typing import get_args

from jupyter_mlgpu.measure.activity.activity import Doing

#: By the beginning of a path: what all of its functions do, or what functions do by name.
Rules = Mapping[str, Doing | Mapping[str, Doing]]

#: The most important first: a loader that waits for its workers prepares data.
ORDER: tuple[Doing, ...] = get_args(Doing)


def _each(doing: Doing, names: str) -> dict[str, Doing]:
    return dict.fromkeys(names.split(), doing)


RULES: Rules = {
    "<frozen importlib._bootstrap": "importing",
    # The user is measuring, or stands at a breakpoint.
    "bdb.py": "profiler",
    "pdb.py": "profiler",
    "cProfile.py": "profiler",
    "profile.py": "profiler",
    "trace.py": "profiler",
    "tracemalloc.py": "profiler",
    "debugpy/": "profiler",
    "pyinstrument/": "profiler",
    "viztracer/": "profiler",
    "line_profiler/": "profiler",
    "memory_profiler.py": "profiler",
    "scalene/": "profiler",
    # Functions in C that wait are called from one of these.
    "threading.py": _each("waiting", "wait wait_for join acquire _wait_for_tstate_lock"),
    "queue.py": _each("waiting", "get put join"),
    "selectors.py": _each("waiting", "select"),
    "subprocess.py": _each("waiting", "wait _wait _try_wait communicate _communicate"),
    "socket.py": "waiting",
    "ssl.py": _each("waiting", "read recv recv_into do_handshake"),
    "socketserver.py": _each("waiting", "serve_forever"),
    "multiprocessing/connection.py": "waiting",
    "multiprocessing/popen_fork.py": _each("waiting", "wait poll"),
    "multiprocessing/synchronize.py": "waiting",
    "concurrent/futures/_base.py": _each("waiting", "result exception wait as_completed"),
    "ipykernel/kernelbase.py": _each("waiting", "_input_request raw_input getpass"),
    # Preparing data. Functions that write, such as those that save a model, are not listed.
    "PIL/": "input",
    "cv2/": "input",
    "imageio/": "input",
    "librosa/": "input",
    "soundfile.py": "input",
    "pandas/io/": _each(
        "input",
        "read_csv read_table read_fwf read_json read_excel read_parquet read_feather read_orc read_hdf "
        "read_html read_xml read_sql read_sql_query read_sql_table read_pickle read_stata read_sas "
        "read_spss __next__ get_chunk parse",
    ),
    "pyarrow/": "input",
    "h5py/_hl/dataset.py": _each("input", "__getitem__ __array__ read_direct"),
    "datasets/": "input",
    "tokenizers/": "input",
    "transformers/tokenization": "input",
    "keras_hub/src/tokenizers/": "input",
    "numpy/lib/_npyio_impl.py": _each("input", "load loadtxt genfromtxt fromregex _read __getitem__"),
    "numpy/lib/format.py": _each("input", "read_array open_memmap"),
    "keras/src/trainers/data_adapters/": "input",
    "keras/src/trainers/epoch_iterator.py": "input",
    "keras/src/legacy/preprocessing/": "input",
    "keras/src/utils/image_utils.py": "input",
    "keras/src/utils/dataset_utils.py": "input",
    # A module in Python 3.11, a package since.
    "zipfile": _each("input", "read read1 readline readinto extract extractall"),
    "tarfile.py": _each("input", "next getmembers read readinto extract extractall extractfile"),
    "gzip.py": _each("input", "read read1 readline readinto decompress"),
    "csv.py": _each("input", "__next__"),
}

_ROOTS = ("/site-packages/", "/dist-packages/")
#: The longest first, since one may lie in the other.
_STANDARD = sorted(
    {f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib")}, key=len, reverse=True
)


def below_its_root(filename: str) -> str:
    """Return a file's path below the folder in which packages are installed, or the path if it is in none."""
    for root in _ROOTS:
        at = filename.rfind(root)
        if at >= 0:
            return filename[at + len(root) :]
    for root in _STANDARD:
        if filename.startswith(root):
            return filename[len(root) :]
    return filename


class Markers:
    """Looks up what a function does by its file and name, and caches the answer."""

    def __init__(self, rules: Callable[[], Iterable[Rules]]) -> None:
        self._rules = rules
        self._known: dict[tuple[str, str], Doing | None] = {}
        self._rule_count = 0

    def refresh(self) -> None:
        """Clear the cache if there are more rules now: a framework may have been imported since."""
        count = sum(map(len, self._rules()))
        if count != self._rule_count:
            self._rule_count = count
            self._known.clear()

    def doing(self, filename: str, function: str) -> Doing | None:
        """Return what a function does, None if unknown."""
        key = (filename, function)
        try:
            return self._known[key]
        except KeyError:
            found = self._known[key] = self._find(below_its_root(filename), function)
            return found

    def _find(self, path: str, function: str) -> Doing | None:
        found: list[Doing] = []
        for rules in self._rules():
            for start, what in rules.items():
                if path.startswith(start):
                    doing = what if isinstance(what, str) else what.get(function)
                    if doing is not None:
                        found.append(doing)
        return min(found, key=ORDER.index, default=None)
