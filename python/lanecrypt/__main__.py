# SPDX-License-Identifier: Apache-2.0
"""`python -m lanecrypt`: executes the command lanecrypt of this package."""

import os
import pathlib
import sys
from typing import NoReturn

from . import _core


def main() -> NoReturn:
    # In an editable installation, the compiled files are in another folder than this file.
    command = pathlib.Path(_core.__file__).parent / "bin" / "lanecrypt"
    os.execv(command, ["lanecrypt", *sys.argv[1:]])


if __name__ == "__main__":
    main()
