# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/python.md, unchanged."""

import os
import pathlib
import re

import pytest

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def has_cuda():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def examples():
    return re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(), re.M | re.S)


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    numpy = pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    first, *rest = examples()
    names = {}
    if not has_cuda():
        first = first.replace('device="cuda"', 'device="cpu"').replace(".cuda()", "")
    try:
        import torch  # noqa: F401
    except ImportError:
        # Without PyTorch the rest of the page runs with a nonce in place of what its first example
        # makes.
        first = re.sub(r"(?s)^weights.*", "nonce = os.urandom(12)", first.replace(" torch,", ""),
                       flags=re.M)
    exec(first, names)
    for text in rest:
        if ("CUDAGraph" in text or "pin_memory" in text) and not has_cuda():
            continue
        exec(text.replace("(1000, 65536)", "(1000, 256)"), names)
    assert capsys.readouterr().out == "4\n"
    assert not numpy.asarray(names["blocks"]).any()


def test_the_names_are_there():
    import lanecrypt
    import lanecrypt.ray  # noqa: F401  the package does not import it by itself
    for name in re.findall(r"`(?:lanecrypt\.)?([A-Za-z]\w+)[`(]", DOCUMENT.read_text()):
        known = (hasattr(lanecrypt, name) or hasattr(lanecrypt.rsa, name)
                 or any(hasattr(getattr(lanecrypt, kind), name)
                        for kind in ("AESGCM", "Cipher", "Job", "Context", "KeyProvider"))
                 or name in ("await", "repr", "bytes", "bytearray", "failed", "results",
                             "RuntimeError", "ValueError", "libcrypto", "lanecrypt", "help",
                             "result"))
        assert known, name


def test_dir_has_the_public_names():
    import lanecrypt
    import lanecrypt.ray
    for module in (lanecrypt, lanecrypt.rsa, lanecrypt.ray):
        assert dir(module) == sorted(module.__all__) and len(dir(module)) == len(set(dir(module)))
        assert all(getattr(module, name) is not None for name in dir(module))
    assert {"AESGCM", "InvalidTag", "KeyFile", "ray", "rsa"} <= set(dir(lanecrypt))


def test_every_public_name_has_documentation():
    import lanecrypt
    for name in lanecrypt.__all__:
        value = getattr(lanecrypt, name)
        if name == "InvalidTag":
            continue  # pyca's class
        assert value.__doc__, name
        if isinstance(value, type) and value.__module__.startswith("lanecrypt"):
            for method, function in vars(value).items():
                if not method.startswith("_") and callable(function):
                    assert function.__doc__, f"{name}.{method}"
    assert os.path.exists(os.path.join(os.path.dirname(lanecrypt.__file__), "py.typed"))
