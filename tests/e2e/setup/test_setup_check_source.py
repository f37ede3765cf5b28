# SPDX-License-Identifier: Apache-2.0
"""dev/check_source.py: each of its rules finds a breach, and accepts what is right."""

import importlib.util
import pathlib

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
FILES = {
    "include/lanecrypt/lanecrypt.h", "src/job/status.h", "src/secure/key_memory.h",
    "src/device/device.h", "src/device/cuda/driver.h", "src/device/gl/loader.h",
    "src/placement/dispatcher.h", "src/cipher/executor.h", "provider/cipher/algorithms.h",
    "src/libcrypto/forward.h", "provider/settings.h", "cli/keys/hex.h", "cli/failure.h", "cli/io/input.h",
    "cli/crypt/pipeline.h", "bench/load/data.h", "bench/rsa/batch.h", "kernels/platform.h",
    "kernels/aes/aes_table.inc", "kernels/aes/aes_key.h",
}


@pytest.fixture(scope="module")
def script():
    path = REPOSITORY / "dev" / "check_source.py"
    spec = importlib.util.spec_from_file_location("check_source", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def check(script):
    def guarded(path, text):
        return text + "#pragma once\n" if path.endswith(".h") else text
    return lambda path, text: [what for _, what in script.check_file(path, guarded(path, text), FILES)]


@pytest.mark.parametrize("path, line", [
    ("src/job/a.cpp", '#include "device/device.h"'),
    ("src/device/find_here.cpp", '#include "placement/dispatcher.h"'),
    ("src/cipher/a.cpp", '#include "device/cuda/driver.h"'),
    ("src/device/opencl/a.cpp", '#include "device/cuda/driver.h"'),
    ("src/device/host/a.cpp", "#include <cuda.h>"),
    ("src/device/cuda/a.cpp", "#include <CL/cl.h>"),
    ("src/device/opencl/a.cpp", '#include "device/gl/loader.h"'),
    ("src/device/cuda/a.cpp", "#include <EGL/egl.h>"),
    ("src/cipher/a.cpp", "#include <GLES3/gl32.h>"),
    ("src/cipher/a.cpp", "#include <openssl/evp.h>"),
    ("cli/a.cpp", 'const char *value = std::getenv("NAME");'),
    ("provider/a.cpp", '#include "placement/dispatcher.h"'),
    ("provider/a.cpp", '#include "cli/keys/hex.h"'),
    ("provider/rsa/a.cpp", '#include "provider/cipher/algorithms.h"'),
    ("src/rsa/a.cpp", '#include "cipher/executor.h"'),
    ("cli/a.cpp", '#include "libcrypto/forward.h"'),
    ("cli/a.cpp", '#include "job/status.h"'),
    ("examples/c/a.c", '#include "job/status.h"'),
    ("cli/a.cpp", '#include "bench/load/data.h"'),
    ("cli/crypt/a.cpp", '#include "bench/load/data.h"'),
    ("cli/io/a.cpp", '#include "bench/load/data.h"'),
    ("cli/keys/a.cpp", '#include "cli/io/input.h"'),
    ("bench/load/a.cpp", '#include "cli/keys/hex.h"'),
    ("bench/load/a.cpp", '#include "bench/rsa/batch.h"'),
    ("bench/rsa/a.cpp", '#include "job/status.h"'),
    ("bench/papers/a.cpp", '#include "device/gl/loader.h"'),
    ("bench/a.cpp", '#include "cli/keys/hex.h"'),
    ("bench/a.cpp", '#include "provider/settings.h"'),
    ("kernels/a.h", '#include "job/status.h"'),
    ("kernels/a.h", "FN void f(__local u32 *p);"),
    ("kernels/a.h", "u32 thread = threadIdx.x;"),
    ("kernels/a.h", "#ifdef __CUDACC__"),
    ("src/device/host/a.cpp", "#if defined(__OPENCL_VERSION__)"),
])
def test_a_breach_is_found(check, path, line):
    assert len(check(path, LICENCE + line + "\n")) == 1


def test_guards(script):
    def faults(path, text):
        return len(list(script.check_file(path, LICENCE + text, FILES)))
    assert faults("src/job/a.h", "int a;\n") == 1
    assert faults("src/job/a.h", "#pragma once\n") == 0
    assert faults("kernels/a.h", "#ifndef A_H\n#define A_H\n") == 0
    assert faults("kernels/a.inc", "#pragma once\n") == 1
    assert faults("kernels/a.inc", "int a;\n") == 0


@pytest.mark.parametrize("path, line", [
    ("src/launch/a.cpp", '#include "device/device.h"'),
    ("src/job/a.cpp", '#include "secure/key_memory.h"'),
    ("src/device/cuda/a.cpp", '#include "device/cuda/driver.h"'),
    ("src/device/opencl/a.cpp", "#include <CL/cl.h>"),
    ("src/device/gl/a.h", "#include <EGL/egl.h>"),
    ("provider/a.cpp", '#include "libcrypto/forward.h"'),
    ("provider/a.cpp", '#include "settings.h"'),
    ("cli/a.cpp", '#include "lanecrypt/lanecrypt.h"'),
    ("examples/c/a.c", "#include <openssl/pem.h>"),
    ("cli/a.cpp", '#include "cli/keys/hex.h"'),
    ("cli/crypt/a.cpp", '#include "cli/io/input.h"'),
    ("cli/keys/a.cpp", '#include "hex.h"'),
    ("bench/a.cpp", '#include "bench/rsa/batch.h"'),
    ("bench/a.cpp", '#include "job/status.h"'),
    ("bench/papers/a.cpp", '#include "bench/rsa/batch.h"'),
    ("bench/papers/a.cpp", '#include "cli/crypt/pipeline.h"'),
    ("bench/papers/gl2007/a.cpp", '#include "device/gl/loader.h"'),
    ("kernels/a.h", '#include "platform.h"'),
    ("kernels/a.h", "// once __local, now SHARED"),
    ("kernels/platform.h", "#ifdef __CUDACC__"),
    ("cli/a.cpp", 'const char *value = secure_getenv("NAME");'),
])
def test_what_is_right_passes(check, path, line):
    assert check(path, LICENCE + line + "\n") == []


@pytest.mark.parametrize("path, line", [
    ("src/a.cpp", "int add(dl_phdr_info *, size_t, void *) { return 0; }\nint n = dl_iterate_phdr(add, &all);"),
    ("src/a.cpp", "const auto add = [](dl_phdr_info *, size_t, void *) { return 0; };\ndl_iterate_phdr(\n    add, &all);"),
    ("provider/a.cpp", "int take(const OSSL_PARAM p[], void *) { return 1; }\nEVP_PKEY_export(key, kPair, take, this);"),
    ("provider/a.cpp", "OSSL_PROVIDER_do_all(library, note, nullptr);"),
    ("cli/a.cpp", "qsort(all, count, sizeof *all, compare);"),
    ("provider/a.cpp", "    {OSSL_FUNC_KEYMGMT_HAS, reinterpret_cast<Function>(has)},"),
    ("provider/a.cpp", "    {OSSL_FUNC_KEYMGMT_HAS,\n     reinterpret_cast<Function>(has<kType>)},"),
])
def test_a_function_that_c_calls_may_not_throw(check, path, line):
    assert len(check(path, LICENCE + line + "\n")) == 1


@pytest.mark.parametrize("path, line", [
    ("src/a.cpp", "int add(dl_phdr_info *, size_t, void *) noexcept { return 0; }\nint n = dl_iterate_phdr(add, &all);"),
    ("src/a.cpp", "const auto add = [](dl_phdr_info *, size_t, void *) noexcept { return 0; };\ndl_iterate_phdr(add, 0);"),
    ("provider/a.cpp", "EVP_PKEY_export(key, kPair, called_from_c<take<1>>, this);"),
    ("provider/a.cpp", "int f(OSSL_CALLBACK *callback, void *a) { return EVP_PKEY_export(key, kPair, callback, a); }"),
    ("provider/a.cpp", "EVP_PKEY_CTX_set_cb(context, nullptr);"),
    ("provider/a.cpp", "    {OSSL_FUNC_KEYMGMT_HAS, reinterpret_cast<Function>(called_from_c<has>)},"),
    ("service/a.cpp", "auto f = reinterpret_cast<Function>(dlsym(handle, name));"),
    ("tests/a.cpp", "dl_iterate_phdr(count, &n);"),
])
def test_a_function_that_cannot_throw_passes(check, path, line):
    assert check(path, LICENCE + line + "\n") == []


@pytest.mark.parametrize("command, is_right", [
    ("python3 -m pip install numpy==2.4.6", False),
    ('"$tools/bin/python" -m pip --quiet install \\\n  --only-binary :all: numpy', False),
    ('"${pip[@]}" install scikit-build-core', False),
    ('"${pip[@]}" wheel --no-deps .', False),
    ("pip3 download ray", False),
    ("cargo build --release", False),
    ('"$cargo" metadata --format-version 1', False),
    ("pip install --require-hashes -r dev/requirements/nvcc.txt", True),
    ('"${pip[@]}" install --quiet \\\n  --require-hashes -r dev/requirements/zig.txt', True),
    ('"${pip[@]}" wheel --no-index .', True),
    ("cargo metadata --locked --format-version 1", True),
    ("# pip install lanecrypt", True),
])
def test_what_fetches_checks_what_comes(check, command, is_right):
    text = f"#!/usr/bin/env bash\n# SPDX-License-Identifier: Apache-2.0\n{command}\n"
    assert len(check("dev/a", text)) == (0 if is_right else 1)


def test_form(check):
    assert check("src/job/a.cpp", "int a;\n") == ["has no line SPDX-License-Identifier: Apache-2.0"]
    # Length alone is no breach.
    assert check("src/job/a.cpp", LICENCE + "\n" * 1000) == []
    assert len(check("docs/a.md", "see /home/" + "someone/lanecrypt\n")) == 1
    assert len(check("src/job/a.cpp", LICENCE + "#include \"/work" + "/a.cpp\"\n")) == 1
    assert check("docs/a.md", "see /usr/lib and ~/.cache, $HOME/work/x\n") == []


@pytest.mark.parametrize("path, text", [
    ("v.o", None), ("unit_asan", None), ("src/job/a.cpp", None), ("docs/plots/a.png", None),
    ("v.cxx", '#include "cli/keys/der.cpp"\n'), ("a.cpp.orig", ""), ("notes", "later\n"), (".envrc", ""),
])
def test_what_a_compiler_or_an_editor_leaves_is_found(script, path, text):
    assert len(list(script.check_kind(path, text))) == 1


@pytest.mark.parametrize("path, text", [
    ("src/job/a.cpp", ""), ("LICENSE", "Apache"), ("dev/a", "#!/bin/bash\n"), (".gitignore", ""),
    ("docs/a.8", ""), ("bench/results/a.json", "{}"),
])
def test_kinds_that_the_project_has_pass(script, path, text):
    assert list(script.check_kind(path, text)) == []


def test_arrows_point_down(script):
    assert list(script.check_arrows(script.MAY_INCLUDE)) == []
    assert len(list(script.check_arrows({"low": ["high"], "high": ["low"]}))) == 1
    assert list(script.check_arrows({"low": ["high/one.h"], "high": ["low"]})) == []


def test_long_functions_are_told(script):
    body = "  a();\n" * script.LONG_FUNCTION
    text = f"int declared(\n    int a);\n\nint f(int a,\n      int b) {{\n{body}}}\n\nint g() {{\n  b();\n}}\n"
    assert [first for first, _ in script.long_functions(text)] == ["int f(int a,"]
