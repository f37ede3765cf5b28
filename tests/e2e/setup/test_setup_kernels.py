# SPDX-License-Identifier: Apache-2.0
"""cmake/compile_for_architectures.py, which kernels_of_every_arch runs."""

import importlib.util
import pathlib

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
SOURCE = """#include "kernel.h"
#if __CUDA_ARCH__ >= 800
kernel_of_newer();
#endif
"""
# A stand-in for nvcc.
TELL = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.told\"\nexit 3\n"


@pytest.fixture(scope="module")
def script():
    path = REPOSITORY / "cmake" / "compile_for_architectures.py"
    spec = importlib.util.spec_from_file_location("compile_for_architectures", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_here(script, folder, header):
    """Returns the arguments with which nvcc was called for SOURCE, and how the script ended."""
    (folder / "kernel.h").write_text(header)
    (folder / "kernel.cu").write_text(SOURCE)
    nvcc = folder / "nvcc"
    nvcc.write_text(TELL)
    nvcc.chmod(0o755)
    status = script.main(["c++", str(folder), str(folder / "kernel.cu"), "75", "80", "90", "100",
                          "--", str(nvcc), "-fatbin"])
    told = (folder / "nvcc.told").read_text().split()
    assert told[0] == "-fatbin" and told[-1] == str(folder / "kernel.cu")
    return told[1:-1], status


def test_the_same_text_is_read_once(tmp_path, script):
    told, status = compile_here(script, tmp_path, "kernel();\n")
    assert told == ["-gencode", "arch=compute_75,code=[sm_75]",
                    "-gencode", "arch=compute_80,code=[sm_80,sm_90,sm_100]"]
    assert status == 3, "nvcc's failure must be the script's"


def test_a_header_may_ask_for_the_architecture_too(tmp_path, script):
    told, _ = compile_here(script, tmp_path, "#if __CUDA_ARCH__ == 900\nother();\n#endif\n")
    assert told == ["-gencode", "arch=compute_75,code=[sm_75]",
                    "-gencode", "arch=compute_80,code=[sm_80,sm_100]",
                    "-gencode", "arch=compute_90,code=[sm_90]"]
