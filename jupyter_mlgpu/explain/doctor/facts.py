"""What is known of a machine and its Python: plain data, gathered by `gather/` or read from a file.

A field holds its value, None for "there is none", or `Unknown` with the reason. Texts were redacted when the
facts were gathered: no user names, hosts, home folders or tokens. Sizes are bytes. Package names are written
in lower case with hyphens (PyPI's normal form), versions as PEP 440 has them, architectures as Python's
`platform.machine()` does (arm64, aarch64, x86_64).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_mlgpu.explain.doctor.maybe import NOT_TOLD, Maybe
from jupyter_mlgpu.explain.doctor.shapes import (
    HostName,
    Lines,
    Name,
    PackageName,
    Shadow,
    Text,
    VariableName,
    Version,
)
from jupyter_mlgpu.record.sentence import Sentence

#: Raised whenever a field changes its meaning, or one that a check asks for goes away.
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """The computer and its limits.

    `system` is platform.system(): Darwin, Linux. `architecture` is the hardware's own, also where the process
    is translated; `macos` is the real version, None elsewhere. `cpu_features` holds those of avx, avx2,
    avx512f, fma, sse4_2 that the processor has (empty on arm64). `cores` are the machine's logical
    processors, `usable_cores` those that this process may run on. `cpu_limit` (processors) and `memory_limit`
    are the control group's, None without a limit. `low_power` tells of macOS's Low Power Mode, or of Linux's
    platform profile.
    """

    system: Maybe[Text] = NOT_TOLD
    release: Maybe[Text] = NOT_TOLD
    macos: Maybe[Version | None] = NOT_TOLD
    architecture: Maybe[Text] = NOT_TOLD
    processor: Maybe[Text | None] = NOT_TOLD
    cpu_features: Maybe[tuple[Text, ...]] = NOT_TOLD
    cores: Maybe[int] = NOT_TOLD
    usable_cores: Maybe[int] = NOT_TOLD
    cpu_limit: Maybe[float | None] = NOT_TOLD
    memory: Maybe[int] = NOT_TOLD
    memory_available: Maybe[int] = NOT_TOLD
    memory_limit: Maybe[int | None] = NOT_TOLD
    memory_limit_used: Maybe[int | None] = NOT_TOLD
    container: Maybe[bool] = NOT_TOLD
    low_power: Maybe[bool] = NOT_TOLD
    #: System Integrity Protection: it strips DYLD_* variables from what the system's own programs start.
    protected: Maybe[bool | None] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Python:
    """The interpreter that was judged.

    `architecture` is the process's; `translated` tells of Rosetta (None where there is none). `kind` is venv,
    conda, pyenv or system; `tag` is sysconfig's platform, which wheels must fit, such as `macosx-11.0-arm64`.
    `macos_seen` is the macOS version that this process is told, `10.16` under SYSTEM_VERSION_COMPAT.
    `shadows` are files in the current folder that hide a well-known package, such as `tensorflow.py`.
    """

    version: Maybe[Version] = NOT_TOLD
    implementation: Maybe[Text] = NOT_TOLD
    architecture: Maybe[Text] = NOT_TOLD
    translated: Maybe[bool | None] = NOT_TOLD
    kind: Maybe[Text] = NOT_TOLD
    prefix: Maybe[Name] = NOT_TOLD
    executable: Maybe[Name] = NOT_TOLD
    tag: Maybe[Text] = NOT_TOLD
    macos_seen: Maybe[Version | None] = NOT_TOLD
    pip: Maybe[Version | None] = NOT_TOLD
    shadows: Maybe[tuple[Shadow, ...]] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Package:
    """An installed distribution, from its metadata alone.

    `installer` is pip, conda, uv or another, None where it is not recorded. `tags` are the wheel's, such as
    `cp311-cp311-macosx_12_0_arm64`. `requires` are its requirements that hold here (markers applied, no
    extras), such as `numpy<2.2.0,>=1.26.0`. `missing` counts its recorded code files that are not there.
    `copies` are the versions of further copies of it on sys.path, which are hidden by this one. `place` is
    environment, user (`~/.local`) or other.
    """

    version: Version
    installer: Maybe[Text | None] = NOT_TOLD
    tags: Maybe[tuple[Text, ...]] = NOT_TOLD
    requires: Maybe[tuple[Text, ...]] = NOT_TOLD
    missing: Maybe[int] = NOT_TOLD
    copies: Maybe[tuple[Version, ...]] = NOT_TOLD
    place: Maybe[Text] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Build:
    """What a framework was built for, read from its files: the versions of CUDA and cuDNN.

    `cuda` is None for a build without CUDA. JAX's is the one of its plug-in package (`12` or `13`).
    """

    cuda: Maybe[Version | None] = NOT_TOLD
    cudnn: Maybe[Version | None] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Environment:
    """Variables of interest (`gather/environment.py` has the list), values redacted.

    `variables` are this process's. `shell` are those that the shell's start files set (`export NAME=...`), a
    way to see what a Jupyter started from the desktop, or a kernel behind System Integrity Protection, lost.
    """

    variables: Maybe[Mapping[VariableName, Text]] = NOT_TOLD
    shell: Maybe[Mapping[VariableName, Text]] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class GpuProcessFact:
    """A process on a GPU: its program's short name (never a command line), and its memory there."""

    program: Text
    used: Maybe[int] = NOT_TOLD
    ours: bool = False


