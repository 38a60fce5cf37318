"""`%mlc_device status`: the memory in use now by process, without starting a framework."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.allocator import RESERVED
from jupyter_mlgpu.measure.frameworks.base import Backend, Device
from jupyter_mlgpu.measure.probes import memory as machine_memory
from jupyter_mlgpu.measure.probes.memory import Memory
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.measure.probes.process_memory import STATM, process_memory
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show.receipts import memory as rendering
from jupyter_mlgpu.show.receipts.memory import GpuUser, Row


def report(
    nvml: Nvml | None = None, backends: Sequence[Backend] | None = None, root: Path = Path("/")
) -> str:
    """Return the table: the machine, this process, each NVIDIA GPU's processes, each framework's allocator.

    `nvml` and `backends` default to this process's own. `root` is the file system that contains the
    container's limit.
    """
    gpus, gpu_sentences = _gpus(nvml or _nvml())
    allocators, allocator_sentences = _allocators(registry.loaded() if backends is None else backends)
    return rendering.table([*_machine(root), *gpus, *allocators], [*gpu_sentences, *allocator_sentences])


@cache
def _nvml() -> Nvml:
    return Nvml()


def _machine(root: Path) -> list[Row]:
    whole = machine_memory.machine()
    shared = say("unified: the GPU uses the same memory") if machine_memory.unified() else ""
    rows = [rendering.amounts(say("machine"), whole, shared)]
    limit = machine_memory.container(whole.total, root)
    if limit is not None:
        rows.append(
            rendering.amounts(
                say("container"), limit, say("its limit (control group); cached files count as used")
            )
        )
    own, source = process_memory()
    figure = say("resident set ({source})", source=source) if source == STATM else source
    rows.append(rendering.in_use(say("this process"), own, figure))
    return rows


def _gpus(nvml: Nvml) -> tuple[list[Row], list[Sentence]]:
    count = nvml.count()
    if count.value is None:
        # There has been no NVIDIA driver for Macs since macOS 10.14.
        why = say("NVIDIA GPUs are not known: {why}", why=count.why_missing or "")
        return [], [] if sys.platform == "darwin" else [why]
    listed = {index: nvml.processes(index) for index in range(count.value)}
    known = {process.pid for processes in listed.values() for process in processes.value or ()}
    ours = os.getpid() in known
    # In another PID namespace, an id may by chance be that of a different program here: no name is better.
    named = ours or machine_memory.sees_the_machines_processes()
    rows: list[Row] = []
    sentences: list[Sentence] = []
    for index, processes in listed.items():
        rows.append(_gpu(nvml, index))
        rows += [rendering.user(_user(one.pid, one.used, named)) for one in processes.value or ()]
        if processes.why_missing is not None:
            sentences.append(processes.why_missing)
        if nvml.split(index).value:
            sentences.append(
                say(
                    "GPU {index} is split (MIG): a framework sees only part of it; the figures "
                    "are for the whole GPU.",
                    index=index,
                )
            )
    if known and not ours:
        sentences.append(_not_among_them(named))
    if count.value > 1:
        sentences.append(
            say("NVML counts all GPUs of the machine; a framework's gpu:0 may be a different GPU.")
        )
    return rows, sentences


def _gpu(nvml: Nvml, index: int) -> Row:
    name = f"NVIDIA GPU {index}"
    memory = nvml.memory(index)
    if memory.value is None:
        return rendering.unknown(name, memory.reason)
    return rendering.amounts(name, memory.value, nvml.name(index).value or "")


def _user(pid: int, used: int | None, named: bool) -> GpuUser:
    ours = pid == os.getpid()
    return GpuUser(pid, machine_memory.program(pid) if named and not ours else None, used, ours)


def _not_among_them(named: bool) -> Sentence:
    number = str(os.getpid())
    if named:
        return say(
            "This kernel (process {number}) is not among the processes on a GPU: it has not used a GPU.",
            number=number,
        )
    return say(
        "This kernel (process {number}) is not among the processes on a GPU: it has not used "
        "a GPU, or the driver and this container number processes differently.",
        number=number,
    )


def _allocators(backends: Sequence[Backend]) -> tuple[list[Row], list[Sentence]]:
    if not backends:
        return [], [say("No framework is imported, so there is no allocator to query.")]
    rows: list[Row] = []
    sentences: list[Sentence] = []
    for backend in backends:
        name = registry.title(backend.name)
        try:
            if not backend.started():
                sentences.append(
                    say("{name} has not used a device yet, so its allocator was not queried.", name=name)
                )
                continue
            rows += _usable(backend)
            rows += dict.fromkeys(_allocator(backend, device) for device in backend.devices())
        except Exception as error:  # a failing framework must not hide the rest
            sentences.append(say("{name} could not be queried ({error}).", name=name, error=error))
    if any(row[1] not in ("", rendering.NOT_TOLD) for row in rows):
        sentences.append(
            say(
                "An allocator is part of this process: its free memory is available only to "
                "its own framework."
            )
        )
    return rows, sentences


def _usable(backend: Backend) -> list[Row]:
    """Return a row for each GPU that should not use all of the machine's memory."""
    return [
        rendering.limit(
            f"{registry.title(backend.name)} {device.name}",
            usable.bytes,
            say("the most that macOS recommends for the GPU, {source}", source=usable.source),
        )
        for device in backend.devices()
        if (usable := backend.usable_memory(device)) is not None
    ]


def _allocator(backend: Backend, device: Device) -> Row:
    readings = {one.quantity: one for one in backend.memory(device)}
    allocated = readings["memory_allocator"]
    # An allocator that counts all devices together gives the same row for each, which is shown once.
    together = allocated.scope == "process"
    name = registry.title(backend.name) + ("" if together else f" {device.name}")
    if allocated.value is None:
        return rendering.unknown(name, allocated.why_missing or "")
    remark = say("allocator, all devices combined") if together else say("allocator")
    reserved = readings[RESERVED].value if RESERVED in readings else None
    if reserved is None:
        return rendering.in_use(name, allocated.value, remark)
    memory = Memory(int(reserved), int(allocated.value), int(reserved - allocated.value))
    return rendering.amounts(name, memory, say("{what}; the total is what it has reserved", what=remark))
