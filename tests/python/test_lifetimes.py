# SPDX-License-Identifier: Apache-2.0
"""Lifetimes: contexts whose memory others hold, and what CUDA graphs refer to. A library that is
loaded in front of the package's own presents the emulator as a CUDA device, and counts calls."""

import os
import pathlib
import subprocess

import pytest

from conftest import run_script

STANDIN = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include "lanecrypt/lanecrypt.h"

int closes, frees, fails;

static void *real(const char *name) {
  return dlsym(dlopen("liblanecrypt.so.0", RTLD_LAZY | RTLD_NOLOAD), name);
}
lc_status lc_device_get(lc_context *context, uint32_t index, lc_device_info *info) {
  lc_status (*get)(lc_context *, uint32_t, lc_device_info *);
  *(void **)&get = real("lc_device_get");
  const lc_status status = get(context, index, info);
  if (strcmp(info->id, "host:0") == 0) strcpy(info->id, "cuda:0");
  return status;
}
void lc_close(lc_context *context) {
  void (*close)(lc_context *);
  *(void **)&close = real("lc_close");
  ++closes;
  close(context);
}
lc_status lc_capture(lc_context *context, const lc_cipher_job *job, const lc_graph_update *update,
                     lc_graph_job **captured) {
  *captured = (lc_graph_job *)context;
  return LC_OK;
}
lc_status lc_graph_job_free(lc_context *context, lc_graph_job *captured) {
  ++frees;
  return fails ? LC_ERROR_DEVICE : LC_OK;
}
"""

BEGIN = """if True:
    import ctypes, gc, os, lanecrypt
    def count(name):
        return ctypes.c_int.in_dll(ctypes.CDLL(None), name)
    def new():
        return lanecrypt.Context(devices="host", threshold_bytes=0, fallback="none")
    def refused(kind, text, call):
        try:
            call()
        except kind as error:
            assert text in str(error), error
        else:
            raise AssertionError(text)
    def capture(context):
        page, tags, verdict = (context.allocate("cuda:0", n) for n in (100, 16, 1))
        return lanecrypt.AESGCM(bytes(32), context=context).capture_encrypt_segments(
            lanecrypt.Segments(100, tags_inside=False), bytes(8), page, out=page, tags=tags,
            launches=1, verdict=verdict)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    folder = tmp_path_factory.mktemp("standin")
    (folder / "standin.c").write_text(STANDIN)
    subprocess.run(["gcc", "-shared", "-fPIC", "-I", pathlib.Path(__file__).parents[2] / "include",
                    "-o", folder / "standin.so", folder / "standin.c", "-ldl"], check=True)

    def run(text):
        os.environ["LD_PRELOAD"] = str(folder / "standin.so")
        try:
            assert run_script(BEGIN + text).stdout == "ok\n"
        finally:
            del os.environ["LD_PRELOAD"]
    return run


def test_memory_that_others_have(script):
    """A closed context keeps the memory as long as others hold it."""
    script("""
    for give in (lambda: memory.__dlpack__(), lambda: memory.__dlpack__(max_version=(1, 0)),
                 lambda: memory.__cuda_array_interface__ and memory):
        context, before = new(), count("closes").value
        memory = context.allocate("cuda:0", 1000)
        given = give()
        context.close()
        assert context.closed and count("closes").value == before
        refused(ValueError, "closed", context.devices)
        refused(ValueError, "closed", memory.to_bytes)
        refused(ValueError, "closed", memory.__dlpack__)
        del memory
        assert count("closes").value == before
        del given
        assert count("closes").value == before + 1
    # What nobody else has goes with its context.
    context = new()
    memory = context.allocate("cuda:0", 1000)
    context.close()
    assert count("closes").value == before + 2
    print("ok")
    """)


def test_a_graph_keeps_its_context(script):
    script("""
    capture(new())
    gc.collect()
    assert (count("closes").value, count("frees").value) == (0, 0)
    # close() lets go of it.
    capture(new()).close()
    assert (count("closes").value, count("frees").value) == (1, 1)
    # The context's own frees all.
    context = new()
    captured = capture(context)
    context.close()
    assert captured.closed and count("closes").value == 2
    captured.close()
    assert count("frees").value == 1
    print("ok")
    """)


def test_what_is_captured_and_cannot_be_freed(script):
    script("""
    captured = capture(new())
    count("fails").value = 1
    refused(lanecrypt.DeviceError, "", captured.close)
    assert not captured.closed
    child = os.fork()
    if child == 0:
        refused(RuntimeError, "forked", captured.close)
        os._exit(0 if count("frees").value == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    count("fails").value = 0
    captured.close()
    assert captured.closed and count("frees").value == 2
    captured.close()
    assert count("frees").value == 2
    print("ok")
    """)
