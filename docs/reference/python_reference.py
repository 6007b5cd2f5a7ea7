# SPDX-License-Identifier: BSD-3-Clause
"""The reference of the Python package as a page in Markdown, from the stub of its compiled module (_core.pyi) and from
the sources of the package."""

import ast

from pages import ROOT, escaped

PACKAGE = ROOT / "bindings/python/tutti"
CALLED = ("__init__", "__await__", "__len__", "__getitem__", "__enter__", "__exit__")  # special methods worth a line


def exported():
    """The names in __all__, with those of the training layer."""
    lists = [node.value for node in ast.walk(ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")))
             if isinstance(node, (ast.Assign, ast.AugAssign)) and isinstance(node.value, ast.List)]
    return {name for one in lists for name in ast.literal_eval(one)}


def text_of(node):
    """A docstring, with its code left alone."""
    pieces = (ast.get_docstring(node) or "").split("`")
    return "`".join(piece if i % 2 else escaped(piece) for i, piece in enumerate(pieces))


def signature(node, owner):
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    arguments = ast.unparse(node.args)
    if owner and not is_decorated(node, "staticmethod"):
        arguments = arguments.partition(", ")[2]
    if is_decorated(node, "property"):
        return f"{node.name}: {ast.unparse(node.returns)}"
    return f"{owner if node.name == '__init__' else node.name}({arguments}){'' if node.name == '__init__' else returns}"


def is_decorated(node, name):
    return any(isinstance(one, ast.Name) and one.id == name for one in node.decorator_list)


def is_setter(node):
    return any(isinstance(one, ast.Attribute) and one.attr == "setter" for one in node.decorator_list)


def functions(nodes, owner=""):
    """Entries; the overloads of a name share one."""
    forms = {}
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and not is_setter(node) and (node.name[0] != "_" or node.name in CALLED):
            forms.setdefault(node.name, []).append(node)
    for name, nodes in forms.items():
        texts = list(dict.fromkeys(filter(None, map(text_of, nodes))))
        code = "\n".join(signature(node, owner) for node in nodes)
        yield [f"### {owner + '.' if owner else ''}{name.strip('_')}", "", "```python", code, "```", "", *texts, ""]


def constants(nodes):
    """Attributes with the strings behind them."""
    for node, following in zip(nodes, [*nodes[1:], None]):
        if not isinstance(node, (ast.AnnAssign, ast.Assign)):
            continue
        name = (node.target if isinstance(node, ast.AnnAssign) else node.targets[0]).id
        if name.startswith("_"):
            continue
        said = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        kind = f": {ast.unparse(node.annotation)}" if isinstance(node, ast.AnnAssign) else ""
        yield f"* `{name}{kind}`" + (f": {escaped(following.value.value)}" if said else "")


def class_entry(node):
    bases = [ast.unparse(base) for base in node.bases]
    lines = [f"## {node.name}", "", text_of(node), ""]
    lines += [f"Derives from `{', '.join(bases)}`.", ""] if bases else []
    return lines + [*constants(node.body), "", *(line for entry in functions(node.body, node.name) for line in entry)]


def page(stub):
    names = exported()
    environment = ast.parse((PACKAGE / "_environment.py").read_text(encoding="utf-8")).body
    start = [node for node in environment if getattr(node, "name", None) in names]
    names -= {node.name for node in start}
    core = [node for node in ast.parse(stub).body
            if getattr(node, "name", None) in names or isinstance(node, ast.AnnAssign) and node.target.id in names]
    types = (PACKAGE / "_types.pyi").read_text(encoding="utf-8")
    types = types[types.index("# An object with memory"):]
    lines = ["# Python reference", "",
             "Module `tutti`; [Python](python.md) is its guide, and [Semantics](semantics.md) has the rules that all",
             "calls share. Options go by name.", "", "## Functions", ""]
    lines += [line for entry in functions([*start, *core]) for line in entry]
    lines += ["## Constants", "", *constants(core), ""]
    lines += [line for node in core if isinstance(node, ast.ClassDef) for line in class_entry(node)]
    return "\n".join([*lines, "## Types in signatures", "", "```python", types.strip(), "```"]) + "\n"
