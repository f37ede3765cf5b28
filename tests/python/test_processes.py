# SPDX-License-Identifier: Apache-2.0
"""Whole processes: the cost of an import, how processes end, and forks."""

import os
import pathlib
import subprocess
import sys
import time

import pytest

import lanecrypt
from conftest import run_script


def test_importing_touches_nothing():
    done = run_script("""
        import sys, os
        before = set(sys.modules)
        import lanecrypt
        maps = open("/proc/self/maps").read()
        for library in ("libcuda", "libOpenCL", "libEGL", "libpocl", "libLLVM"):
            assert library not in maps, library
        assert len(os.listdir("/proc/self/task")) == 1
        new = {name.partition(".")[0] for name in set(sys.modules) - before}
        for name in ("numpy", "torch", "cupy", "jax", "numba", "cryptography", "asyncio", "ssl"):
            assert name not in new, name
        print(sorted(new))
        """)
    assert "lanecrypt" in done.stdout


def test_importing_for_ray():
    """What the documents call lanecrypt.ray exists, and does not import Ray."""
    run_script("""
        import sys, lanecrypt
        assert "lanecrypt.ray" not in sys.modules
        assert lanecrypt.ray.Decrypt is sys.modules["lanecrypt.ray"].Decrypt
        assert "ray" not in sys.modules and not hasattr(lanecrypt, "rays")
        """)


def test_a_small_encryption_starts_no_device():
    run_script("""
        import lanecrypt, os
        aead = lanecrypt.AESGCM(bytes(32))
        aead.decrypt(bytes(12), aead.encrypt(bytes(12), bytes(1000)))
        assert "libcuda" not in open("/proc/self/maps").read()
        """)


def test_importing_is_fast():
    # CPU time, and the best of several runs, because other tests run at the same time.
    text = "import time; t = time.process_time(); import lanecrypt; print(time.process_time() - t)"
    times = [float(run_script(text).stdout) for _ in range(5)]
    assert min(times) < 0.05, times


def test_importing_again():
    """A program that drops the package and imports it again, as test tools and notebooks do,
    gets a working one."""
    run_script("""
        import os, sys, warnings
        warnings.simplefilter("error")
        import lanecrypt
        first, sealed = lanecrypt, lanecrypt.AESGCM(bytes(32)).encrypt(bytes(12), b"text", None)
        old = first.AESGCM(bytes(32))
        for _ in range(2):
            for name in [name for name in sys.modules if name.partition(".")[0] == "lanecrypt"]:
                del sys.modules[name]
            import lanecrypt
            assert lanecrypt is not first and lanecrypt._core is not first._core
            new = lanecrypt.AESGCM(bytes(32))
            for aead in (new, old):
                assert aead.encrypt(bytes(12), b"text", None) == sealed
                assert aead.submit_decrypt(bytes(12), sealed, None).result() == b"text"
            try:
                new.decrypt(bytes(12), bytes(20), None)
            except lanecrypt.InvalidTag:
                pass
            child = os.fork()
            if child == 0:
                os._exit(new.encrypt(bytes(12), b"text", None) != sealed)
            assert os.waitpid(child, 0)[1] == 0
        """)


