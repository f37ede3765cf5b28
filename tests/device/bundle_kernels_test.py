#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests cmake/bundle_kernels.py on small trees of files."""

import hashlib
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "cmake" / "bundle_kernels.py"


def load_script():
    spec = importlib.util.spec_from_file_location("bundle_kernels", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bundler = load_script()


class BundleTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def write(self, **files):
        for name, text in files.items():
            (self.folder / f"{name}.h").write_text(text)
        return self.folder / "all.h"

    def lines(self, entry):
        text, _ = bundler.bundle(entry)
        return [line for line in text.splitlines() if line and not line.startswith("#line")]

    def run_script(self, entry, *options):
        output = self.folder / "out.cpp"
        done = subprocess.run([sys.executable, SCRIPT, "--name", "bundled", *options, entry, output],
                              capture_output=True, text=True, check=False)
        return done, output

    def test_once_and_every_time(self):
        entry = self.write(
            all='#include "once.h"\n#define N 1\n#include "each.h"\n#include "each.h"\n'
                '#include "once.h"\nlast\n',
            once="// first\n#pragma once\nonce body\n",
            each="#include \"once.h\"\neach N\n")
        self.assertEqual(self.lines(entry),
                         ["// first", "once body", "#define N 1", "each N", "each N", "last"])

    def test_once_though_the_first_time_is_left_out(self):
        entry = self.write(
            all='#if A\n#include "part.h"\n#endif\n#ifdef B\n#include "part.h"\n#endif\n',
            part='#pragma once\n#include "once.h"\nint part;\n', once="#pragma once\nint once;\n")
        text, _ = bundler.bundle(entry, with_lines=False)
        for options in ([], ["-DA=1"], ["-DB"], ["-DA=1", "-DB"]):
            done = subprocess.run(["cc", "-E", "-P", *options, "-"], input=text,
                                  capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.split("\n"),
                             ["int once;", "int part;", ""] if options else [""])

    def test_files_of_a_cipher(self):
        entry = self.write(all="#include LC_CIPHER_FILE(key.h)\n#include LC_CIPHER_FILE(table.inc)\n")
        folder = self.folder / "kernels" / "xyz"
        folder.mkdir(parents=True)
        (folder / "xyz_key.h").write_text("key\n")
        (folder / "xyz_table.inc").write_text("table\n")
        text, _ = bundler.bundle(entry, with_lines=False, root=self.folder, cipher="xyz")
        self.assertEqual(text, "key\ntable\n")
        with self.assertRaises(bundler.BundleError):
            bundler.bundle(entry, root=self.folder, cipher="abc")

    def test_leaves_the_rest_alone(self):
        entry = self.write(all="#include <cstdint>\n  // a \"quoted\" comment\n\tcode();\n#if 0\n#endif\n")
        self.assertEqual(self.lines(entry), ["#include <cstdint>", '  // a "quoted" comment',
                                             "\tcode();", "#if 0", "#endif"])

    def test_line_directives_name_the_real_place(self):
        entry = self.write(all='one\n#include "part.h"\nthree\n', part="inner\n")
        text, _ = bundler.bundle(entry)
        self.assertEqual(text.splitlines(),
                         ['#line 1 "all.h"', "one", '#line 1 "part.h"', "inner",
                          '#line 3 "all.h"', "three"])

    def test_a_missing_file_is_an_error_with_its_place(self):
        done, output = self.run_script(self.write(all='x\n#include "gone.h"\n'))
        self.assertEqual(done.returncode, 1)
        self.assertIn("all.h:2: no file gone.h", done.stderr)
        self.assertFalse(output.exists())

    def test_files_that_include_each_other_are_an_error(self):
        done, _ = self.run_script(self.write(all='#include "b.h"\n', b='#include "all.h"\n'))
        self.assertEqual(done.returncode, 1)
        self.assertIn("include each other", done.stderr)

    def test_what_no_raw_string_holds_is_an_error(self):
        done, _ = self.run_script(self.write(all=')kernels"\n'))
        self.assertEqual(done.returncode, 1)
        self.assertIn("raw string", done.stderr)

    def test_the_root_comes_after_the_folder(self):
        inner = self.folder / "inner"
        inner.mkdir()
        (inner / "entry.h").write_text('#include "part.h"\n#include "inner/last.h"\n')
        (inner / "last.h").write_text("last\n")
        (inner / "part.h").write_text("beside\n")
        self.write(part="from the root\n")
        done, _ = self.run_script(inner / "entry.h")
        self.assertIn("entry.h:2: no file inner/last.h", done.stderr)
        done, output = self.run_script(inner / "entry.h", "--root", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("beside\n", output.read_text())
        self.assertIn("last\n", output.read_text())
        self.assertNotIn("from the root", output.read_text())

    def test_the_depfile_names_all_files(self):
        entry = self.write(all='#include "part.h"\n', part="inner\n")
        depfile = self.folder / "out.d"
        done, output = self.run_script(entry, "--depfile", depfile)
        self.assertEqual(done.returncode, 0, done.stderr)
        target, names = depfile.read_text().strip().split(": ")
        self.assertEqual(target, str(output))
        self.assertEqual({Path(name).name for name in names.split()}, {"all.h", "part.h"})

    def test_the_compiled_source_holds_the_text(self):
        # Long enough for several literals, with characters that a normal string literal would
        # escape.
        entry = self.write(all="".join(f'line {n} \\n "quoted" %d\n' for n in range(2000)))
        done, output = self.run_script(entry)
        self.assertEqual(done.returncode, 0, done.stderr)
        program = self.folder / "program.cpp"
        program.write_text(f'''#include "{output}"
#include <cstdio>
int main() {{
  std::fwrite(bundled, 1, bundled_bytes, stdout);
  std::fputs(bundled_sha256, stderr);
}}
''')
        binary = self.folder / "program"
        subprocess.run(["c++", "-std=c++20", "-o", binary, program], check=True)
        ran = subprocess.run([binary], capture_output=True, check=True)
        text, _ = bundler.bundle(entry)
        self.assertEqual(ran.stdout.decode(), text)
        self.assertEqual(ran.stderr.decode(), hashlib.sha256(text.encode()).hexdigest())


if __name__ == "__main__":
    unittest.main()
