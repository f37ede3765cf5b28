# SPDX-License-Identifier: Apache-2.0
"""Checks that each file includes the headers of the names that it uses. Headers of the standard
library must be included by the file or by a header of this project, not by chance through another
standard header. Precompiled headers (cmake/precompile.cmake) and files that are compiled together
(cmake/unite.cmake) hide missing includes from the compiler. Prints each violation as FILE:LINE:
what. Exits with 1 if there is one."""

import pathlib
import re
import subprocess
import sys

FOLDERS = ("include/", "src/", "provider/", "cli/", "probe/", "service/")
# Read for their declarations but not checked, because these headers are for OpenCL C too.
ALSO_READ = ("kernels/",)
# The names of std:: that each header declares. Every name that a file uses must be listed here.
HEADERS = {
    "algorithm": "adjacent_find all_of any_of binary_search clamp copy copy_n count count_if equal "
                 "fill fill_n find find_if is_sorted lower_bound max max_element min minmax none_of "
                 "nth_element ranges remove_if replace_if replace reverse reverse_copy rotate search "
                 "shuffle sort stable_partition stable_sort transform unique upper_bound",
    "array": "array to_array",
    "atomic": "atomic atomic_flag memory_order_acq_rel memory_order_acquire memory_order_relaxed "
              "memory_order_release",
    "barrier": "barrier",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero endian has_single_bit "
           "popcount",
    "cctype": "tolower",
    "charconv": "from_chars",
    "chrono": "chrono chrono_literals",
    "cmath": "abs isfinite log2 lround round sqrt",
    "condition_variable": "condition_variable",
    "csignal": "raise signal",
    "cstddef": "byte max_align_t ptrdiff_t size_t",
    "cstdio": "ferror fflush fprintf fwrite snprintf sscanf",
    "cstdlib": "_Exit aligned_alloc exit free realloc strtol strtoll",
    "cstring": "memcmp memcpy memmove memset strchr strcmp strcspn strerror strlen strncmp strncpy "
               "strrchr strstr",
    "ctime": "time time_t tm",
    "deque": "deque",
    "exception": "current_exception exception exception_ptr rethrow_exception terminate",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream",
    "functional": "function hash less ref",
    "future": "async future launch",
    "initializer_list": "initializer_list",
    "iostream": "cin cout endl ios streamsize",
    "istream": "istream",
    "iterator": "advance back_inserter distance make_move_iterator next prev reverse_iterator",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map",
    "memory": "allocator enable_shared_from_this make_shared make_unique shared_ptr "
              "static_pointer_cast unique_ptr weak_ptr",
    "mutex": "call_once defer_lock lock_guard mutex once_flag scoped_lock try_to_lock unique_lock",
    "new": "align_val_t bad_alloc nothrow",
    "numbers": "numbers",
    "numeric": "accumulate gcd iota",
    "optional": "nullopt optional",
    "random": "mt19937 mt19937_64 random_device uniform_int_distribution",
    "ratio": "nano",
    "set": "set",
    "shared_mutex": "shared_lock shared_mutex",
    "span": "span",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "invalid_argument logic_error out_of_range runtime_error",
    "string": "getline stoi stol stoul string to_string",
    "string_view": "string_view",
    "system_error": "errc error_code generic_category make_error_code system_error",
    "thread": "this_thread thread",
    "tuple": "tie tuple",
    "type_traits": "decay_t extent_v is_integral_v is_pointer_v is_trivially_copyable_v is_void_v "
                   "is_trivially_destructible_v",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "as_const exchange forward in_place index_sequence make_index_sequence move pair "
               "swap",
    "variant": "get_if holds_alternative variant visit",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in HEADERS.items() for name in names.split()}
# Several headers declare these. A file that can use them has included one of them.
ANYWHERE = {"begin", "end", "erase", "erase_if", "get", "size", "tuple_size_v"}
# Headers that are guaranteed by the standard to declare what these declare.
HAVE_TOO = {"chrono": {"ratio"}, "iostream": {"istream"}, "thread": {"chrono"}}
# Declarations of this project's headers outside of classes: types, macros, constants, functions.
DECLARED = re.compile(r"^(?:template *<[^>]*> *)?(?:class|struct|union|enum(?: class)?|using) +"
                      r"(?:alignas\([^)]*\) *)?([A-Z]\w*)(?= *(?:final *)?[:{=]| *$)"
                      r"|^# *define +(\w+)"
                      r"|^(?:inline |constexpr |extern |const |static )+[^=(;{]*?\b(k[A-Z]\w*)(?= *[\[{=;])"
                      r"|^(?:\[\[\w+\]\] )?[A-Za-z_][\w:<>,*&\[\]\" ]* [*&]?(\w+)\(", re.M)
# Names that a file declares itself, anywhere: after a type, as an alias, as a template parameter,
# in an enumeration, or as a capture of a lambda.
WORD_BEFORE = re.compile(r"([\w>\]]+)(?:\s*[*&]+\s*|\s+)([A-Za-z_]\w*)\s*(?=[;={(,)\[:])")
NO_TYPES = {"return", "else", "case", "new", "delete", "throw", "goto"}
NAMED = re.compile(r"\b(?:class|struct|union|enum|using|namespace|define|typename)(?:\.\.\.)? +"
                   r"(?:alignas\([^)]*\) *)?(?:[\w<>]+::)*(\w+)|[\[,] *(\w+) *=")
