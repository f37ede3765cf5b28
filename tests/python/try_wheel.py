# SPDX-License-Identifier: Apache-2.0
"""Uses an installed package as a user would, with only Python available. dev/wheel and
test_wheel.py run this in an empty environment."""

import asyncio
import pathlib
import subprocess
import sys
import sysconfig

import lanecrypt

folder = pathlib.Path(lanecrypt.__file__).parent
assert folder.parent == pathlib.Path(sysconfig.get_path("platlib")), folder

# A wheel may contain extension modules for several versions. The one with the stable ABI is for
# 3.12 and later. Earlier versions do not load it.
module = pathlib.Path(lanecrypt._core.__file__).name
assert (module == "_core.abi3.so") == (sys.version_info >= (3, 12)), module

# RFC 8439, 2.8.2: the tag of its example.
text = (b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        b"sunscreen would be it.")
sealed = lanecrypt.ChaCha20Poly1305(bytes(range(0x80, 0xA0))).encrypt(
    bytes.fromhex("070000004041424344454647"), text, bytes.fromhex("50515253c0c1c2c3c4c5c6c7"))
assert sealed[-16:].hex() == "1ae10b594f09e26a7e902ecbd0600691", sealed.hex()

aead, nonce = lanecrypt.AESGCM(lanecrypt.AESGCM.generate_key(256)), bytes(12)
sealed = aead.encrypt(nonce, text, b"aad")
assert aead.decrypt(nonce, sealed, b"aad") == text
try:
    aead.decrypt(nonce, sealed, b"other")
except lanecrypt.InvalidTag:
    pass
else:
    raise SystemExit("a wrong tag was taken")


async def job():
    return await aead.submit_encrypt(nonce, bytes(1 << 20))


assert asyncio.run(job()) == aead.encrypt(nonce, bytes(1 << 20))
assert lanecrypt.rsa.sign_many(lanecrypt.rsa.generate(2048)[0], [b"message"])[0]
assert lanecrypt.Context(devices="none").counters()["cpu"].jobs == 0

# The process has loaded only the library in the package.
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "liblanecrypt" in line}
assert loaded == {str((folder / "lib" / "liblanecrypt.so.0").resolve())}, loaded

# The command, and the provider in an openssl that the command starts.
done = subprocess.run([sys.executable, "-m", "lanecrypt", "enc", "-aes-256-ctr", "-K", "00" * 32, "-iv",
                       "00" * 16], input=text, capture_output=True, timeout=120)
assert done.returncode == 0, done.stderr
assert done.stdout == lanecrypt.Cipher("aes-ctr", bytes(32)).encrypt(bytes(16), text), done.stdout
assert str(folder / "lib" / "gpu.so") in lanecrypt.openssl_conf()
for name in ("lib/gpu.so", "lib/lanecrypt/lanecrypt-probe", "bin/lanecryptd", "py.typed", "_core.pyi"):
    assert (folder / name).exists(), name

print(f"Python {sys.version.split()[0]}, {module}: lanecrypt {lanecrypt.__version__} works")
