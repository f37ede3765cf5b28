# SPDX-License-Identifier: Apache-2.0
"""RSA in bulk: signatures, decryption, new keys, and the formats of keys."""

import os
import hashlib
import pickle
import subprocess
import shutil

import pytest

import lanecrypt
from lanecrypt import rsa
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, utils
from cryptography.hazmat.primitives.asymmetric import rsa as pyca
from conftest import run_script

HASHES = {"sha1": hashes.SHA1, "sha224": hashes.SHA224, "sha256": hashes.SHA256,
          "sha384": hashes.SHA384, "sha512": hashes.SHA512, "sha3_256": hashes.SHA3_256}


@pytest.fixture(scope="module")
def keys():
    return {bits: pyca.generate_private_key(65537, bits) for bits in (1024, 1025, 2048, 2049)}


def encoded(key, form="PKCS8", encoding="PEM", encryption=serialization.NoEncryption()):
    return key.private_bytes(getattr(serialization.Encoding, encoding),
                             getattr(serialization.PrivateFormat, form), encryption)


@pytest.mark.parametrize("bits", [1024, 1025, 2048, 2049])
@pytest.mark.parametrize("hash", ["sha1", "sha256", "sha384", "sha3_256"])
def test_signatures(context, keys, bits, hash):
    key, public = rsa.PrivateKey(keys[bits]), keys[bits].public_key()
    messages = [os.urandom(n) for n in (0, 1, 1000)]
    signatures = rsa.sign_many(key, messages, hash=hash, context=context)
    assert signatures == [keys[bits].sign(message, padding.PKCS1v15(), HASHES[hash]())
                          for message in messages]
    for salt_length in (None, 0, 11):
        made = rsa.sign_many(key, messages, padding="pss", hash=hash, salt_length=salt_length,
                             context=context)
        for message, signature in zip(messages, made):
            size = HASHES[hash].digest_size if salt_length is None else salt_length
            public.verify(signature, message,
                          padding.PSS(padding.MGF1(HASHES[hash]()), size), HASHES[hash]())


def test_prehashed(cpu, keys):
    message = b"text"
    digest = hashes.Hash(hashes.SHA256())
    digest.update(message)
    assert rsa.sign_many(keys[1024], [digest.finalize()], prehashed=True, context=cpu) == \
        rsa.sign_many(keys[1024], [message], context=cpu)
    with pytest.raises(ValueError, match="32 bytes"):
        rsa.sign_many(keys[1024], [bytes(20)], prehashed=True, context=cpu)
    # bytes(32) would be 32 zeros. A space in place of a list has the element 32 too.
    for wrong in ([32], b" "):
        with pytest.raises(TypeError, match="bytes-like"):
            rsa.sign_many(keys[1024], wrong, prehashed=True, context=cpu)


def test_the_emulator_did_it(host, work, keys):
    rsa.sign_many(keys[1024], [b"a", b"b", b"c"], context=host)
    assert work.of("host:0", "operations") == 3 and work.of("cpu", "operations") <= 1


@pytest.mark.parametrize("hash, mgf", [("sha1", "sha1"), ("sha256", "sha256"),
                                       ("sha256", "sha1")])
def test_decryption(context, keys, hash, mgf):
    how = padding.OAEP(padding.MGF1(HASHES[mgf]()), HASHES[hash](), b"label")
    for bits in (1024, 2049):
        public = keys[bits].public_key()
        texts = [b"", b"\0", b"\1", b"text", bytes(40)]
        sealed = [public.encrypt(text, how) for text in texts]
        assert rsa.decrypt_many(keys[bits], sealed, hash=hash, mgf_hash=mgf, label=b"label",
                                context=context) == texts


def test_wrong_ciphertexts(context, keys):
    how = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
    public = keys[1024].public_key()
    other = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), b"other")
    sealed = [public.encrypt(b"a", how), public.encrypt(b"a", other),
              public.encrypt(b"a", padding.PKCS1v15()), bytes(128), public.encrypt(b"b", how),
              bytes(127), bytes(129), b"\xff" * 128, b"", public.encrypt(b"c", how)]
    with pytest.raises(rsa.DecryptionError, match="^Decryption failed$") as caught:
        rsa.decrypt_many(keys[1024], sealed, context=context)
    assert caught.value.failed == (1, 2, 3, 5, 6, 7, 8)
    assert caught.value.results == [b"a", None, None, None, b"b", None, None, None, None, b"c"]
    number = keys[1024].private_numbers().public_numbers.n
    for wrong in (number, number + 1):
        with pytest.raises(rsa.DecryptionError):
            rsa.decrypt_many(keys[1024], [wrong.to_bytes(128, "big")], context=context)
    with pytest.raises(TypeError):
        rsa.decrypt_many(keys[1024], ["text"], context=context)


