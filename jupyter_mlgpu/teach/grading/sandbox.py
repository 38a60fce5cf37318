"""Builds the commands that run a student's untrusted program in a sandbox.

Bubblewrap gives the program its own folder, a small environment (`environment`), no network, no view of other
processes, and read access to Python's files except solutions and answers (`sealed.py`). SandboxExec isolates
less, and SameUser does not isolate at all; see their docstrings. Before anything is graded, `probe.py` tests
that a sandbox works: it runs a program that tries what is forbidden.
"""

from __future__ import annotations

import os
import shutil
import site
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import jupyter_mlgpu
from jupyter_mlgpu.teach.grading import syscalls
from jupyter_mlgpu.teach.grading.sealed import Sealed, find_sealed

#: The working folder of a student's program in Bubblewrap. The program may write to it.
HOME = "/home/student"
#: The user and group "nobody", who own nothing.
_NOBODY = "65534"

#: Size in bytes of the folder in memory that hides another one. It only has to hold empty files.
_COVER_BYTES = 64 * 1024

#: Folders of the system, and entries of /etc, that Bubblewrap shows read-only if they exist.
_SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_ETC_ENTRIES = (
    "alternatives",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "ssl/certs",
)


class Sandbox(Protocol):
    """A way to run a command in isolation.

    `name` is the sandbox's name in a configuration, `title` its description for people. `in_memory` lists the
    folders that exist only in memory; the files in them count as memory of the program.
    """

    name: str
    title: str
    in_memory: Sequence[str]

    def missing(self) -> str | None:
        """Return a sentence that says why the sandbox is not available, or None if it is."""
        ...

    def command(self, words: Sequence[str], folder: Path, files: int) -> list[str]:
        """Return the command that runs the command `words` in the sandbox.

        `folder` is the program's own folder, unless that is in memory. `files` is a limit in bytes on the
        files that the program writes. Each sandbox applies it differently; see their docstrings.
        """
        ...


def environment(home: str) -> dict[str, str]:
    """Return all environment variables of a student's program; none is copied from this process."""
    return {
        "HOME": home,
        "LANG": "C.UTF-8",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "PYTHONPATH": os.pathsep.join(_python_path()),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "TMPDIR": "/tmp" if home == HOME else home,
        "USER": "student",
    }


