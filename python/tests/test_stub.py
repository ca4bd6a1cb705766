"""The type declarations of _core.pyi are those of the compiled extension."""

from __future__ import annotations

import ast
import pathlib
import re
from typing import Any

import pytest
from warpseal import _core

STUB = ast.parse(pathlib.Path(_core.__file__).with_name("_core.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}


def functions(body: list[ast.stmt]) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def parameters(node: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in node.args.args + node.args.kwonlyargs]


def runtime_parameters(function: Any) -> list[str]:
    signature = function.__nb_signature__[0][0]
    inside = re.fullmatch(r"def \w+\((.*)\)( -> .*)?", signature, re.S)
    assert inside is not None, signature
    outer = re.sub(r"\[[^\[\]]*\]", "", inside[1])  # commas of types
    names = [part.split(":")[0].split("=")[0].strip() for part in outer.split(",")]
    return [name for name in names if name not in ("*", "/", "")]


def members(thing: Any) -> set[str]:
    inherited = {"__doc__", "__module__", "__name__", "__qualname__"}
    return {name for name in vars(thing) if not name.startswith("_")} - inherited


def test_module() -> None:
    assert members(_core) - {"has_cuda"} == set(CLASSES) | set(functions(STUB.body))
    for name, node in functions(STUB.body).items():
        assert parameters(node) == runtime_parameters(getattr(_core, name)), name


@pytest.mark.parametrize("name", CLASSES)
def test_class(name: str) -> None:
    methods, runtime = functions(CLASSES[name].body), getattr(_core, name)
    assert members(runtime) == set(methods) - {"__init__"}
    for method, node in methods.items():
        if not isinstance(vars(runtime).get(method), property):
            assert parameters(node) == runtime_parameters(getattr(runtime, method)), method
