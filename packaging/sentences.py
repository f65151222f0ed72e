"""Sentences read out of a module's source: what it says to people, and nothing else of its text.

A sentence is a literal or an f-string with two words or more; of an f-string, what is put in is
named by its expression, and a choice between literals (``{"is" if n == 1 else "are"}``) makes two
sentences. Single words count where they are said to people: in the window, the pages and the
command line. Docstrings, keys, patterns, statements of SQL and style sheets are no sentences.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from tabprotect.languages.catalogue import BLOCK

MOST_FORMS = 12
"""Sentences that one expression makes; where there were more, its choices are put in as they are."""

MUTE_CALLS = frozenset(
    [
        "startswith",
        "endswith",
        "split",
        "rsplit",
        "partition",
        "rpartition",
        "strftime",
        "strptime",
        "encode",
        "decode",
        "compile",
        "match",
        "fullmatch",
        "search",
        "sub",
        "findall",
        "execute",
        "executemany",
        "text_",
        "sql",
        "setObjectName",
        "property",
        "setProperty",
        "value",
        "setValue",
        "get",
        "pop",
        "getattr",
        "setattr",
        "hasattr",
        "read_text",
        "write_text",
        "removeprefix",
        "removesuffix",
        "strip",
        "lstrip",
        "rstrip",
        "count",
        "index",
        "find",
        "setStyleSheet",
        "TypeVar",
        "import_module",
        "relation",
        "getLogger",
        "filterwarnings",
        "Literal",
        "cast",
        "option",
        "environ",
        "issuperset",
    ]
)
MUTE_ERRORS = frozenset(
    ["TypeError", "AssertionError", "NotImplementedError", "RuntimeError", "KeyError", "IndexError"]
)
MUTE_NAMES = re.compile(r"sql|style|css|html|pattern|regex|shape_only", re.IGNORECASE)
NO_SENTENCE = re.compile(
    r"\b(SELECT|INSERT INTO|CREATE (OR REPLACE )?(TEMP |TEMPORARY )?(TABLE|VIEW|INDEX)|PRAGMA|"
    r"ALTER TABLE|DROP TABLE|ORDER BY|WHERE|ATTACH|CASE WHEN|JOIN|AND|AS \w+|FORMAT)\b|max-age=|charset=|filename=|^TYPE |^tabprotect_|-src |^</?[A-Z?]|^\w+ [<>=] \d|^file_row_number|DATASYMBOL\{|^recipe = |\.code \*|<>|[\x00\\]|://|^--|\)\?|\.\*|[;{]\s*\w+-?\w*:"
    r"|^[\w.]+\(|<(?!/?[bi]>)[a-z/]|px\b"
)
WORD = re.compile(r"[A-Za-zÀ-ž][a-zà-ž]+(?:[-'’][a-zA-Zà-ž]+)*")
FORMATTED = re.compile(r"\{([a-z]+)\}")
LABEL = re.compile(r"&?[A-Z][a-z]+(?:-[a-z]+)*…?|&[a-z]+|[a-z]{3,}…")


@dataclass(frozen=True)
class Slot:
    """What is put in: its name, and the expression that it comes from."""

    name: str
    node: ast.expr


Form = tuple[str | Slot, ...]


class Reader(ast.NodeVisitor):
    """Collects what one module says."""

    def __init__(self, *, labels: bool, helps: bool = False) -> None:
        self.labels, self.helps = labels, helps
        self._found: list[tuple[int, str]] = []
        self._scopes: list[dict[str, list[ast.expr]]] = []
        self._used: set[int] = set()

    def read(self, source: str) -> list[str]:
        """Every sentence of a module."""
        tree = ast.parse(source)
        if self.helps:
            for paragraph in (ast.get_docstring(tree) or "").split("\n\n"):
                self._take((f"{paragraph}\n\n",), tree)
                # A card says what the first line says behind its name.
                name, _, said = paragraph.partition(": ")
                if name and said and (ast.get_docstring(tree) or "").startswith(paragraph):
                    self._take((f"{said}\n\n",), tree)
        self.visit(tree)
        # What an f-string chooses from is no sentence by itself.
        return [text for node, text in self._found if node not in self._used]

    # Scopes: what a name may stand for, where it is given literals alone.

    def _scoped(self, node: ast.Module | ast.FunctionDef) -> None:
        given: dict[str, list[ast.expr]] = {}
        spoiled: set[str] = set()
        for inner in _within(node):
            targets: list[ast.expr] = []
            value: ast.expr | None = None
            if isinstance(inner, ast.Assign):
                targets, value = inner.targets, inner.value
            elif isinstance(inner, ast.AnnAssign):
                targets, value = [inner.target], inner.value
            elif isinstance(inner, ast.AugAssign | ast.For | ast.comprehension):
                targets = [inner.target]
            for target in targets:
                if isinstance(target, ast.Name) and value is not None and _stringy(value):
                    given.setdefault(target.id, []).append(value)
                else:
                    spoiled |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        if isinstance(node, ast.FunctionDef):
            every = (*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs)
            spoiled |= {a.arg for a in every}
        self._scopes.append({n: v for n, v in given.items() if n not in spoiled})
        self.generic_visit(node)
        self._scopes.pop()

    def visit_Module(self, node: ast.Module) -> None:
        self._scoped(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._scoped(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815

    # What is no sentence.

    def generic_visit(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, _WORDLESS):
                self.visit(child)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        if not any(n.startswith("__") or MUTE_NAMES.search(n) for n in names):
            self.generic_visit(node)
        self._label(node.value if set(names) & {"label", "unit"} else None)

    def _label(self, node: ast.expr | None) -> None:
        """What a method or a parameter is called may be one word."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._found.append((0, node.value))

    def visit_Compare(self, node: ast.Compare) -> None:
        pass

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        if not isinstance(node.slice, ast.Constant | ast.Tuple):
            self.visit(node.slice)

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            # A key with a space is a label as often as not.
            if not (isinstance(key, ast.Constant) and " " not in str(key.value)) and key:
                self.visit(key)
            self.visit(value)

    def visit_Raise(self, node: ast.Raise) -> None:
        error = node.exc
        if isinstance(error, ast.Call) and _name(error.func) in MUTE_ERRORS:
            return
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        # A text's own replace; that of a frozen value gives labels and help.
        own = isinstance(node.func, ast.Attribute) and node.func.attr == "replace"
        if own or _name(node.func) in MUTE_CALLS:
            return
        if _name(node.func) == "ListColumn" and node.args:
            self._label(node.args[0])
        if _name(node.func) == "Parameter":
            self._label(node.args[1] if len(node.args) > 1 else None)
            for keyword in node.keywords:
                self._label(keyword.value if keyword.arg in ("label", "unit") else None)
        if _name(node.func) in ("told", "shown"):
            # Said to people, whatever it looks like.
            for word in node.args:
                if isinstance(word, ast.Constant) and isinstance(word.value, str):
                    self._found.append((0, word.value))
        if not isinstance(node.func, ast.Attribute) or not isinstance(
            node.func.value, ast.Constant
        ):
            self.visit(node.func)
        for argument in node.args:
            self.visit(argument)
        for keyword in node.keywords:
            if not MUTE_NAMES.search(keyword.arg or ""):
                self.visit(keyword.value)

    # Sentences.

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            # What ``format`` fills in later are values, as in an f-string.
            first, *more = FORMATTED.split(node.value)
            form: Form = (first,)
            for name, text in zip(more[::2], more[1::2], strict=True):
                form += (Slot(name, node), text)
            self._take(form if " " in first else (node.value,), node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._taken(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add) and _stringy(node):
            self._taken(node)
        else:
            self.generic_visit(node)

    def _taken(self, node: ast.expr) -> None:
        used = id(node) in self._used
        forms = self._forms(node)
        if not used:
            self._used.discard(id(node))
        for form in forms:
            self._take(form, node)
        for slot in {id(p.node): p for form in forms for p in form if isinstance(p, Slot)}.values():
            self.visit(slot.node)

    def _forms(self, node: ast.expr) -> list[Form]:
        """What an expression may come out as."""
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                self._used.add(id(node))
                return [(node.value,)]
            return [(str(node.value),)]
        if isinstance(node, ast.FormattedValue):
            return self._forms(node.value)
        if isinstance(node, ast.JoinedStr | ast.BinOp):
            parts: Sequence[ast.expr] = (
                node.values if isinstance(node, ast.JoinedStr) else (node.left, node.right)
            )
            if isinstance(node, ast.BinOp) and not (
                isinstance(node.op, ast.Add) and _stringy(node)
            ):
                return [(Slot(slot_name(node), node),)]
            self._used.add(id(node))
            each, used = [], []
            for part in parts:
                before = set(self._used)
                each.append(self._forms(part))
                used.append(self._used - before)
            while _product(each) > MOST_FORMS:
                # The last choice is put in as it is: the sentence begins alike.
                at = max(n for n, forms in enumerate(each) if len(forms) > 1)
                each[at] = [(Slot(slot_name(parts[at]), parts[at]),)]
                self._used -= used[at]
            return [tuple(p for part in chosen for p in part) for chosen in product(*each)]
        if isinstance(node, ast.IfExp) and _stringy(node):
            return [*self._forms(node.body), *self._forms(node.orelse)]
        if isinstance(node, ast.Name):
            for scope in reversed(self._scopes):
                if node.id in scope:
                    # Popped meanwhile: a name may be made of itself.
                    values, used = scope.pop(node.id), set(self._used)
                    forms = [form for value in values for form in self._forms(value)]
                    scope[node.id] = values
                    if len(forms) <= MOST_FORMS:
                        return forms
                    # Put in as it is: then what it is given are sentences by themselves.
                    self._used = used
                    break
        return [(Slot(slot_name(node), node),)]

    def _take(self, form: Form, node: ast.AST) -> None:
        for line in _lines(form):
            text = re.sub(r"\s*\n\s*", " ", sentence(line))
            if text and is_said(text, labels=self.labels):
                self._found.append((id(node), text))


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """The statements and comprehensions of a scope, without the scopes in it."""
    left = [node]
    while left:
        for child in ast.iter_child_nodes(left.pop()):
            if isinstance(child, ast.stmt | ast.comprehension | ast.excepthandler):
                yield child
            if not isinstance(child, _NO_SCOPE):
                left.append(child)


_WORDLESS = (ast.Name, ast.expr_context, ast.operator, ast.Import, ast.ImportFrom)
"""Two nodes of three, with no text in them."""

_NO_SCOPE = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Constant, ast.Name, ast.Attribute),
    *(ast.Import, ast.ImportFrom, ast.Expr, ast.Return, ast.Raise, ast.arguments, ast.JoinedStr),
)