def libraries() -> list[Path]:
    """Return the folders of Python and its packages.

    If jupyter_mlgpu runs from a checkout, only the package's own folder is included, because the checkout
    also has the labs.
    """
    package = Path(jupyter_mlgpu.__file__).parent
    paths = [Path(path) for path in (sys.prefix, sys.exec_prefix, sys.base_prefix, *site.getsitepackages())]
    paths += [Path(path) for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    paths += [Path(sys.executable).resolve().parent.parent, package]
    folders = [path for path in dict.fromkeys(paths) if path.is_dir()]
    return [folder for folder in folders if not any(other in folder.parents for other in folders)]


def hidden_folders() -> list[Sealed]:
    """Return the folders that a sandbox has to hide among the folders that it shows."""
    system = [Path(path) for path in _SYSTEM_FOLDERS if not Path(path).is_symlink()]
    return find_sealed([folder for folder in system if folder.is_dir()] + libraries())


def _hide(sealed: Sealed) -> list[str]:
    """Return Bubblewrap's options that replace a folder by a read-only one with only its `readable` files."""
    folder = str(sealed.folder)
    options = ["--perms", "0755", "--size", str(_COVER_BYTES), "--tmpfs", folder]
    for name in sealed.readable:
        path = str(sealed.folder / name)
        options += ["--ro-bind", path, path]
    return [*options, "--remount-ro", folder]


def _python_path() -> list[str]:
    """Return the folder that contains this package, unless Python finds it there by default."""
    root = Path(jupyter_mlgpu.__file__).parents[1]
    return [] if root.name in ("site-packages", "dist-packages") else [str(root)]


class Bubblewrap:
    """Isolates with Linux namespaces, through `bwrap`. If root starts it, the program runs as "nobody".

    Each of the folders in memory can hold as many bytes as the limit `files` allows.
    """

    name = "bubblewrap"
    title = "bubblewrap (its own file system, processes and network)"
    in_memory: Sequence[str] = ("/dev/shm", "/tmp", HOME)

    def missing(self) -> str | None:
        """Return a sentence that says what is missing, or None."""
        return syscalls.missing() if shutil.which("bwrap") else "bubblewrap (`bwrap`) is not installed"

    def command(self, words: Sequence[str], folder: Path, files: int) -> list[str]:
        """Return the command that runs a program in the sandbox.

        Nothing on disk can be written: the program's folders are in memory, so `folder` is not used.
        """
        root = os.geteuid() == 0
        # `syscalls.py` sets a filter for system calls, and then runs the command that follows.
        command = [sys.executable, "-IS", syscalls.__file__]
        command += ["bwrap", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
        # Root can create the other namespaces without a user namespace. The program is then run as "nobody"
        # (see below), which is safer than running it as root with fewer capabilities.
        namespaces = ("ipc", "pid", "net", "uts")
        command += [f"--unshare-{name}" for name in namespaces] if root else ["--unshare-all"]
        if root:
            command += ["--unshare-cgroup-try", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        for name, value in environment(HOME).items():
            command += ["--setenv", name, value]
        for text in _SYSTEM_FOLDERS:
            path = Path(text)
            if path.is_symlink():
                command += ["--symlink", os.readlink(path), text]
            elif path.is_dir():
                command += ["--ro-bind", text, text]
        command += ["--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/etc/ssl"]
        for name in _ETC_ENTRIES:
            command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        command += ["--proc", "/proc", "--dev", "/dev"]
        for memory_folder in self.in_memory:
            command += ["--perms", "1777", "--size", str(files), "--tmpfs", memory_folder]
        for path in libraries():
            if path.is_relative_to("/usr"):
                continue
            # bwrap would create the parent folders so that only root can enter them.
            for parent in [*path.parents][-2::-1]:
                command += ["--perms", "0755", "--dir", str(parent)]
            command += ["--ro-bind", str(path), str(path)]
        for sealed in hidden_folders():
            command += _hide(sealed)
        command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME, "--"]
        if root:
            command += ["/usr/bin/setpriv", "--reuid", _NOBODY, "--regid", _NOBODY, "--clear-groups", "--"]
        return [*command, *words]


class SandboxExec:
    """Isolates with macOS's `sandbox-exec` and the rules of `profile`.

    The program cannot use the network. It can write only to its folder, and cannot read the files of users or
    the hidden folders. But it can see other processes and the names of files. The limit `files` applies only
    to each single file (RLIMIT_FSIZE, `limits.py`), not to all files together.
    """

    name = "sandbox-exec"
    title = (
        "sandbox-exec (no network, no files of yours; the names of your programs can be seen; never run yet)"
    )
    in_memory: Sequence[str] = ()

    def missing(self) -> str | None:
        """Return a sentence that says why the sandbox is not available, or None."""
        if sys.platform == "darwin" and shutil.which("sandbox-exec"):
            return None
        return "sandbox-exec is not available: it exists only on macOS"

    def command(self, words: Sequence[str], folder: Path, files: int) -> list[str]:
        """Return the command that runs a program in the sandbox; the command does not depend on `files`."""
        variables = [f"{name}={value}" for name, value in environment(str(folder)).items()]
        return ["sandbox-exec", "-p", profile(folder.resolve()), "/usr/bin/env", "-i", *variables, *words]


def profile(folder: Path) -> str:
    """Return the rules for `sandbox-exec`, in its profile language.

    They allow the program to read files of the system, of Python and in `folder`, and to write to `folder`.
    If two rules match the same file, the later one applies.
    """
    system = ("/usr", "/bin", "/System", "/Library/Frameworks", "/opt/homebrew")
    readable = [*map(Path, system), *libraries(), folder]
    paths = " ".join(f"(subpath {_quote(path)})" for path in readable)
    return "\n".join(
        [
            "(version 1)",
            "(allow default)",
            "(deny network*)",
            "(deny signal (target others))",
            "(deny file-write*)",
            f'(allow file-write* (subpath {_quote(folder)}) (literal "/dev/null"))',
            '(deny file-read-data (subpath "/Users") (subpath "/Volumes") (subpath "/private"))',
            '(deny file-read-data (subpath "/Library"))',
            f'(allow file-read* {paths} (subpath "/private/var/db"))',
            *(f"(deny file-read-data (subpath {_quote(sealed.folder)}))" for sealed in hidden_folders()),
            *(
                f"(allow file-read-data (literal {_quote(sealed.folder / name)}))"
                for sealed in hidden_folders()
                for name in sealed.readable
            ),
        ]
    )


def _quote(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


class SameUser:
    """Does not isolate: the program has all rights of this user, and only the variables of `environment`.

    The limit `files` applies only to each single file (RLIMIT_FSIZE, `limits.py`).
    """

    name = "same-user"
    title = "none: the students' code ran as you, with your files and your network"
    in_memory: Sequence[str] = ()

    def missing(self) -> str | None:
        """Return None: nothing is required."""
        return None

    def command(self, words: Sequence[str], folder: Path, files: int) -> list[str]:
        """Return the command that runs a program as this user; `folder` is only its HOME and TMPDIR."""
        variables = [f"{name}={value}" for name, value in environment(str(folder)).items()]
        return ["/usr/bin/env", "-i", *variables, *words]


#: The sandboxes by name, in the order in which they are tried. The last one is used only on request.
SANDBOXES: Mapping[str, Sandbox] = {
    sandbox.name: sandbox for sandbox in (Bubblewrap(), SandboxExec(), SameUser())
}
