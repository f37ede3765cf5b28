# SPDX-License-Identifier: Apache-2.0
"""Starts a program for which the kernel refuses a system call, as containers and old kernels do.

Usage: refuse_call.py NAME PROGRAM [ARGUMENT...]"""

import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
# The numbers of the calls on every architecture except alpha, and the error with which they are
# refused.
CALLS = {"io_uring_setup": (425, errno.EPERM), "pidfd_open": (434, errno.ENOSYS)}


def instruction(code, if_so, if_not, value):
    return struct.pack("HBBI", code, if_so, if_not, value)


def main():
    if platform.machine() not in ("x86_64", "aarch64"):
        sys.exit("cannot filter on this machine")
    number, error = CALLS[sys.argv[1]]
    code = (instruction(LOAD_WORD, 0, 0, 0) + instruction(JUMP_IF_EQUAL, 0, 1, number)
            + instruction(RETURN, 0, 0, REFUSE | error) + instruction(RETURN, 0, 0, ALLOW))
    memory = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0):
        sys.exit("cannot filter: " + os.strerror(ctypes.get_errno()))
    os.execv(sys.argv[2], sys.argv[2:])


main()
