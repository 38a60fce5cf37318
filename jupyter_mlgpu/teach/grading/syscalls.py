"""Starts bubblewrap with a filter on the system calls of a submission.

    python -IS syscalls.py bwrap OPTION...

The memory limit counts a submission's processes and its folders in memory. It does not see files made by
`memfd_create` or System V shared memory. In its own user namespace, a program may also mount folders in
memory without limit. So these calls fail with ENOSYS, as on a kernel that lacks them, and programs use their
fallback. The other calls here access other processes, or parts of the kernel that no lab needs.

It runs as a program of its own and uses only the standard library: bubblewrap takes the filter as an open
file, which a command line cannot pass.
"""

from __future__ import annotations

import errno
import os
import platform
import struct
import sys

#: For each machine: its name in a filter (AUDIT_ARCH_*), then below the numbers of its calls.
_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_REFUSED = {
    # Memory that belongs to no process and no folder.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    # Namespaces. A filter cannot read the arguments of clone3. The C library then uses clone, which is
    # filtered below.
    "unshare": (272, 97),
    "setns": (308, 268),
    "clone3": (435, 435),
    # Other processes' memory and files.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    # Parts of the kernel that no lab needs, and in which most of its vulnerabilities were found.
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
#: From here on, numbers are the other calls of x86_64, with 32-bit pointers (x32).
_X32 = 0x40000000

# Instructions of the kernel's filters (linux/filter.h), and offsets in struct seccomp_data.
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000


def missing() -> str | None:
    """Return a sentence on why there is no filter for this machine, or None if there is one."""
    if platform.machine() in _MACHINES:
        return None
    return f"the system calls of this processor ({platform.machine()}) are not known"


def program(machine: str) -> bytes:
    """Return the filter for a machine in the format of the kernel and bubblewrap."""
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
    """Replace this process by the given command, with `--seccomp` and the filter as its first option."""
    reading, writing = os.pipe()
    os.write(writing, program(platform.machine()))
    os.close(writing)
    os.set_inheritable(reading, True)
    _, name, *options = sys.argv
    os.execvp(name, [name, "--seccomp", str(reading), *options])


if __name__ == "__main__":
    main()
