# SPDX-License-Identifier: Apache-2.0
"""Records which nonces are used under which key, while a test runs code as a user would.

Every encryption of the package, through whatever function, gives its nonces to a CipherTask: one
for each message, those of many messages in rows, or a rule from which segments get them.
"""

from typing import NamedTuple

from lanecrypt import _captured, _core
from lanecrypt._messages import bytes_of

_NAMES = {number: name for name, number in _core.ciphers().items()}


class Rule(NamedTuple):
    """Nonces that differ only in a number, which runs from `first` to before `end`."""

    at: int
    nbytes: int
    byteorder: str
    rest: bytes
    first: int
    end: int

    @classmethod
    def of(cls, nonce, at, nbytes, byteorder, count, first=None):
        if first is None:
            first = int.from_bytes(nonce[at:at + nbytes], byteorder)
        return cls(at, nbytes, byteorder, nonce[:at] + nonce[at + nbytes:], first, first + count)

    def meets(self, other):
        return self[:4] == other[:4] and self.first < other.end and other.first < self.end

    def has(self, nonce):
        return self.meets(Rule.of(nonce, *self[:3], 1))


class Nonces:
    """The nonces that were used, for each (cipher, key)."""

    def __init__(self):
        self.single, self.rules = {}, {}

    def add(self, cipher, key, nonce, text_bytes):
        # CTR and ChaCha20 count blocks from the IV on, so a text uses a range of nonces.
        if cipher.endswith("-ctr"):
            self.add_rule(cipher, key, Rule.of(nonce, 0, 16, "big", -(-text_bytes // 16)))
        elif cipher == "chacha20":
            self.add_rule(cipher, key, Rule.of(nonce, 0, 4, "little", -(-text_bytes // 64)))
        elif not cipher.endswith("-ecb"):
            self.single.setdefault((cipher, key), []).append(nonce)

    def add_rule(self, cipher, key, rule):
        self.rules.setdefault((cipher, key), []).append(rule)

    def __len__(self):
        return sum(len(used) for all_used in (self.single, self.rules) for used in all_used.values())

    def check(self):
        """Raises AssertionError if a nonce was used twice under one key. In the nonces of
        segments few bytes are random, so a key for numbered segments may be used for no other
        text."""
        for (cipher, key), nonces in self.single.items():
            assert len(set(nonces)) == len(nonces), f"{cipher}: a nonce was used twice under one key"
            for rule in self.rules.get((cipher, key), ()):
                assert not any(rule.has(nonce) for nonce in nonces), f"{cipher}: {rule}"
        for (cipher, key), rules in self.rules.items():
            for n, rule in enumerate(rules):
                assert not any(rule.meets(other) for other in rules[:n]), (
                    f"{cipher}: numbers were used twice under one key: {rule}")
            if cipher.endswith(("-gcm", "-ccm", "-poly1305")):
                assert len(rules) == 1 and (cipher, key) not in self.single, (
                    f"{cipher}: the key of a text in segments was used for another text too")


def record(monkeypatch, has_cuda):
    """Returns the Nonces object that records from now on. Without a GPU, work for a CUDA graph
    is recorded, but not captured."""
    nonces = Nonces()

    class SecretKey(_core.SecretKey):
        def __init__(self, key, wipes=False):
            self.copy = bytes(key)
            super().__init__(key, wipes)

    class CipherTask(_core.CipherTask):
        def __init__(self, context, cipher, encrypts, key, nonce_bytes, *rest):
            super().__init__(context, cipher, encrypts, key, nonce_bytes, *rest)
            self.encrypts, self.which = encrypts, (_NAMES[cipher], key.copy)
            self.nonce_bytes, self.rule = nonce_bytes, None

        def note(self, together, text_bytes):
            together = bytes_of(together, "nonces") if self.nonce_bytes else b""
            for at in range(0, len(together), self.nonce_bytes or 1):
                if self.encrypts:
                    nonces.add(*self.which, together[at:at + self.nonce_bytes], text_bytes)

        def add(self, nonce, source, offset, length, *rest):
            self.note(nonce, length)
            super().add(nonce, source, offset, length, *rest)

        def add_rows(self, together, source, output, rows, aad):
            self.note(together, source.nbytes // max(rows, 1))
            super().add_rows(together, source, output, rows, aad)

        def set_segments(self, nonce, stride, number, *rest):
            super().set_segments(nonce, stride, number, *rest)
            if stride or number is None:
                self.note(nonce, rest[5])
            elif self.encrypts:
                at, nbytes, is_little, first = number
                self.rule = Rule.of(bytes_of(nonce, "nonce"), at, nbytes, "little" if is_little else "big",
                                    self.count, first)
                nonces.add_rule(*self.which, self.rule)

    class Captured:
        def __init__(self, task, launches, *places):
            rule = task.rule
            if rule is not None:
                nonces.rules[task.which].remove(rule)
                nonces.add_rule(*task.which, rule._replace(end=rule.first + launches * task.count))
            self.core = captured(task, launches, *places) if has_cuda else None

        def close(self):
            if self.core is not None:
                self.core.close()

    captured = _core.Captured
    monkeypatch.setattr(_core, "SecretKey", SecretKey)
    monkeypatch.setattr(_core, "CipherTask", CipherTask)
    monkeypatch.setattr(_core, "Captured", Captured)
    if not has_cuda:
        monkeypatch.setattr(_captured, "_request", lambda cipher, layout, data, first, stream:
                            _captured._Request(cipher, layout, data, first, stream, captures=True))
    return nonces