def test_every_way_an_encoded_message_can_be_wrong():
    """RFC 8017, 7.1.2, step 3g."""
    hashed = bytes(range(20))
    good = hashed + bytes(5) + b"\1text"
    check = lanecrypt._core.oaep_message
    assert check(0, good, hashed) == b"text"
    assert check(0, hashed + b"\1", hashed) == b""
    assert check(0, hashed + b"\1\0\1\0", hashed) == b"\0\1\0"
    for first, block in ((1, good), (0, b"\1" + good[1:]), (0, hashed + bytes(10)), (0, hashed),
                         (0, hashed + b"\0\2\1text"), (0, hashed + b"\xff\1"), (0, b""),
                         (0, hashed + b"\x80\1text")):
        assert check(first, block, hashed) is None


def test_jobs(context, keys):
    messages = [b"a", b"b"]
    assert rsa.submit_sign_many(keys[1024], messages, context=context).result() == \
        rsa.sign_many(keys[1024], messages, context=context)
    sealed = keys[1024].public_key().encrypt(
        b"text", padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None))
    assert rsa.submit_decrypt_many(keys[1024], [sealed], context=context).result() == [b"text"]
    job = rsa.submit_decrypt_many(keys[1024], [bytes(128)], context=context)
    for _ in range(2):
        with pytest.raises(rsa.DecryptionError):
            job.result()


def test_none_at_all(context, keys):
    assert rsa.sign_many(keys[1024], [], context=context) == []
    assert rsa.decrypt_many(keys[1024], [], context=context) == []


@pytest.mark.parametrize("words", [
    {"padding": "none"}, {"hash": "md5"}, {"hash": "sha512", "padding": "pss", "salt_length": 999},
    {"salt_length": 5}, {"padding": "pss", "salt_length": -1}, {"hash": None},
])
def test_wrong_arguments(cpu, keys, words):
    with pytest.raises(ValueError):
        rsa.sign_many(keys[1024], [b"a"], context=cpu, **words)


@pytest.mark.parametrize("name", ["sha3-256", "sha3-384", "sha3-512"])
def test_both_spellings_of_a_hash(cpu, name):
    key = rsa.PrivateKey(rsa.generate(2048, context=cpu)[0])
    other = name.replace("-", "_")
    assert rsa.sign_many(key, [b"text"], hash=name) == rsa.sign_many(key, [b"text"], hash=other)
    digest = lanecrypt.hash_many(other, [b"text"])
    assert digest == lanecrypt.hash_many(name, [b"text"]) == [getattr(hashlib, other)(b"text").digest()]
    assert rsa.sign_many(key, digest, hash=name, prehashed=True) == rsa.sign_many(key, [b"text"], hash=other)
    for hash, mgf_hash in ((name, other), (other, name)):
        with pytest.raises(rsa.DecryptionError):
            rsa.decrypt_many(key, [bytes(256)], hash=hash, mgf_hash=mgf_hash)


def test_what_has_a_key_file_can_be_pickled(cpu, tmp_path):
    (tmp_path / "key").write_bytes(rsa.generate(1024, context=cpu)[0])
    key = rsa.PrivateKey(lanecrypt.KeyFile(tmp_path / "key"))
    pickled = pickle.dumps(key)
    assert len(pickled) < 300
    assert rsa.sign_many(pickle.loads(pickled), [b""]) == rsa.sign_many(key, [b""])


def test_a_key_that_is_too_short(cpu):
    key = load(cpu, rsa.generate(1024, context=cpu)[0])
    with pytest.raises(ValueError, match="too short"):
        rsa.decrypt_many(key, [], hash="sha512", context=cpu)


def load(context, key):
    return rsa.PrivateKey(key)


# ---- Keys ----


@pytest.mark.parametrize("form", ["PKCS8", "TraditionalOpenSSL"])
@pytest.mark.parametrize("encoding", ["PEM", "DER"])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_forms(cpu, keys, form, encoding, kind):
    key = rsa.PrivateKey(kind(encoded(keys[2048], form, encoding)))
    assert key.bits == 2048
    assert rsa.sign_many(key, [b"a"], context=cpu) == [
        keys[2048].sign(b"a", padding.PKCS1v15(), hashes.SHA256())]


def test_a_pem_with_text_around(keys):
    pem = encoded(keys[1024])
    assert rsa.PrivateKey(b"a comment\n" + pem + b"\nanother\n").bits == 1024
    assert rsa.PrivateKey(pem.replace(b"\n", b"\r\n")).bits == 1024


def test_a_provider_of_a_key(keys):
    class Provider(lanecrypt.KeyProvider):
        given = bytearray(encoded(keys[1024]))

        def get_key(self):
            return self.given

    assert rsa.PrivateKey(Provider()).bits == 1024
    assert not any(Provider.given)


