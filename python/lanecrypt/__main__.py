# SPDX-License-Identifier: Apache-2.0
"""`python -m lanecrypt`: the command lanecrypt, which is in the package."""

import os
import pathlib
import sys
from typing import NoReturn

from . import _core


def main() -> NoReturn:
    # In an editable installation what is compiled lies elsewhere than this file.
    command = pathlib.Path(_core.__file__).parent / "bin" / "lanecrypt"
    os.execv(command, ["lanecrypt", *sys.argv[1:]])


if __name__ == "__main__":
    main()
