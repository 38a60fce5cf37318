"""Linux's files of GPUs and of a process that has opened them, in a folder, with drivers of your choice."""

from __future__ import annotations

import os
from pathlib import Path


class FakeDrm:
    """Writes below `root` what a process finds in /dev/dri, /sys and /proc/self."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("proc/self/fd", "proc/self/fdinfo"):
            (root / folder).mkdir(parents=True)
        self.open(0, "/dev/null", "pos:\t0\nflags:\t0100000\nmnt_id:\t28\nino:\t4\n")

    def add_gpu(self, number: int, driver: str) -> None:
        """Add a GPU, `renderD128` for 128."""
        device = self.root / f"sys/class/drm/renderD{number}/device"
        device.mkdir(parents=True)
        os.symlink(f"../../../../bus/pci/drivers/{driver}", device / "driver")
        (self.root / "dev/dri").mkdir(parents=True, exist_ok=True)
        (self.root / f"dev/dri/renderD{number}").touch()

    def open(self, file: int, path: str, fdinfo: str) -> None:
        """Have the process open a file. Call it again with another text to change the file's fdinfo."""
        link = self.root / f"proc/self/fd/{file}"
        link.unlink(missing_ok=True)
        os.symlink(path, link)
        (self.root / f"proc/self/fdinfo/{file}").write_text(fdinfo)

    def close(self, file: int) -> None:
        """Have the process close a file."""
        for folder in ("fd", "fdinfo"):
            (self.root / f"proc/self/{folder}/{file}").unlink()

    @staticmethod
    def client(driver: str, number: int, place: str = "", **engines: int) -> str:
        """Return the text of a client; `engines` are nanoseconds, by the engine's name."""
        lines = ["pos:\t0", "flags:\t02100002", "mnt_id:\t26", "ino:\t284", f"drm-driver:\t{driver}"]
        lines += [f"drm-client-id:\t{number}", *([f"drm-pdev:\t{place}"] if place else [])]
        lines += [f"drm-engine-{name.replace('_', '-')}:\t{count} ns" for name, count in engines.items()]
        return "\n".join([*lines, ""])