def test_encrypted_keys_say_so(keys):
    for form in ("PKCS8", "TraditionalOpenSSL"):
        pem = encoded(keys[1024], form, "PEM", serialization.BestAvailableEncryption(b"pw"))
        with pytest.raises(ValueError, match="encrypted"):
            rsa.PrivateKey(pem)


def test_broken_keys(keys):
    """After any truncation or change, loading fails or gives another valid key."""
    der = encoded(keys[1024], "PKCS8", "DER")
    for length in range(len(der)):
        with pytest.raises(ValueError):
            rsa.PrivateKey(der[:length])
    with pytest.raises(ValueError):
        rsa.PrivateKey(der + b"\0")
    for at in range(0, 60):
        changed = bytearray(der)
        changed[at] ^= 0xFF
        with pytest.raises(ValueError):
            rsa.PrivateKey(changed)
    pem = encoded(keys[1024])
    for wrong in (b"", b"-", pem[:-30], pem.replace(b"M", b"*", 1), b"\x30", b"\x30\x84" + b"\xff" * 4,
                  b"-----BEGIN PRIVATE KEY----------END PRIVATE KEY-----"):
        with pytest.raises(ValueError):
            rsa.PrivateKey(wrong)
    for wrong in (None, 5, "text", object()):
        with pytest.raises(TypeError):
            rsa.PrivateKey(wrong)


def test_other_kinds_of_keys():
    from cryptography.hazmat.primitives.asymmetric import ec
    with pytest.raises(ValueError, match="no RSA private key"):
        rsa.PrivateKey(ec.generate_private_key(ec.SECP256R1()))
    public = pyca.generate_private_key(65537, 1024).public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    with pytest.raises(ValueError, match="no PEM"):
        rsa.PrivateKey(public)


def test_keys_stay_inside(keys):
    key = rsa.PrivateKey(keys[1024])
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(key)
    assert "1024 bits" in repr(key)


# ---- New keys ----


def test_generation(context):
    made = rsa.generate(1024, 2, context=context)
    assert len(set(made)) == 2
    for pem in made:
        key = serialization.load_pem_private_key(pem, None)
        assert key.key_size == 1024 and key.public_key().public_numbers().e == 65537
        assert pem == encoded(key)
    der = rsa.generate(1024, format="der", exponent=65539, context=context)[0]
    key = serialization.load_der_private_key(der, None)
    assert key.public_key().public_numbers().e == 65539 and der == encoded(key, encoding="DER")
    assert rsa.generate(1026, format="pyca", context=context)[0].key_size == 1026
    assert rsa.generate(1024, 0, context=context) == []


def test_the_emulator_searched(host, work):
    rsa.generate(1024, 2, context=host)
    assert work.of("host:0", "operations") > 0


def test_openssl_takes_them(cpu, tmp_path):
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl")
    path = tmp_path / "key.pem"
    path.write_bytes(rsa.generate(2048, context=cpu)[0])
    subprocess.run(["openssl", "rsa", "-in", path, "-check", "-noout"], check=True)


@pytest.mark.parametrize("words", [
    {"bits": 1023}, {"bits": 512}, {"bits": 1 << 20}, {"exponent": 3}, {"exponent": 65538},
    {"exponent": 0}, {"exponent": -5}, {"format": "txt"}, {"exponent": 1 << 300},
])
def test_wrong_arguments_of_generation(cpu, words):
    with pytest.raises((ValueError, lanecrypt.UnsupportedError)):
        rsa.generate(**{"bits": 1024, **words}, context=cpu)


def test_progress(cpu):
    told = []
    rsa.generate(2048, 3, progress=lambda *numbers: told.append(numbers), context=cpu)
    assert told and told == sorted(told) and len(told[0]) == 4

    def stop(*numbers):
        raise ZeroDivisionError("as it says")

    with pytest.raises(ZeroDivisionError):
        rsa.generate(4096, 50, progress=stop, context=cpu)


def test_progress_that_closes_the_context():
    """close() would wait for its own callback."""
    with lanecrypt.Context(devices="none") as context:
        with pytest.raises(RuntimeError, match="cannot be closed in a callback"):
            rsa.generate(1024, 10, progress=lambda *numbers: context.close(), context=context)
        assert not context.closed and len(rsa.generate(1024, context=context)) == 1


def test_ctrl_c_ends_it():
    done = run_script("""
        import os, signal, threading, time
        from lanecrypt import Context, rsa
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begun = time.monotonic()
        try:
            rsa.generate(8192, 100, context=Context(devices="none"))
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - begun < 60)
        """)
    assert done.stdout == "interrupted True\n", done.stderr
