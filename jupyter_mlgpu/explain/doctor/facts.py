"""The facts about a machine and its Python: plain data, gathered by `gather/` or read from a file.

A field is its value, None for "there is none", or `Unknown` with the reason. Texts are redacted when the
facts are gathered: no user names, host names, home folders or tokens. Sizes are in bytes. Package names are
in lower case with hyphens (PyPI's normal form), versions follow PEP 440, and architectures are those of
Python's `platform.machine()` (arm64, aarch64, x86_64).
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

#: Version of the format; raised whenever a field changes its meaning, or one that a check uses is removed.
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """The computer and its limits.

    `system` is platform.system(): Darwin, Linux. `architecture` is the hardware's own, even if the process is
    translated. `macos` is the real version, None on other systems. `cpu_features` lists those of avx, avx2,
    avx512f, fma, sse4_2 that the processor has (empty on arm64). `cores` is the number of the machine's
    logical processors, `usable_cores` of those that this process may use. `cpu_limit` (processors) and
    `memory_limit` are the control group's, None without a limit. `low_power` is macOS's Low Power Mode, or
    the low-power platform profile on Linux.
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
    #: System Integrity Protection: it removes DYLD_* variables from processes started by system programs.
    protected: Maybe[bool | None] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Python:
    """The interpreter that is judged.

    `architecture` is the process's. `translated` is True under Rosetta (None if there is no Rosetta). `kind`
    is venv, conda, pyenv or system. `tag` is sysconfig's platform, which wheels must fit, such as
    `macosx-11.0-arm64`. `macos_seen` is the macOS version reported to this process, `10.16` under
    SYSTEM_VERSION_COMPAT. `shadows` are files in the current folder that hide a well-known package, such as
    `tensorflow.py`.
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
    """An installed distribution, read from its metadata alone.

    `installer` is pip, conda, uv or another, None if not recorded. `tags` are the wheel's, such as
    `cp311-cp311-macosx_12_0_arm64`. `requires` lists the requirements that apply here (markers evaluated, no
    extras), such as `numpy<2.2.0,>=1.26.0`. `missing` is the number of recorded code files that do not exist.
    `copies` are the versions of further copies on sys.path, which this one hides. `place` is environment,
    user (`~/.local`) or other.
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
    """The versions of CUDA and cuDNN that a framework was built for, read from its files.

    `cuda` is None for a build without CUDA. For JAX it is the version of its plug-in package (`12` or `13`).
    """

    cuda: Maybe[Version | None] = NOT_TOLD
    cudnn: Maybe[Version | None] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Environment:
    """Environment variables of interest (`gather/environment.py` has the list), with redacted values.

    `variables` are this process's. `shell` are those set by the shell's start files (`export NAME=...`). They
    show what is missing in a Jupyter started from the desktop, or in a kernel behind System Integrity
    Protection.
    """

    variables: Maybe[Mapping[VariableName, Text]] = NOT_TOLD
    shell: Maybe[Mapping[VariableName, Text]] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class GpuProcessFact:
    """A process on a GPU: its program's short name (never a command line), and its GPU memory."""

    program: Text
    used: Maybe[int] = NOT_TOLD
    ours: bool = False


@dataclass(frozen=True, slots=True)
class GpuFact:
    """A GPU as the system reports it; memory is None if it has none of its own (Apple silicon)."""

    name: Maybe[Text] = NOT_TOLD
    vendor: Maybe[Text] = NOT_TOLD
    memory: Maybe[int | None] = NOT_TOLD
    memory_free: Maybe[int | None] = NOT_TOLD
    compute_capability: Maybe[Version | None] = NOT_TOLD
    processes: Maybe[tuple[GpuProcessFact, ...]] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class GpuFacts:
    """Graphics hardware and NVIDIA's driver.

    `found` are the GPUs that a driver lists (NVML, or system_profiler on a Mac). `on_bus` are the vendors of
    the display devices on the PCI bus, from sysfs: nvidia, amd, intel or another's number; None if there is
    no such bus. `driver` is the version of NVIDIA's driver from NVML, `cuda` the newest CUDA that it supports
    (`12.4`), `kernel_module` the version of the loaded module. `device_files` is the state of /dev/nvidia0:
    there, denied (it may not be opened) or absent. `why_none` is NVML's reason if it lists no GPU. `metal` is
    the version of Metal from system_profiler.
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
    """A shared library of CUDA: its source (loader, wheel, path), its file's name, and its version."""

    name: Text
    source: Text
    file: Name
    version: Maybe[Version | None] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """A kernel that Jupyter offers.

    `interpreter` is its Python, redacted. `exists` is True if that file exists, `same` if it is this Python.
    `version` is its own. `has` maps those of jupyter-mlgpu, ipykernel, tensorflow, torch, jax, mlx, keras and
    numpy that are installed for it to their versions. `env` are the variables of interest that the kernelspec
    sets.
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
    """Kernels and ipykernel; `capture` is IPKernelApp.capture_fd_output as configured, True by default.

    `inside` is True if the facts were gathered in a kernel. `imported` are the frameworks that this process
    has imported.
    """

    specs: Maybe[tuple[KernelSpec, ...]] = NOT_TOLD
    capture: Maybe[bool] = NOT_TOLD
    inside: Maybe[bool] = NOT_TOLD
    imported: Maybe[tuple[Text, ...]] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Jupyter:
    """JupyterLab, and our front end and server extension.

    `labextension` is the version of the installed front end, None if it is not installed. `disabled` are the
    names of disabled lab extensions (ours is `jupyter-mlgpu`). `server_extension` is True if ours is enabled.
    """

    lab: Maybe[Version | None] = NOT_TOLD
    package: Maybe[Version] = NOT_TOLD
    labextension: Maybe[Version | None] = NOT_TOLD
    disabled: Maybe[tuple[Name, ...]] = NOT_TOLD
    server_extension: Maybe[bool] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook in the current folder; `rich` is True if it has outputs that need trust to be shown."""

    name: Name
    trusted: Maybe[bool] = NOT_TOLD
    rich: Maybe[bool] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder that keeps data or weights: keras, huggingface, torch, tensorflow-datasets."""

    name: Text
    size: Maybe[int] = NOT_TOLD
    writable: Maybe[bool] = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Storage:
    """Free bytes in the current, the home and the temporary folder, and the caches that exist.

    `home_writable` and `temporary_writable` are True if a file may be created there.
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
    """A framework's answer from its own process.

    `error` is the end of its traceback, or of its output, None if it was imported. `signal` is the name of
    the signal that ended the process (SIGILL, SIGSEGV), if one did. `devices` has the kind of each device
    that it lists: cpu, gpu. `computed` is True if a small product ran on its best device, `compute_error`
    says why not, and `product` is the elements' value if it is wrong (`ask.SIZE` is right). `seconds` is the
    time of the whole answer. `said` are the last lines that it printed itself.
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
    """All facts about a machine.

    `packages` has every installed package of interest, by name. `builds` and `frameworks` are by framework
    (tensorflow, torch, jax, mlx), `network` is by site. `frameworks` and `network` are gathered only with
    --deep. `gathered_by` is the version of jupyter_mlgpu.
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
