# SPDX-License-Identifier: Apache-2.0
"""A program that signs and verifies messages with libcrypto's functions of OpenSSL 3.4 and
later, which the `openssl` program does not call with pieces of a message.

    libcrypto_messages.py LIBCRYPTO KEY ALGORITHM

KEY is a file with a private key, or with a public one if its name contains "public". ALGORITHM
is the signature's name. Reads a list of calls as JSON, each [function, context, argument ...],
and prints their results as a JSON list. Bytes are in hex, a context is a name. It loads no
module that brings another libcrypto.
"""

import ctypes
import json
import sys


class Messages:
    def __init__(self, libcrypto, key, algorithm):
        self.library = ctypes.CDLL(libcrypto)
        self.contexts = {}
        file = self.pointer("BIO_new_file", key.encode(), b"r")
        read = "PEM_read_bio_PUBKEY" if "public" in key else "PEM_read_bio_PrivateKey"
        self.key = self.pointer(read, file, None, None, None)
        self.algorithm = self.pointer("EVP_SIGNATURE_fetch", None, algorithm.encode(), None)

    def pointer(self, function, *arguments):
        """Returns the pointer that `function` returned. The object is never freed."""
        call = getattr(self.library, function)
        call.restype = ctypes.c_void_p
        made = ctypes.c_void_p(call(*arguments))
        assert made.value is not None, function
        return made

    def begin(self, function, name, options):
        self.contexts[name] = self.pointer("EVP_PKEY_CTX_new_from_pkey", None, self.key, None)
        done = [getattr(self.library, function)(self.contexts[name], self.algorithm, None)]
        for option, value in options.items():
            done.append(self.library.EVP_PKEY_CTX_ctrl_str(self.contexts[name], option.encode(),
                                                           value.encode()))
        return done

    def sign_message_init(self, name, options):
        return self.begin("EVP_PKEY_sign_message_init", name, options)

    def verify_message_init(self, name, options):
        return self.begin("EVP_PKEY_verify_message_init", name, options)

    def dup(self, name, copy):
        self.contexts[copy] = self.pointer("EVP_PKEY_CTX_dup", self.contexts[name])

    def with_bytes(self, function, name, data):
        data = bytes.fromhex(data)
        return function(self.contexts[name], data, ctypes.c_size_t(len(data)))

    def sign_message_update(self, name, data):
        return self.with_bytes(self.library.EVP_PKEY_sign_message_update, name, data)

    def verify_message_update(self, name, data):
        return self.with_bytes(self.library.EVP_PKEY_verify_message_update, name, data)

    def set_signature(self, name, signature):
        return self.with_bytes(self.library.EVP_PKEY_CTX_set_signature, name, signature)

    def signature(self, function, name, room, *message):
        """Returns the result, and the signature, or its length if `room` is None."""
        signature = None if room is None else ctypes.create_string_buffer(room)
        size = ctypes.c_size_t(room or 0)
        done = function(self.contexts[name], signature, ctypes.byref(size), *message)
        if done != 1:
            return [done, None]
        return [done, size.value if room is None else signature.raw[:size.value].hex()]

    def sign_message_final(self, name, room):
        return self.signature(self.library.EVP_PKEY_sign_message_final, name, room)

    def sign(self, name, room, message):
        message = bytes.fromhex(message)
        return self.signature(self.library.EVP_PKEY_sign, name, room, message,
                              ctypes.c_size_t(len(message)))

    def verify_message_final(self, name):
        return self.library.EVP_PKEY_verify_message_final(self.contexts[name])

    def verify(self, name, signature, message):
        signature, message = bytes.fromhex(signature), bytes.fromhex(message)
        return self.library.EVP_PKEY_verify(
            self.contexts[name], signature, ctypes.c_size_t(len(signature)), message,
            ctypes.c_size_t(len(message)))


if __name__ == "__main__":
    messages = Messages(*sys.argv[1:])
    print(json.dumps([getattr(messages, call)(*arguments)
                      for call, *arguments in json.load(sys.stdin)]))
