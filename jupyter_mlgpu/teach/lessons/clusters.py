"""`engines`: ipyparallel engines on this machine for a lesson, which always end with the kernel."""

from __future__ import annotations

import importlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say, say_count

#: Seconds within which all engines have to connect.
_PATIENCE = 60

#: Each engine computes with one thread, like a separate machine. Otherwise one engine would use all cores,
#: and a second could not be faster. The libraries behind NumPy read these variables when they are loaded.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}


class Engines:
    """Engines started for a lesson.

    `client` is ipyparallel's client; `%%px` runs a cell in all engines.
    """

    def __init__(self, count: int) -> None:
        ipyparallel = _ipyparallel()
        #: Connection files and logs of the engines, apart from those of the user's own clusters.
        self._folder = tempfile.mkdtemp(prefix="jupyter_mlgpu_engines_")
        self._guardian = subprocess.Popen(
            [sys.executable, "-m", "jupyter_mlgpu.teach.lessons.guardian"],
            stdin=subprocess.PIPE,
            start_new_session=True,  # an interrupt of the notebook must not reach it
            text=True,
        )
        self._cluster = ipyparallel.Cluster(profile_dir=self._folder, log_level=logging.ERROR)
        try:
            self.client = self._start(count)
        except BaseException:
            self.stop()
            raise
        if sys.modules["IPython"].get_ipython() is not None:  # a notebook, not a script
            self._set_up_magics()

    def _start(self, count: int) -> Any:
        with _environment(ONE_THREAD):
            self._cluster.start_controller_sync()
            self._guard(self._cluster.controller.process.pid)
            self._cluster.start_engines_sync(count)
            for one in self._cluster.engine_set.launchers.values():
                self._guard(one.process.pid)
        client = self._cluster.connect_client_sync()
        client.wait_for_engines(count, timeout=_PATIENCE, interactive=False)
        return client

    def _set_up_magics(self) -> None:
        magics = importlib.import_module("ipyparallel.client.magics")
        magics.ParallelMagics.progress_after_seconds = -1  # a progress bar would be saved in the notebook
        view = self.client[:]
        view.block = True
        view.activate()

    def _guard(self, process: int) -> None:
        assert self._guardian.stdin is not None
        self._guardian.stdin.write(f"{process}\n")
        self._guardian.stdin.flush()

    def stop(self) -> None:
        """End all engines and wait for them; a second call does nothing."""
        if self._guardian.stdin is None or self._guardian.stdin.closed:
            return
        if hasattr(self, "client"):
            self.client.close()
        try:
            self._cluster.stop_cluster_sync()
        finally:
            self._guardian.stdin.close()
            self._guardian.wait()
            shutil.rmtree(self._folder, ignore_errors=True)

    def __repr__(self) -> str:
        if self._guardian.poll() is not None:
            return translate(say("The engines have ended."))
        numbers = ", ".join(map(str, self.client.ids))
        sentence = say_count(
            "{count} engine on this machine, number {numbers}",
            "{count} engines on this machine, numbers {numbers}",
            len(self.client.ids),
            numbers=numbers,
        )
        return translate(sentence)


def engines(count: int) -> Engines:
    """Start this many engines on this machine and wait until they are connected.

    Each engine computes with one thread. They end when `stop` is called, and otherwise when the kernel ends
    or is killed. Raises MissingPackageError if ipyparallel is not installed.
    """
    return Engines(count)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables for the processes started inside the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _ipyparallel() -> Any:
    require(say("A set of engines"), "lessons", "ipyparallel")
    return importlib.import_module("ipyparallel")
