"""Starts bubblewrap with a filter: the system calls that a submission may not make.

    python -IS syscalls.py bwrap OPTION...

The memory limit counts a submission's processes and its folders in memory. It does not see files made by
`memfd_create` or System V shared memory, and in its own user namespace a program may mount folders in memory
without limit. So these calls fail with ENOSYS, as on a kernel that lacks them, and programs fall back. The
other calls here reach into other processes, or into parts of the kernel that no lab needs.

It is run as a program of its own, and uses the standard library alone: the filter is handed to bubblewrap as
an open file, and a command line cannot carry one.
"""

from __future__ import annotations

import errno
import os
import platform
import struct
import sys

#: By the machine: how the kernel names it to a filter (AUDIT_ARCH_*), then the numbers of its calls.
_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_REFUSED = {
    # Memory that no process and no folder shows.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    # Namespaces. A filter cannot read what clone3 is given; the C library then takes clone, which is below.
    "unshare": (272, 97),
    "setns": (308, 268),
    "clone3": (435, 435),
    # Other processes' memory and files.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    # Parts of the kernel that no lab needs, in which most of its holes were found.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
}
_CLONE = (56, 220)
#: The flags of clone that make a namespace: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
_NEW_NAMESPACES = 0x7E020000
#: Numbers from here on are the other calls of x86_64, with pointers of 32 bits (x32).
_X32 = 0x40000000

# Instructions of the kernel's filters (linux/filter.h), and where a call's parts lie (struct seccomp_data).
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000


def missing() -> str | None:
    """Why there is no filter for this machine, in a sentence; None: there is."""
    if platform.machine() in _MACHINES:
        return None
    return f"the system calls of this processor ({platform.machine()}) are not known"


def program(machine: str) -> bytes:
    """The filter for a machine, as the kernel and bubblewrap take it."""
    column = list(_MACHINES).index(machine)
    refuse = (_RETURN, 0, 0, _FAIL | errno.ENOSYS)
    lines = [(_LOAD, 0, 0, _MACHINE), (_IF_EQUAL, 1, 0, _MACHINES[machine]), refuse, (_LOAD, 0, 0, _NUMBER)]
    if machine == "x86_64":
        lines += [(_IF_AT_LEAST, 0, 1, _X32), refuse]
    for numbers in _REFUSED.values():
        lines += [(_IF_EQUAL, 0, 1, numbers[column]), refuse]
    lines += [
        (_IF_EQUAL, 0, 3, _CLONE[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_IF_ANY_BIT, 0, 1, _NEW_NAMESPACES),
        refuse,
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def main() -> None:
    """Become the program that is named, with `--seccomp` and the open filter as its first option."""
    reading, writing = os.pipe()
    os.write(writing, program(platform.machine()))
    os.close(writing)
    os.set_inheritable(reading, True)
    _, name, *options = sys.argv
    os.execvp(name, [name, "--seccomp", str(reading), *options])


if __name__ == "__main__":
    main()
