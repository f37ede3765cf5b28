# SPDX-License-Identifier: Apache-2.0
"""The reference of the Python package as Markdown, for dev/docs. It is read, not imported, so that it
need not be built."""

import ast
import html
import re


def public_names(tree):
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "__all__":
            return ast.literal_eval(node.value)
    return []


def signature(function):
    """The parameters of a function as Python spells them, without annotations."""
    parameters = ast.parse(f"def f({ast.unparse(function.args)}): pass").body[0].args
    for parameter in ast.walk(parameters):
        if isinstance(parameter, ast.arg):
            parameter.annotation = None
    words = ast.unparse(parameters)
    return "(" + re.sub(r"^self(, )?|^cls(, )?", "", words) + ")"


def docstring(text):
    return f'<pre class="docstring">{html.escape(text)}</pre>\n'


def members(node):
    """The public methods and properties of a class, with docstrings."""
    for item in node.body:
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)) and not item.name.startswith("_"):
            text = ast.get_docstring(item)
            is_property = any("property" in ast.unparse(one) for one in item.decorator_list)
            if text and not any(ast.unparse(one).endswith(".setter") for one in item.decorator_list):
                yield item.name + ("" if is_property else signature(item)), text


def entry(name, node):
    """One class or function."""
    title = name
    if isinstance(node, ast.ClassDef):
        made_by = next((item for item in node.body if getattr(item, "name", "") == "__init__"), None)
        title += signature(made_by) if made_by else ""
    else:
        title += signature(node)
    out = f"### {name}\n\n```python\n{title}\n```\n\n{docstring(ast.get_docstring(node) or '')}"
    if isinstance(node, ast.ClassDef):
        out += "".join(f"\n```python\n.{member}\n```\n\n{docstring(text)}" for member, text in members(node))
    return out


def extension_docstring(name, sources):
    """The docstring of a class of the extension module: the string literals behind its name."""
    for text in sources:
        if found := re.search(rf'\bmodule, "{name}",((?:\s*"(?:[^"\\]|\\.)*")+)', text):
            return "".join(ast.literal_eval(one) for one in re.findall(r'"(?:[^"\\]|\\.)*"', found[1]))
    return None


def reference(package, extension):
    """Markdown, and errors. `package` is the folder of the package, `extension` that of its C++."""
    errors = []
    sources = [path.read_text(encoding="utf-8") for path in sorted(extension.glob("*.cpp"))]

    def module(title, path, folder):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        nodes = {}
        for file in sorted(folder.glob("*.py")):
            for node in ast.parse(file.read_text(encoding="utf-8")).body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    nodes[node.name] = node  # the last of overloads has the docstring
        nodes |= {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        out = f"## {title}\n\n{docstring(ast.get_docstring(tree) or '')}\n"
        for name in public_names(tree):
            if title == "lanecrypt" and name in ("rsa", "ray"):  # modules
                continue
            node = nodes.get(name) or nodes.get(f"_Own{name}")
            text = ast.get_docstring(node) if node else extension_docstring(name, sources)
            if not text:
                errors.append(f"{title}.{name} has no docstring")
            elif node:
                out += entry(name, node) + "\n"
            else:
                out += f"### {name}\n\n{docstring(text)}\n"
        return out

    markdown = "# The Python package\n\n" + module("lanecrypt", package / "__init__.py", package)
    markdown += module("lanecrypt.rsa", package / "rsa.py", package)
    markdown += module("lanecrypt.ray", package / "ray" / "__init__.py", package / "ray")
    return markdown, errors