def _stringy(node: ast.expr) -> bool:
    """Whether an expression is made of literals at least in part."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.JoinedStr):
        return True
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and (_stringy(node.left) or _stringy(node.right))
    if isinstance(node, ast.IfExp):
        return _stringy(node.body) or _stringy(node.orelse)
    return False


def _name(node: ast.expr) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


def _product(each: Sequence[Sequence[Form]]) -> int:
    size = 1
    for forms in each:
        size *= len(forms)
    return size


def slot_name(node: ast.expr) -> str:
    """What a value is called in the catalogue: the last word of its expression."""
    if isinstance(node, ast.FormattedValue):
        return slot_name(node.value)
    if isinstance(node, ast.Name):
        return node.id.strip("_") or "value"
    if isinstance(node, ast.Attribute):
        return node.attr.strip("_")
    if isinstance(node, ast.Subscript):
        return slot_name(node.value)
    if isinstance(node, ast.Call):
        named = [a for a in node.args if not isinstance(a, ast.Constant | ast.GeneratorExp)]
        return slot_name(named[0] if named else node.func)
    if isinstance(node, ast.BinOp):
        return slot_name(node.left)
    if isinstance(node, ast.IfExp):
        return slot_name(node.body)
    return "value"


def _lines(form: Form) -> Iterator[Form]:
    """A text of several paragraphs by paragraph, one of several lines by line: so it is shown."""
    pages = any(isinstance(part, str) and BLOCK.search(part) for part in form)
    prose = any(isinstance(part, str) and "\n\n" in part for part in form)
    line: list[str | Slot] = []
    for part in form:
        if isinstance(part, Slot):
            line.append(part)
            continue
        first, *more = BLOCK.split(part)[::2] if pages else part.split("\n\n" if prose else "\n")
        line.append(first)
        for later in more:
            yield tuple(line)
            line = [later]
    yield tuple(line)


def sentence(form: Form) -> str:
    """The entry of the catalogue: values as ``{name}``; neighbouring values are one."""
    parts: list[str] = []
    names: dict[str, int] = {}
    before = False
    for part in form:
        if isinstance(part, str):
            if part:
                parts.append(part.replace("{", "{{").replace("}", "}}"))
                before = False
            continue
        if before:
            continue
        name = re.sub(r"\W", "", part.name) or "value"
        names[name] = names.get(name, 0) + 1
        parts.append(f"{{{name}{names[name] if names[name] > 1 else ''}}}")
        before = True
    return re.sub(r"^(?:- |#+ |; )", "", "".join(parts).strip())


def is_said(text: str, *, labels: bool) -> bool:
    """Whether a text is one for people."""
    bare = re.sub(r"\{\w+\}", "", text)
    if labels and LABEL.fullmatch(text):
        return True
    words = WORD.findall(bare)
    if NO_SENTENCE.search(bare) or "{{" in text or ("_" in bare and len(words) < 3):
        return False
    if not words:
        return False
    several = len(bare.split()) > 1 or bare != text
    if several:
        # A value and a stub of a word ("-way") tell too little to be found again.
        letters = sum(map(len, words))
        return " " in text and letters >= (3 if bare == text else 2)
    return labels and LABEL.fullmatch(text) is not None and text[-1:] != "_"
