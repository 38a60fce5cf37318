"""Sandboxes: commands that run an untrusted program without access to the machine.

Each gives the program an empty folder, an empty environment, no network, no view of other processes, and read
access to Python's files except solutions and answers (`sealed.py`). `probe.py` proves this before anything is
graded.
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

#: The working folder of a student's program, which it may write to.
HOME = "/home/student"
#: The user and group "nobody", who own nothing.
_NOBODY = "65534"

#: Size in bytes of a folder in memory that nothing is written to.
_LEAST = 64 * 1024

_OF_THE_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_OF_ETC = ("alternatives", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "ssl/certs")


class Sandbox(Protocol):
    """A way to run a command in isolation.

    `name` is its name in a configuration, `title` its name for a reader. `in_memory` lists the program's
    folders that lie in memory and count as its memory.
    """

    name: str
    title: str
    in_memory: Sequence[str]

    def missing(self) -> str | None:
        """Return a sentence on why it is not available, or None if it is."""
        ...

    def command(self, words: Sequence[str], folder: Path, files: int) -> list[str]:
        """Return the command that runs `words` in the sandbox.

        `folder` is the program's own folder; it may write `files` bytes in all.
        """
        ...


def environment(home: str) -> dict[str, str]:
    """Return the whole environment of a student's program, which has no variable of ours."""
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

    Of a checkout only our package is included, because the labs are beside it.
    """
    package = Path(jupyter_mlgpu.__file__).parent
    found = [Path(one) for one in (sys.prefix, sys.exec_prefix, sys.base_prefix, *site.getsitepackages())]
    found += [Path(one) for one in sys.path if Path(one).name in ("site-packages", "dist-packages")]
    found += [Path(sys.executable).resolve().parent.parent, package]
    known = [path for path in dict.fromkeys(found) if path.is_dir()]
    return [one for one in known if not any(other in one.parents for other in known)]


def hidden_folders() -> list[Sealed]:
    """Return the folders that a sandbox has to hide within all that it shows."""
    of_the_system = [Path(one) for one in _OF_THE_SYSTEM if not Path(one).is_symlink()]
    return find_sealed([one for one in of_the_system if one.is_dir()] + libraries())


def _covering(one: Sealed) -> list[str]:
    """Return Bubblewrap's options for an empty read-only folder over this one."""
    folder = str(one.folder)
    kept = [str(one.folder / name) for name in one.readable]
    options = ["--perms", "0755", "--size", str(_LEAST), "--tmpfs", folder]
    for path in kept:
        options += ["--ro-bind", path, path]
    return [*options, "--remount-ro", folder]


def _python_path() -> list[str]:
    """Return the folder of our package if it is not among the installed packages."""
    root = Path(jupyter_mlgpu.__file__).parents[1]
    return [] if root.name in ("site-packages", "dist-packages") else [str(root)]


class Bubblewrap:
    """Linux namespaces through `bwrap`; a process of root also becomes the user "nobody"."""

    name = "bubblewrap"
    title = "bubblewrap (its own file system, processes and network)"
    in_memory: Sequence[str] = ("/dev/shm", "/tmp", HOME)

    def missing(self) -> str | None:
        """Return a sentence on what is missing, or None."""
        return syscalls.missing() if shutil.which("bwrap") else "bubblewrap (`bwrap`) is not installed"

    def command(self, words: Sequence[str], folder: Path, files: int) -> list[str]:
        """Return the command that runs a program in it; nothing can be written, and `folder` is not used."""
        root = os.geteuid() == 0
        command = [sys.executable, "-IS", syscalls.__file__]  # starts the command that follows, with a filter
        command += ["bwrap", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
        # Root needs no user namespace, and is safer as another user than as root without rights.
        command += [f"--unshare-{one}" for one in ("ipc", "pid", "net", "uts")] if root else ["--unshare-all"]
        if root:
            command += ["--unshare-cgroup-try", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        for name, value in environment(HOME).items():
            command += ["--setenv", name, value]
        for text in _OF_THE_SYSTEM:
            path = Path(text)
            if path.is_symlink():
                command += ["--symlink", os.readlink(path), text]
            elif path.is_dir():
                command += ["--ro-bind", text, text]
        command += ["--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/etc/ssl"]
        for name in _OF_ETC:
            command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        command += ["--proc", "/proc", "--dev", "/dev"]
        for place in self.in_memory:
            command += ["--perms", "1777", "--size", str(files), "--tmpfs", place]
        for path in libraries():
            if path.is_relative_to("/usr"):
                continue
            for above in [*path.parents][-2::-1]:  # bwrap would create these for root alone
                command += ["--perms", "0755", "--dir", str(above)]
            command += ["--ro-bind", str(path), str(path)]
        for one in hidden_folders():
            command += _covering(one)
        command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME, "--"]
        if root:
            command += ["/usr/bin/setpriv", "--reuid", _NOBODY, "--regid", _NOBODY, "--clear-groups", "--"]
        return [*command, *words]


class SandboxExec:
    """macOS's `sandbox-exec` with our profile; other processes and file names are visible."""

    name = "sandbox-exec"
    title = (
        "sandbox-exec (no network, no files of yours; the names of your programs can be seen; never run yet)"
    )
    in_memory: Sequence[str] = ()

    def missing(self) -> str | None:
        """Return a sentence on what is missing, or None."""
        return (
            None if sys.platform == "darwin" and shutil.which("sandbox-exec") else "sandbox-exec is macOS's"
        )

    def command(self, words: Sequence[str], folder: Path, files: int) -> list[str]:
        """Return the command that runs a program in it; `files` limits each file, not all together."""
        variables = [f"{name}={value}" for name, value in environment(str(folder)).items()]
        return ["sandbox-exec", "-p", profile(folder.resolve()), "/usr/bin/env", "-i", *variables, *words]


def profile(folder: Path) -> str:
    """Return a profile in macOS's language that allows only files of the system and of Python.

    If two rules match the same file, the later one applies.
    """
    readable = [Path(one) for one in ("/usr", "/bin", "/System", "/Library/Frameworks", "/opt/homebrew")]
    paths = " ".join(f"(subpath {_quote(one)})" for one in [*readable, *libraries(), folder])
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
            *(f"(deny file-read-data (subpath {_quote(one.folder)}))" for one in hidden_folders()),
            *(
                f"(allow file-read-data (literal {_quote(one.folder / name)}))"
                for one in hidden_folders()
                for name in one.readable
            ),
        ]
    )


def _quote(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


class SameUser:
    """No sandbox: a process with an empty environment and all rights of this user."""

    name = "same-user"
    title = "none: the students' code ran as you, with your files and your network"
    in_memory: Sequence[str] = ()

    def missing(self) -> str | None:
        """Return a sentence on what is missing, or None."""
        return None

    def command(self, words: Sequence[str], folder: Path, files: int) -> list[str]:
        """Return the command that runs a program in it."""
        variables = [f"{name}={value}" for name, value in environment(str(folder)).items()]
        return ["/usr/bin/env", "-i", *variables, *words]


#: The sandboxes in the order in which they are tried; the last one only if it is requested.
SANDBOXES: Mapping[str, Sandbox] = {one.name: one for one in (Bubblewrap(), SandboxExec(), SameUser())}