@dataclass(frozen=True, slots=True)
class GpuFact:
    """A GPU as the system sees it; memory is None where it has none of its own (Apple silicon)."""

    name: Maybe[Text] = NOT_TOLD
    vendor: Maybe[Text] = NOT_TOLD
    memory: Maybe[int | None] = NOT_TOLD
    memory_free: Maybe[int | None] = NOT_TOLD
    compute_capability: Maybe[Version | None] = NOT_TOLD
    processes: Maybe[tuple[GpuProcessFact, ...]] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class GpuFacts:
    """Graphics hardware and NVIDIA's driver.

    `found` are the GPUs that a driver tells (NVML, or system_profiler on a Mac). `on_bus` are the vendors of
    the display devices on the PCI bus, from sysfs: nvidia, amd, intel or another's number; None where there
    is no such bus. `driver` is NVIDIA's as NVML tells it, `cuda` the newest CUDA that it serves (`12.4`),
    `kernel_module` the version of the loaded module. `device_files` tells of /dev/nvidia0: there, denied
    (it may not be opened) or absent. `why_none` is NVML's reason where it tells no GPU. `metal` is the
    version of Metal as system_profiler says it.
    """

    found: Maybe[tuple[GpuFact, ...]] = NOT_TOLD
    on_bus: Maybe[tuple[Text, ...] | None] = NOT_TOLD
    driver: Maybe[Version | None] = NOT_TOLD
    cuda: Maybe[Version | None] = NOT_TOLD
    kernel_module: Maybe[Version | None] = NOT_TOLD
    device_files: Maybe[Text] = NOT_TOLD
    why_none: Maybe[Sentence | None] = NOT_TOLD
    metal: Maybe[Text | None] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class LibraryFact:
    """A shared library of CUDA: where it was found (loader, wheel, path), its file's name, its version."""

    name: Text
    source: Text
    file: Name
    version: Maybe[Version | None] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """A kernel that Jupyter offers.

    `interpreter` is its Python, redacted; `exists` whether that file is there; `same` whether it is this
    Python. `version` is its own. `has` are those of jupyter-mlgpu, ipykernel, tensorflow, torch, jax, mlx,
    keras and numpy that are installed for it, with versions. `env` are the variables of interest that the
    kernelspec sets.
    """

    name: Name
    interpreter: Maybe[Name] = NOT_TOLD
    exists: Maybe[bool] = NOT_TOLD
    same: Maybe[bool] = NOT_TOLD
    version: Maybe[Version] = NOT_TOLD
    has: Maybe[Mapping[PackageName, Version]] = NOT_TOLD
    env: Maybe[Mapping[VariableName, Text]] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """Kernels and ipykernel. `capture` is IPKernelApp.capture_fd_output as configured, True by default.

    `inside` tells whether the facts were gathered in a kernel, `imported` the frameworks that this process
    has imported.
    """

    specs: Maybe[tuple[KernelSpec, ...]] = NOT_TOLD
    capture: Maybe[bool] = NOT_TOLD
    inside: Maybe[bool] = NOT_TOLD
    imported: Maybe[tuple[Text, ...]] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Jupyter:
    """JupyterLab and our two sides in it.

    `labextension` is the version of the installed front end, None where it is not installed; `disabled` the
    names of disabled lab extensions (ours is `jupyter-mlgpu`), `server_extension` whether ours is enabled.
    """

    lab: Maybe[Version | None] = NOT_TOLD
    package: Maybe[Version] = NOT_TOLD
    labextension: Maybe[Version | None] = NOT_TOLD
    disabled: Maybe[tuple[Name, ...]] = NOT_TOLD
    server_extension: Maybe[bool] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook of the current folder; `rich` tells whether it has outputs that only a trusted one shows."""

    name: Name
    trusted: Maybe[bool] = NOT_TOLD
    rich: Maybe[bool] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder where data or weights are kept: keras, huggingface, torch, tensorflow-datasets."""

    name: Text
    size: Maybe[int] = NOT_TOLD
    writable: Maybe[bool] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Storage:
    """Bytes free in the current folder, the home folder and the temporary one; caches that are there.

    `home_writable` and `temporary_writable` tell whether a file may be made there.
    """

    here_free: Maybe[int] = NOT_TOLD
    home_free: Maybe[int] = NOT_TOLD
    temporary_free: Maybe[int] = NOT_TOLD
    home_writable: Maybe[bool] = NOT_TOLD
    temporary_writable: Maybe[bool] = NOT_TOLD
    shared_memory: Maybe[int | None] = NOT_TOLD
    caches: Maybe[tuple[Cache, ...]] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class FrameworkAnswer:
    """What a framework said in a process of its own.

    `error` is the end of its traceback, or of what it printed, None where it was imported; `signal` the name
    of the signal that ended it (SIGILL, SIGSEGV), None where none did. `devices` are the kinds that it lists,
    one a device: cpu, gpu. `computed` tells whether a small product ran on its best device, `compute_error`
    why not, `product` what its elements are where they are wrong (`ask.SIZE` is right). `seconds` is the time
    of the whole answer. `said` are the last lines that it printed itself.
    """

    imported: Maybe[bool] = NOT_TOLD
    error: Maybe[Lines | None] = NOT_TOLD
    signal: Maybe[Text | None] = NOT_TOLD
    version: Maybe[Version | None] = NOT_TOLD
    devices: Maybe[tuple[Text, ...]] = NOT_TOLD
    computed: Maybe[bool] = NOT_TOLD
    compute_error: Maybe[Lines | None] = NOT_TOLD
    product: Maybe[Text | None] = NOT_TOLD
    seconds: Maybe[float] = NOT_TOLD
    said: Maybe[tuple[Text, ...]] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known. `packages` holds every installed one of interest, by name; `builds`, `frameworks`
    and `network` by framework (tensorflow, torch, jax, mlx) and by site. `frameworks` and `network` are asked
    only with --deep. `gathered_by` is the version of jupyter_mlgpu.
    """

    gathered_by: Maybe[Version] = NOT_TOLD
    machine: MachineFacts = MachineFacts()
    python: Python = Python()
    packages: Maybe[Mapping[PackageName, Package]] = NOT_TOLD
    builds: Maybe[Mapping[PackageName, Build]] = NOT_TOLD
    environment: Environment = Environment()
    gpus: GpuFacts = GpuFacts()
    libraries: Maybe[tuple[LibraryFact, ...]] = NOT_TOLD
    kernel: KernelFacts = KernelFacts()
    jupyter: Jupyter = Jupyter()
    notebooks: Maybe[tuple[Notebook, ...]] = NOT_TOLD
    storage: Storage = Storage()
    network: Maybe[Mapping[HostName, bool]] = NOT_TOLD
    frameworks: Maybe[Mapping[PackageName, FrameworkAnswer]] = NOT_TOLD
