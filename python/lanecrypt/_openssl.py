# SPDX-License-Identifier: Apache-2.0
"""The configuration of OpenSSL that activates the provider `gpu` of this package."""

from __future__ import annotations

import os
from typing import Optional, Union

from . import _core

Setting = Union[str, int, bool]

# All settings of the provider. docs/operate.md describes them.
_SETTINGS = ("cores", "devices", "in_process", "ml_dsa", "pinned_bytes", "prefer", "prime_pool",
             "require_gpu", "rsa", "service", "service_owner", "slh_dsa", "stats_file",
             "threshold_bytes", "verify")
# Settings that no longer exist. The provider ignores them. Accepted for one release.
_REMOVED_SETTINGS = ("keystream", "keystream_after", "keystream_memory")

_TEXT = """\
# Enables Lanecrypt's provider: set OPENSSL_CONF to the name of this file.
openssl_conf = openssl_init

[openssl_init]
providers = provider_sect
alg_section = algorithm_sect

[provider_sect]
default = default_sect
gpu = gpu_sect

[default_sect]
activate = 1

[gpu_sect]
module = {module}
activate = 1
{settings}
[algorithm_sect]
default_properties = ?provider=gpu
"""


def openssl_conf(path: Union[str, "os.PathLike[str]", None] = None, *,
                 in_process: bool = False, **settings: Setting) -> str:
    """Returns the text of an OpenSSL configuration with which programs use the provider `gpu` of
    this package.

    A process reads the file that OPENSSL_CONF names when it loads libcrypto, so set that variable
    before the process starts.

    path: the text is also written to this file, which replaces an existing one.
    in_process: whether the program itself may load drivers and their threads. If not, RSA, ML-DSA
        and SLH-DSA go to the service, if there is one, and everything else runs on the CPU, which
        is also the provider's default.
    settings: the other settings of docs/operate.md, such as devices="cuda:0", cores=8,
        require_gpu=True.
    """
    lines = []
    for name, value in {"in_process": in_process, **settings}.items():
        if name not in _SETTINGS + _REMOVED_SETTINGS:
            raise ValueError(f"the provider has no setting {name!r}")
        lines.append(f"{name} = {_escaped(name, value)}\n")
    # In an editable installation, the compiled files are in another folder than this file.
    module = os.path.join(os.path.dirname(os.path.abspath(_core.__file__)), "lib", "gpu.so")
    text = _TEXT.format(module=_escaped("module", module), settings="".join(lines))
    if path is not None:
        _write(os.fsdecode(path), text)
    return text


def _escaped(name: str, value: Setting) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (str, int)):
        raise TypeError(f"{name} is a str, an int or a bool, not {type(value).__name__}")
    text = str(value)
    if any(ord(character) < 32 for character in text) or text != text.strip():
        raise ValueError(f"{name} has characters that a configuration cannot hold")
    return "".join("\\" + c if c in "\\$#'\"`" else c for c in text)


def _write(path: str, text: str) -> None:
    """Writes the file atomically: completely or not at all."""
    part = f"{path}.{os.getpid()}.part"
    file = open(part, "x", encoding="utf-8")
    try:
        with file:
            file.write(text)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
