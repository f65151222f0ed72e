"""Limits of a reader's process: memory, processor time, and bytes that it may write.

On Linux the kernel holds all three. macOS holds processor time and bytes, but no limit of memory:
there a reader that swells is ended by the system. On Windows a job object holds memory and time and
ends the reader with the program; files it could write are not limited there.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of one question.

    Attributes
    ----------
    memory
        Bytes of data.
    seconds
        Processor seconds.
    written
        Bytes of the largest file it may write; -1 for no limit.
    """

    memory: int
    seconds: int
    written: int = 0


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _PROCESS_TIME, _PROCESS_MEMORY, _DIE_ON_ERROR, _KILL_ON_CLOSE = 0x2, 0x100, 0x400, 0x2000
    _EXTENDED = 9  # JobObjectExtendedLimitInformation

    class _Basic(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", ctypes.c_int64),
            ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _Extended(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _Basic),
            ("IoInfo", ctypes.c_uint64 * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel.CreateJobObjectW.restype = wintypes.HANDLE
    _kernel.GetCurrentProcess.restype = wintypes.HANDLE
    _job = _kernel.CreateJobObjectW(None, None)
    _kernel.AssignProcessToJobObject(wintypes.HANDLE(_job), _kernel.GetCurrentProcess())

    def hold(limits: Limits) -> None:
        """Let this process have so much more time, and no more memory than that."""
        wanted = _Extended()
        wanted.BasicLimitInformation.LimitFlags = (
            _PROCESS_TIME | _PROCESS_MEMORY | _DIE_ON_ERROR | _KILL_ON_CLOSE
        )
        # In units of 100 ns, from the start of the process.
        spent = time.process_time() + limits.seconds
        wanted.BasicLimitInformation.PerProcessUserTimeLimit = int(spent * 10_000_000)
        wanted.ProcessMemoryLimit = limits.memory
        _kernel.SetInformationJobObject(
            wintypes.HANDLE(_job), _EXTENDED, ctypes.byref(wanted), ctypes.sizeof(wanted)
        )

else:
    import resource

    def hold(limits: Limits) -> None:
        """Let this process have so much more time, and no more memory than that."""
        _soft(resource.RLIMIT_CPU, int(time.process_time()) + 1 + limits.seconds)
        _soft(resource.RLIMIT_FSIZE, limits.written)
        # A core would hold what was read.
        _soft(resource.RLIMIT_CORE, 0)
        # Not of address space, of which allocators reserve more for each processor than they take.
        _soft(resource.RLIMIT_DATA, limits.memory)

    def _soft(which: int, value: int) -> None:
        most = resource.getrlimit(which)[1]
        wanted = value if most == resource.RLIM_INFINITY else min(value, most)
        try:
            resource.setrlimit(which, (wanted, most))
        except (ValueError, OSError):
            # A platform without this limit, or already beyond it: the next allocation says so.
            return


def memory_of_machine() -> int:
    """The bytes of memory that this machine has; where it does not say, 8 GiB."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**33
