# SPDX-License-Identifier: Apache-2.0
"""`python -m lanecrypt`: the command lanecrypt, which is in the package."""

import os
import pathlib
import sys
from typing import NoReturn


def main() -> NoReturn:
    command = pathlib.Path(__file__).parent / "bin" / "lanecrypt"
    os.execv(command, ["lanecrypt", *sys.argv[1:]])


if __name__ == "__main__":
    main()
