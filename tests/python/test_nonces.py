# SPDX-License-Identifier: Apache-2.0
"""No code that the project shows uses a nonce twice: the snippets of the pages, the examples of
docstrings and the scripts of examples/python. Each runs twice in one interpreter, with every
function that it defines called twice, because users copy such code and call it often."""

import ast
import asyncio
import inspect
import os
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import types

import pytest

import lanecrypt
import lanecrypt.ray
from conftest import framework
from nonces import record
from test_docs import has_cuda
from test_examples import has_module

ROOT = pathlib.Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md"), *ROOT.glob("python/*.md")])
PAGES = [page for page in PAGES if "lab" not in page.parts]


@pytest.fixture
def nonces(monkeypatch):
    return record(monkeypatch, has_cuda())


class Columns:
    """Stands for a Ray dataset: one actor for each map, and two batches for each actor."""

    def map_batches(self, kind, *, fn_constructor_kwargs, **_):
        for n in range(2):
            actor = kind(**fn_constructor_kwargs)
            for text in (b"one", b"two"):
                actor({name: [text + b"%d" % n] * 3 for name in fn_constructor_kwargs["columns"]})
        return self


def snippets(page):
    """Returns the Python code of a page: in fences, or the indented code if the page has no
    fences."""
    text = page.read_text()
    found = re.findall(r"^```py(?:thon)?\n(.*?)^```", text, re.M | re.S)
    if not found and page.parent.name == "python":
        found = [inspect.cleandoc(block) for block in re.findall(r"(?:^    .*\n)+", text, re.M)]
    return found


def docstrings():
    """Yields the examples in docstrings: indented Python code that calls something."""
    seen = set()
    for module in (lanecrypt, lanecrypt.rsa, lanecrypt.ray):
        yield inspect.getdoc(module)
        for name in module.__all__:
            value = getattr(module, name)
            yield inspect.getdoc(value)
            if isinstance(value, type) and value not in seen:
                seen.add(value)
                for function in vars(value).values():
                    yield inspect.getdoc(function) if callable(function) else None


def examples_of(documentation):
    for block in re.findall(r"(?:^    .*\n?|^\n)+", documentation or "", re.M):
        code = inspect.cleandoc(block)
        try:
            tree = ast.parse(code)
        except SyntaxError:
            continue
        if any(isinstance(node, (ast.Call, ast.ClassDef)) for node in ast.walk(tree)):
            yield code


def adapted(code):
    """Returns the code adapted to a machine without a GPU, and without PyTorch if that is
    missing."""
    if not has_cuda():
        code = code.replace('device="cuda"', 'device="cpu"').replace(".cuda()", "")
        code = code.replace(", pin_memory=True", "")
    if not has_module("torch"):
        code = code.replace(" torch,", "")
        code = re.sub(r"torch\.randn\((.*?), device=.*?\)", r"__import__('numpy').ones((\1), 'f4')",
                      code)
        code = re.sub(r"(?s)\ntorch\.save.*", "\n", code)
        if "torch" in code:
            return ""
    return re.sub(r"(4096|1000), (4096|65536)", r"\1, 256", code)


def call_each_twice(names, before, filename):
    """Calls every function that the code defined, with different data each time. The caller
    tests the methods of classes."""
    for name, value in list(names.items()):
        if before.get(name) is value:
            continue
        if isinstance(value, types.FunctionType) and value.__code__.co_filename == filename:
            wanted = [parameter for parameter in inspect.signature(value).parameters.values()
                      if parameter.default is parameter.empty]
            for text in (b"the first", b"the second"):
                result = value(*[text] * len(wanted))
                if inspect.isawaitable(result):
                    asyncio.run(as_coroutine(result))


async def as_coroutine(awaitable):
    return await awaitable


def run_twice(code, names, filename="<a snippet>"):
    for _ in range(2):
        before = dict(names)
        exec(compile(code, filename, "exec"), names)
        call_each_twice(names, before, filename)


@pytest.fixture
def no_graphs(monkeypatch):
    """PyTorch without a GPU cannot capture graphs, so a stand-in that does nothing replaces
    them."""
    if has_module("torch") and not has_cuda():
        import contextlib

        import torch

        monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: types.SimpleNamespace(replay=int))
        monkeypatch.setattr(torch.cuda, "graph", contextlib.nullcontext)
        monkeypatch.setattr(torch.cuda, "synchronize", int)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets_of_pages(page, nonces, no_graphs, tmp_path, monkeypatch):
    found = snippets(page)
    if not found:
        pytest.skip("the page has no Python")
    pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    names = {"tensor": bytes(1000)}
    # Each snippet runs twice, and then the whole page again.
    for _ in range(2):
        for code in found:
            if "import ray" in code or ", ray" in code:
                # It needs Ray itself. The code below tests the snippets that encrypt with it.
                assert "Encrypt" not in code and "encrypt" not in code
                continue
            run_twice(adapted(code), names)
    nonces.check()
    assert len(nonces) >= (20 if page.name == "python.md" else 2 if page.parent.name == "python" else 0)


def test_examples_of_docstrings(nonces, tmp_path, monkeypatch):
    monkeypatch.setenv("LANECRYPT_KEYS", str(tmp_path))
    for name in ("orders", "images-2026"):
        (tmp_path / name).write_bytes(os.urandom(32))
    pytest.importorskip("numpy")
    names = {"lanecrypt": lanecrypt, "dataset": Columns(), **vars(lanecrypt)}
    examples = [code for text in docstrings() for code in examples_of(text)]
    assert len(examples) >= 3
    for code in examples:
        run_twice(code, names)
    nonces.check()
    assert len(nonces) >= 24


# ---- examples/python ----


def use_cache(names):
    torch = framework("torch")
    for n in range(2):
        blocks = torch.randn(3, 100)
        hashes = [b"block %d of %d" % (block, n) for block in range(3)]
        names["host"].put(hashes, blocks)
        into = torch.zeros_like(blocks)
        assert names["host"].get(hashes, into) == () and torch.equal(blocks, into)


def use_checkpoint(names):
    torch, dcp = framework("torch"), names["dcp"]
    key = os.urandom(32)
    for n in range(2):
        state = {"model": {"weight": torch.randn(10)}, "step": n}
        dcp.save(state, storage_writer=names["Writer"](pathlib.Path(f"step-{n}"), "run", key))


# USES calls what a script defines besides functions without parameters.
USES = {"kv_cache": use_cache, "checkpoint": use_checkpoint, "tensor": lambda names: None}


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "python").glob("*.py")),
                         ids=lambda path: path.stem)
def test_scripts(path, nonces, tmp_path, monkeypatch):
    framework("torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if path.stem == "checkpoint" and not has_module("torch.distributed.checkpoint"):
        import early_checkpoint
        for name, module in early_checkpoint.public_modules().items():
            monkeypatch.setitem(sys.modules, name, module)
    for _ in range(2):
        names = runpy.run_path(str(path), run_name="__main__")
        with monkeypatch.context() as patch:  # for pickle
            patch.setitem(sys.modules, "__main__", types.SimpleNamespace(**names))
            USES[path.stem](names)
    nonces.check()
    assert len(nonces) >= 2


def test_the_cache_counts(nonces):
    """Random nonces would soon be too many under the cache's key: 2^32 blocks take minutes on a
    GPU."""
    framework("torch")
    names = runpy.run_path(str(ROOT / "examples" / "python" / "kv_cache.py"))
    use_cache(names)
    (used,) = nonces.single.values()
    assert [int.from_bytes(nonce, "big") for nonce in used] == list(range(len(used)))


def test_a_child_does_not_count_on():
    """A child has the same key and the same count, so it must not continue counting."""
    framework("torch")
    script = f"""if True:
        import os, runpy, torch
        host = runpy.run_path({str(ROOT / "examples" / "python" / "kv_cache.py")!r})["host"]
        if os.fork() == 0:
            try:
                host.put([b"name"], torch.zeros(1, 100))
            except RuntimeError:
                os._exit(0)
            os._exit(1)
        assert os.wait()[1] == 0"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
