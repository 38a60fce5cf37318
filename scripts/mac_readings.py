"""Write down what a Mac's GPU and kernel report of this process, before and after work on the GPU.

    python scripts/mac_readings.py build/mac/readings

writes three files into the folder: `ioreg.txt` and `ioreg.plist`, the properties of the GPU's driver and of
its clients, and `readings.json`, what the package's readers make of them. What may name other processes is
left out. Nobody has run this on a Mac yet: what it writes there is to become test data (tests/data/ioreg).
"""

from __future__ import annotations

import json
import os
import plistlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jupyter_mlgpu.measure.gpu.mac_clients import ACCELERATOR, MacClients, creator
from jupyter_mlgpu.measure.probes.footprint import Footprint
from jupyter_mlgpu.measure.probes.mac_gpu import Gauges
from jupyter_mlgpu.record.redact import redact

_IOREG = ("/usr/sbin/ioreg", "-r", "-l", "-w", "0", "-c", ACCELERATOR)
#: Before the head of each entry, and a property in the text.
_HEAD = re.compile(r"^(?=[ |]*\+-o )", re.MULTILINE)
_PROPERTY = re.compile(r'^([ |]*"([^"]+)" = )(.*)$', re.MULTILINE)
#: What is kept of the client of another process, besides its class; other values may name what it is.
_KEPT = ("AppUsage", "accumulatedGPUTime", "CommandQueueCount")
_CREATOR, _CHILDREN = "IOUserClientCreator", "IORegistryEntryChildren"
_OTHER = "pid {pid}, other"
_MIB = 1024**2
#: Calls of a reader whose times are averaged.
_CALLS = 200


def redacted_text(text: str, pid: int) -> str:
    """Return the text of `ioreg` without what may name other processes than `pid`."""
    return "".join(_redacted_entry(entry, pid) for entry in _HEAD.split(text))


def _redacted_entry(entry: str, pid: int) -> str:
    values = {name: value for _, name, value in _PROPERTY.findall(entry)}
    text = values.get(_CREATOR)
    number = None if text is None else creator(text.strip('"'))

    def replaced(found: re.Match[str]) -> str:
        name = found[2]
        if text is None or number == pid or name in _KEPT:
            return redact(found[0])
        return f'{found[1]}"{_other(number) if name == _CREATOR else "left out"}"'

    return _PROPERTY.sub(replaced, entry)


def redacted_list(value: Any, pid: int) -> Any:
    """Return the property list of `ioreg -a` without what may name other processes than `pid`."""
    if isinstance(value, list):
        return [redacted_list(one, pid) for one in value]
    if not isinstance(value, dict):
        return redact(value) if isinstance(value, str) else value
    number = creator(value.get(_CREATOR))
    if _CREATOR in value and number != pid:
        kept = {name: one for name, one in value.items() if name in (*_KEPT, _CHILDREN, "IOObjectClass")}
        value = {**kept, _CREATOR: _other(number)}
    return {name: redacted_list(one, pid) for name, one in value.items()}


def _other(number: int | None) -> str:
    return _OTHER.format(pid="unknown" if number is None else number)


def main(folder: Path) -> None:
    """Write the files into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    readings: dict[str, Any] = {"before": dict(_readings())}
    held = [_attempt(work) for work in (_work_of_torch, _work_of_mlx)]
    readings["work"] = [one if isinstance(one, str) else "done" for one in held]
    readings["after"] = dict(_readings())
    (folder / "readings.json").write_text(json.dumps(readings, indent=1) + "\n", encoding="utf-8")
    text = subprocess.run(_IOREG, capture_output=True, text=True, timeout=60, check=True).stdout
    (folder / "ioreg.txt").write_text(redacted_text(text, os.getpid()), encoding="utf-8")
    data = subprocess.run([*_IOREG, "-a"], capture_output=True, timeout=60, check=True).stdout
    entries = plistlib.loads(data) if data else []
    (folder / "ioreg.plist").write_bytes(plistlib.dumps(redacted_list(entries, os.getpid())))
    print(json.dumps(readings, indent=1))


def _readings() -> Iterator[tuple[str, Any]]:
    """Yield what each reader reports, or its error, and the seconds that a call takes."""
    import psutil

    process, gauges, clients = psutil.Process(), Gauges(), MacClients()
    yield "resident set", _attempt(lambda: process.memory_info().rss)
    yield "footprint", _attempt(lambda: _timed(Footprint().read))
    yield "highest footprint", _attempt(lambda: _timed(Footprint().highest))
    for name in gauges.names():
        yield f"use of {name}", _attempt(lambda name=name: _timed(lambda: str(gauges.read(name))))  # type: ignore[misc]
    yield "clients", _attempt(lambda: _timed(lambda: [str(one) for one in clients.read(search=True)], 1))
    yield "clients again", _attempt(lambda: _timed(lambda: len(clients.read(search=False))))
    clients.close()


def _timed(call: Callable[[], Any], calls: int = _CALLS) -> dict[str, Any]:
    began = time.perf_counter()
    for _ in range(calls):
        value = call()
    return {"value": value, "seconds": (time.perf_counter() - began) / calls}


def _attempt(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # each failure is a finding, and must not hide the others
        return f"{type(error).__name__}: {redact(str(error))}"


def _work_of_torch() -> Any:
    """Multiply matrices on MPS, and return 256 MiB that stay there."""
    import torch

    x = torch.ones(64 * _MIB, device="mps")
    for _ in range(20):
        y = x[: 4 * _MIB].reshape(2048, 2048) @ x[: 4 * _MIB].reshape(2048, 2048)
    torch.mps.synchronize()
    return x, y


def _work_of_mlx() -> Any:
    """Multiply matrices with MLX, and return 256 MiB that stay there."""
    import mlx.core as mx

    x = mx.ones((64 * _MIB,))
    y = x[: 4 * _MIB].reshape(2048, 2048)
    for _ in range(20):
        y = (y @ y) / 2048
    mx.eval(x, y)
    return x, y


if __name__ == "__main__":
    main(Path(sys.argv[1]))
