# SPDX-License-Identifier: Apache-2.0
"""Starts a program to which the kernel refuses io_uring_setup(2), as containers do."""

import ctypes
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE_AS_FORBIDDEN = 0x7FFF0000, 0x00050000 | 1
IO_URING_SETUP = 425  # on every architecture but alpha


def instruction(code, if_so, if_not, value):
    return struct.pack("HBBI", code, if_so, if_not, value)


def main():
    if platform.machine() not in ("x86_64", "aarch64"):
        sys.exit("cannot filter on this machine")
    code = (instruction(LOAD_WORD, 0, 0, 0) + instruction(JUMP_IF_EQUAL, 0, 1, IO_URING_SETUP)
            + instruction(RETURN, 0, 0, REFUSE_AS_FORBIDDEN) + instruction(RETURN, 0, 0, ALLOW))
    memory = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0):
        sys.exit("cannot filter: " + os.strerror(ctypes.get_errno()))
    os.execv(sys.argv[1], sys.argv[1:])


main()