ENDINGS = {
    "return": "",
    "sys.exit": "sys.exit(0)",
    "exception": "raise SystemExit(0)",
    "os._exit": "sys.stdout.flush(); os._exit(0)",
    "kept": "globals()['kept'] = job",
    "cycle": "a = [job]; a.append(a); del a, job",
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("devices", ["host", "none"])
def test_ending_amid_a_job(ending, devices):
    done = run_script(f"""
        import os, sys, lanecrypt
        context = lanecrypt.Context(devices={devices!r}, threshold_bytes=0)
        aead = lanecrypt.AESGCM(bytes(32), context=context)
        aead.encrypt(bytes(12), b"first")
        job = aead.submit_encrypt(bytes(12), bytearray(8 << 20))
        print("ends")
        {ENDINGS[ending]}
        """)
    assert done.stdout == "ends\n" and done.stderr == ""


@pytest.mark.parametrize("call", ["aead.encrypt(bytes(12), data)",
                                  "aead.submit_encrypt(bytes(12), data).result()"])
def test_ending_amid_daemon_threads(call):
    for _ in range(3):
        done = run_script(f"""
            import threading, time, lanecrypt
            context = lanecrypt.Context(devices="host", threshold_bytes=0)
            aead, data = lanecrypt.AESGCM(bytes(32), context=context), bytes(300_000)
            began = threading.Barrier(5)
            def work():
                began.wait()
                try:
                    while True:
                        {call}
                except (RuntimeError, ValueError):
                    pass  # the interpreter ends
            for _ in range(4):
                threading.Thread(target=work, daemon=True).start()
            began.wait()
            time.sleep(0.05)
            print("ends")
            """)
        assert done.stdout == "ends\n" and done.stderr == ""


def test_ctrl_c_while_waiting():
    process = subprocess.Popen(
        [sys.executable, "-c", """if True:
            import sys, lanecrypt
            context = lanecrypt.Context(devices="host", threshold_bytes=0)
            aead = lanecrypt.AESGCM(bytes(32), context=context)
            aead.encrypt(bytes(12), b"first")
            job = aead.submit_encrypt(bytes(12), bytes(32 << 20))
            try:
                # Within the try: the signal may come before result() waits.
                print("waits", flush=True)
                job.result()
            except KeyboardInterrupt:
                print("interrupted", job.done())
            """], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert process.stdout.readline() == "waits\n"
    process.send_signal(2)
    out, err = process.communicate(timeout=120)
    assert (out, err, process.returncode) == ("interrupted False\n", "", 0)


def test_fork():
    done = run_script("""
        import os, sys, warnings, lanecrypt
        # From 3.12 on CPython warns of every fork beside threads, such as the library's.
        warnings.simplefilter("ignore", DeprecationWarning)
        context = lanecrypt.Context(devices="host", threshold_bytes=0, fallback="none")
        aead = lanecrypt.AESGCM(bytes(range(32)), context=context)
        sealed = aead.encrypt(bytes(12), b"text")
        memory = context.allocate("host:0", 10)
        job = aead.submit_encrypt(bytes(12), bytearray(4 << 20))
        child = os.fork()
        if child == 0:
            # The key, and the context without its devices, are the child's too.
            assert aead.encrypt(bytes(12), b"text") == sealed
            assert context.counters()["host:0"].jobs == 1
            assert aead.submit_decrypt(bytes(12), sealed).result() == b"text"
            for call in (job.done, job.result, memory.to_bytes,
                         lambda: aead.encrypt(bytes(12), memory)):
                try:
                    call()
                except RuntimeError as error:
                    assert "forked" in str(error), error
                else:
                    raise AssertionError(call)
            del job, memory
            assert lanecrypt.AESGCM(bytes(32)).encrypt(bytes(12), b"x")
            print("child", flush=True)
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert len(job.result()) == (4 << 20) + 16
        assert aead.decrypt(bytes(12), sealed) == b"text"
        print("parent")
        """)
    assert done.stdout == "child\nparent\n" and done.stderr == ""


def test_fork_amid_threads():
    """Threads that are inside the library stay in the parent."""
    done = run_script("""
        import os, sys, threading, warnings, lanecrypt
        warnings.simplefilter("ignore", DeprecationWarning)
        context = lanecrypt.Context(devices="host", threshold_bytes=0)
        aead = lanecrypt.AESGCM(bytes(range(32)), context=context)
        stop = threading.Event()
        def work():
            while not stop.is_set():
                aead.encrypt(bytes(12), bytes(100_000))
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        sealed = aead.encrypt(bytes(12), b"text")
        codes = []
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if aead.decrypt(bytes(12), sealed) == b"text" else 1)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        child = os.fork()
        if child == 0:
            context.close()  # waits for nobody of the parent's
            sys.exit(0)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        stop.set()
        for thread in threads: thread.join()
        print(codes)
        """, timeout=300)  # each child opens the emulator again, while other threads are busy
    assert done.stdout == "[0, 0, 0, 0, 0, 0]\n", done.stderr


def test_multiprocessing_by_fork_and_spawn(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""if True:
        import multiprocessing, sys, lanecrypt
        class Key(lanecrypt.KeyProvider):
            def get_key(self): return bytes(range(32))
        def work(provider):
            return lanecrypt.AESGCM(provider).encrypt(bytes(12), b"text")
        if __name__ == "__main__":
            for way in ("fork", "spawn"):
                with multiprocessing.get_context(way).Pool(2) as pool:
                    assert pool.map(work, [Key()] * 4) == [work(Key())] * 4
            print("ok")
        """)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout == "ok\n", done.stderr


def test_subinterpreters_are_refused():
    """The error is clear, and the main interpreter continues."""
    done = run_script("""
        import sys, lanecrypt
        try:
            import _interpreters as interpreters  # 3.13 and later
        except ImportError:
            import _xxsubinterpreters as interpreters
        other = interpreters.create()
        text = ("import sys; sys.path[:] = %r\\n"
                "try:\\n import lanecrypt\\n"
                "except ImportError as error: print(error, flush=True)\\n" % sys.path)
        run = getattr(interpreters, "run_string", None) or interpreters.exec
        assert run(other, text) is None
        interpreters.destroy(other)
        assert lanecrypt.AESGCM(bytes(32)).encrypt(bytes(12), b"x")
        """)
    assert "main interpreter alone" in done.stdout, done.stdout


def test_no_key_is_left_in_freed_memory():
    """The copy of a key is wiped with its object."""
    done = run_script("""
        import gc, os, re, lanecrypt
        with open("/proc/self/maps") as maps: pass
        # The pattern is made of halves, so that it is nowhere else in this process.
        half = bytes(range(0xA0, 0xB0))
        class Key(lanecrypt.KeyProvider):
            def get_key(self): return bytearray(half) + bytearray(b ^ 0xFF for b in half)
        def count():
            pattern, found = bytes(b ^ 0xFF for b in half), 0
            with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
                for line in maps:
                    begin, end = (int(x, 16) for x in line.split()[0].split("-"))
                    if "r" not in line.split()[1] or "[v" in line: continue
                    try:
                        memory.seek(begin); found += memory.read(end - begin).count(half + pattern)
                    except (OSError, ValueError, OverflowError): pass
            return found
        context = lanecrypt.Context(devices="none")
        aead = lanecrypt.AESGCM(Key(), context=context)
        aead.encrypt(bytes(12), b"text")
        there = count()
        del aead
        gc.collect()
        print(there, count())
        """)
    there, left = map(int, done.stdout.split())
    # The count includes what count() itself assembles.
    assert there > left, (there, left)


def test_the_command():
    folder = pathlib.Path(lanecrypt.__file__).parent
    if not (folder / "bin" / "lanecrypt").exists():
        pytest.skip("the package was built without the command")
    done = subprocess.run([sys.executable, "-m", "lanecrypt", "devices", "--devices", "host"],
                          capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0 and "host:0" in done.stdout, done.stderr
    done = subprocess.run([sys.executable, "-m", "lanecrypt", "no-such-thing"],
                          capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode != 0 and "no-such-thing" in done.stderr


def test_without_pyca(tmp_path):
    """Without pyca/cryptography the exception is this package's own."""
    (tmp_path / "cryptography.py").write_text("raise ImportError('hidden')")
    done = run_script("""
        import sys
        sys.path.insert(0, sys.argv[1])
        import lanecrypt
        assert lanecrypt.InvalidTag.__module__ == "lanecrypt"
        try:
            lanecrypt.AESGCM(bytes(32)).decrypt(bytes(12), bytes(20), None)
        except lanecrypt.InvalidTag as error:
            print(error.failed)
        """, str(tmp_path))
    assert done.stdout == "(0,)\n"


def test_invalid_tag_stays_what_it_was():
    """An except clause uses the class of the first import, even if pyca/cryptography comes into
    the path later."""
    run_script("""
        import sys
        sys.modules["cryptography"] = None
        import lanecrypt
        first = lanecrypt.InvalidTag
        del sys.modules["cryptography"]
        import cryptography.exceptions
        try:
            lanecrypt.AESGCM(bytes(32)).decrypt(bytes(12), bytes(20), None)
        except first as error:
            assert error.failed == (0,) and first is not cryptography.exceptions.InvalidTag
        """)


def test_with_pyca():
    from cryptography.exceptions import InvalidTag
    assert lanecrypt.InvalidTag is InvalidTag
    with pytest.raises(AttributeError):
        lanecrypt.no_such_thing