ENUMERATORS = re.compile(r"\benum\b[^{;]*\{([^}]*)\}")
# Uses: a type, a macro or a constant wherever it is named, and a function where it is called.
USED = re.compile(r"(?<![\w.])(?<!->)(?<!std::)(?:(k?[A-Z]\w*)\b|([a-z]\w*)(?= *[(<]))")
WORD = re.compile(r"[A-Za-z_]\w*")
INTEGER = re.compile(r"\bu?int(?:8|16|32|64)_t\b")


def without_comments(text):
    """Returns the text without comments, with its lines in place."""
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def without_strings(text):
    """Returns the text without comments, includes and string literals, with its lines in
    place."""
    text = re.sub(r"^ *# *include.*$", "", text, flags=re.M)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def own_names(text):
    """Returns the names that a file declares itself, and some words of the language."""
    names = {name for before, name in WORD_BEFORE.findall(text) if before not in NO_TYPES}
    names |= {name for found in NAMED.findall(text) for name in found}
    for body in ENUMERATORS.findall(text):
        names |= set(re.findall(r"(?:^|,)\s*(\w+)", body))
    return names


class Sources:
    """Texts by path, and what they include."""

    def __init__(self, texts):
        self.texts = {path: without_comments(text) for path, text in texts.items()}
        self.code = {path: without_strings(text) for path, text in self.texts.items()}
        self.words = {path: set(WORD.findall(text)) for path, text in self.code.items()}
        self.reached = {}
        self.reached_ours = {}
        # The project's headers that declare a name.
        self.declared = {}
        for path, text in self.code.items():
            if not path.endswith(".cpp"):
                for name in {name for found in DECLARED.findall(text) for name in found if name}:
                    self.declared.setdefault(name, []).append(path)

    def ours(self, path, name):
        """Returns the path of the project's header that `path` includes as `name`, or None."""
        folder = pathlib.PurePosixPath(path).parent
        candidates = (name, f"src/{name}", f"include/{name}", str(folder / name))
        return next((one for one in candidates if one in self.texts), None)

    def standard_headers(self, path):
        """Returns the standard headers that a file includes, directly or through the project's
        headers."""
        if path not in self.reached:
            # Ends the recursion if headers include each other.
            found = self.reached[path] = set()
            for name in re.findall(r'^ *# *include *[<"]([^>"]+)[>"]', self.texts[path], re.M):
                other = self.ours(path, name)
                if other is None:
                    found |= {name} | HAVE_TOO.get(name, set())
                else:
                    found |= self.standard_headers(other)
        return self.reached[path]

    def our_headers(self, path):
        """Returns the project's headers that a file includes, directly or through others."""
        if path not in self.reached_ours:
            found = self.reached_ours[path] = set()
            for name in re.findall(r'^ *# *include *[<"]([^>"]+)[>"]', self.texts[path], re.M):
                other = self.ours(path, name)
                if other is not None:
                    found |= {other} | self.our_headers(other)
        return self.reached_ours[path]

    def ours_missing(self, path):
        """Yields line and complaint for each name that a header of the project declares, if
        neither the file nor a header that it includes declares it."""
        header = path[:-len(".cpp")] + ".h"
        if path.endswith(".cpp") and header in self.texts and header not in self.our_headers(path):
            yield 1, f"needs {header}"
        known = own_names(self.code[path])
        for header in self.our_headers(path):
            known |= self.words[header]
        for number, line in enumerate(self.code[path].splitlines(), 1):
            for found in USED.findall(line):
                name = found[0] or found[1]
                if name in self.declared and name not in known:
                    known.add(name)
                    yield number, f"{name} needs {' or '.join(sorted(self.declared[name]))}"

    def breaches(self, path):
        """Yields line and complaint, once for each name."""
        text = self.texts[path]
        # Such a file is included where its macros are defined, and includes nothing itself.
        if path.endswith(".inc"):
            return
        here, said = self.standard_headers(path), set()
        for number, line in enumerate(text.splitlines(), 1):
            for name in re.findall(r"\bstd::(\w+)", line):
                header = HEADER_OF.get(name)
                if name in said or name in ANYWHERE:
                    continue
                said.add(name)
                if header is None:
                    yield number, f"dev/check_includes.py does not know which header has std::{name}"
                elif not here & {header, header[1:] + ".h" if header[0] == "c" else header}:
                    yield number, f"std::{name} needs <{header}>"
            if INTEGER.search(line) and "integer" not in said:
                said.add("integer")
                if not here & {"cstdint", "stdint.h"}:
                    yield number, "integers of a size need <cstdint>"
        yield from self.ours_missing(path)


def main():
    root = pathlib.Path(__file__).resolve().parents[1]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *FOLDERS, *ALSO_READ],
        cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    sources = Sources({path: (root / path).read_text(encoding="utf-8") for path in sorted(set(listed))
                       if path.endswith((".h", ".inc", ".hpp", ".cpp")) and (root / path).is_file()})
    found = [f"{path}:{number}: {what}" for path in sources.texts
             if not path.startswith(ALSO_READ) for number, what in sources.breaches(path)]
    print("".join(line + "\n" for line in found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
