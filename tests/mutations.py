"""Change the plugins' code in small ways, one change at a time, and list the changes that no test notices.

    python tests/mutations.py [PLUGIN...] [--kinds KIND...] [--files PART...] [--sample N] [--seed S] [--seconds T] [--list]

PLUGIN is a name such as `laki`; without any, all plugins are changed. The changes are made in a copy of the repository
in a temporary folder. A tracer first finds the lines that each test executes. The tests of a change are those that
execute its line: of `tests/plugins/PLUGIN`, and of the shared files that import the plugin. They run in the order of
their durations, in a process of their own, until one fails. A change that ends in an error or takes too long is noticed
too. The changes that are left are printed, each with its place, and so are those on lines that no test executes.

A change is of one of these kinds:

keyword     an argument that a call passes by name is left out
swapped     two arguments of a call that are names or attributes change places
default     a parameter of a component that is passed on is replaced by its default
term        one side of a sum, a difference, a product, a quotient or a power is left out
call        a call of a NumPy function with one argument is replaced by the argument
constant    a number is changed, or True and False
comparison  a comparison is turned: < becomes >=
bound       a bound is moved: < becomes <=
logic       `and` and `or` change places; `not` is left out
statement   a statement such as `x += y` or a call whose result is not used is left out

Files with kernels are left out unless `--files kernels` names them, since each change has Numba compile the kernel anew.
Many changes are equivalent: no test could notice them. The reader judges.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = sorted(path.name.removeprefix("sublex_") for path in ROOT.glob("plugins/sublex_*"))
LEFT_OUT = (
    ".git",
    ".venv",
    "build",
    "indexes",
    "benchmarks",
    ".hypothesis",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
)
TURNED = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
MOVED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
KINDS = "keyword swapped default term call constant comparison bound logic statement".split()
# Keywords that are not changed: texts for people, ranges, and `strict`, which only checks lengths.
UNCHANGED = {"help", "range", "label", "message", "strict"}
# A change whose tests need longer than they usually do by these factors is stopped, and counts as noticed.
TIMES, SECONDS_MORE = 4, 20
# The exit code of a process that cannot make a change in functions that are loaded.
ELSEWHERE = 77


class Change(NamedTuple):
    """A change: the kind, the file, the place of the code that it replaces, and the code before and after.

    `lines` are the lines by which its tests are chosen; without any, all tests are. `imported` says whether the code runs
    when the module is imported.
    """

    kind: str
    path: Path
    line: int
    begin: int
    end: int
    before: str
    after: str
    lines: frozenset[int]
    imported: bool

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        if len(before) > 160:
            # The part that differs, with some of the text before it.
            same = next((k for k, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
            before, after = (f"…{text[max(0, same - 50) : same + 70]}…" for text in (before, after))
        return f"{self.path}:{self.line}: {self.kind}: {before}  →  {after}"


# Changes of a file.


class Changes(ast.NodeVisitor):
    """Collects the changes of one file."""

    def __init__(self, path: Path, source: str, defaults: dict[str, Any]):
        self.path, self.text, self.defaults = path, source.encode(), defaults
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Change] = []
        self.lines: frozenset[int] = frozenset()
        self.imported = True
        self.visit(ast.parse(source))

    def add(self, kind: str, node: ast.expr | ast.stmt, after: str | ast.expr) -> None:
        """Add the change that replaces a node."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        begin = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        before = self.text[begin:end].decode()
        code = after if isinstance(after, str) else f"({ast.unparse(after)})"
        if isinstance(after, ast.Call):
            code = code[1:-1]
        if " ".join(before.split()) != code:
            self.found.append(Change(kind, self.path, node.lineno, begin, end, before, code, self.lines, self.imported))

    def changed(self, kind: str, node: Any, change: Callable[[Any], None]) -> None:
        """Add the change that replaces a node by a copy on which `change` was called."""
        new = copy.deepcopy(node)
        change(new)
        self.add(kind, node, new)

    # What is not changed: texts, annotations, checks of types, and messages.

    def skip(self, node: ast.AST) -> None:
        """Change nothing in a node."""

    visit_JoinedStr = visit_Raise = visit_Assert = visit_Import = visit_ImportFrom = skip  # noqa: N815

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.statement(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.statement(node, [node.value])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = self.lines
        # Defaults belong to the tests that call the function.
        self.lines = frozenset(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default:
                self.visit(default)
        outer_imported, self.imported = self.imported, False
        for statement in node.body:
            self.visit(statement)
        self.lines, self.imported = outer, outer_imported

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.body)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt) and not isinstance(node, ast.ClassDef):
            self.statement(node)
        else:
            super().generic_visit(node)

    def statement(self, node: Any, parts: list[Any] | None = None) -> None:
        """Visit a statement. In functions, its own lines choose the tests; the lines of a body inside it do not."""
        outer = self.lines
        if outer:
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno
            self.lines = frozenset(range(node.lineno, max(node.lineno, last) + 1))
        if parts is None:
            super().generic_visit(node)
        for part in parts or ():
            self.visit(part)
        self.lines = outer

    # Kinds of changes.

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            if self.lines:
                self.statement(node, [node.value])
                outer, self.lines = self.lines, frozenset(range(node.lineno, (node.end_lineno or 0) + 1))
                self.add("statement", node, "pass")
                self.lines = outer
        elif not isinstance(node.value, ast.Constant):
            self.statement(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.statement(node, [node.value])
        outer, self.lines = self.lines, frozenset(range(node.lineno, (node.end_lineno or 0) + 1))
        self.add("statement", node, "pass")
        self.lines = outer

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        if name in ("isinstance", "cast", "TypeVar"):
            return
        self.visit(node.func)
        for number, argument in enumerate(node.args):
            self.visit(argument)
            if name != "Param":
                self.replaced(node, argument, lambda new, default, number=number: new.args.__setitem__(number, default))
            if number and all(isinstance(one, ast.Name | ast.Attribute) for one in node.args[number - 1 : number + 1]):
                self.changed("swapped", node, lambda new, k=number: new.args.insert(k - 1, new.args.pop(k)))
        named = [keyword for keyword in node.keywords if keyword.arg not in UNCHANGED]
        for keyword in named:
            place = node.keywords.index(keyword)
            self.visit(keyword.value)
            if keyword.arg and name != "Param":
                self.changed("keyword", node, lambda new, place=place: new.keywords.pop(place))
                self.replaced(
                    node,
                    keyword.value,
                    lambda new, default, place=place: setattr(new.keywords[place], "value", default),
                )
        plain = [
            node.keywords.index(one) for one in named if isinstance(one.value, ast.Name | ast.Attribute) and one.arg
        ]
        for first, second in zip(plain, plain[1:], strict=False):
            self.changed("swapped", node, lambda new, pair=(first, second): exchange(new.keywords, *pair))
        if (
            name.startswith("np.")
            and len(node.args) == 1
            and not node.keywords
            and not isinstance(node.args[0], ast.Starred)
        ):
            self.add("call", node, node.args[0])

    def replaced(self, call: ast.Call, argument: ast.expr, change: Callable[[Any, ast.expr], None]) -> None:
        """Add the change of an argument that is a parameter of a component to the parameter's default."""
        name = (
            argument.attr
            if isinstance(argument, ast.Attribute)
            else argument.id
            if isinstance(argument, ast.Name)
            else ""
        )
        if name in self.defaults:
            self.changed("default", call, lambda new: change(new, ast.Constant(self.defaults[name])))

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.visit(node.left), self.visit(node.right)
        texts = any(
            isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
            for part in ast.walk(node)
        )
        if not texts and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow):
            self.add("term", node, node.left)
            if isinstance(node.op, ast.Add | ast.Mult):
                self.add("term", node, node.right)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add("constant", node, repr(not node.value))
        elif isinstance(node.value, int):
            self.add("constant", node, repr(2 * node.value + 1))
        elif isinstance(node.value, float):
            self.add("constant", node, repr(node.value * 2 or 1.0))

    def visit_Compare(self, node: ast.Compare) -> None:
        super().generic_visit(node)
        if len(node.ops) == 1:
            for kind, table in (("comparison", TURNED), ("bound", MOVED)):
                if new := table.get(type(node.ops[0])):
                    self.changed(kind, node, lambda other, new=new: other.ops.__setitem__(0, new()))

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        super().generic_visit(node)
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self.changed("logic", node, lambda new: setattr(new, "op", other))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            self.add("logic", node, node.operand)


def exchange(keywords: list[ast.keyword], first: int, second: int) -> None:
    """Exchange the values of two keyword arguments."""
    keywords[first].value, keywords[second].value = keywords[second].value, keywords[first].value


def defaults_of(plugin: str) -> dict[str, Any]:
    """Return the defaults of the parameters that a plugin declares, by name. Expressions and required ones are left out."""
    found = {}
    for node in ast.walk(ast.parse((ROOT / f"plugins/sublex_{plugin}/__init__.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Param" and len(node.args) > 2:
            with suppress(ValueError):
                value = ast.literal_eval(node.args[2])
                if isinstance(value, bool | int | float | str) and ast.unparse(node.args[1]) != "Expression":
                    # A name that several lists declare has the value of the first, which is that of the model.
                    found.setdefault(ast.literal_eval(node.args[0]), value)
    return found


def changes_of(plugin: str, kinds: Iterable[str], files: Iterable[str]) -> Iterator[Change]:
    """Yield the changes of a plugin that can be compiled. `files` are parts of the names of files; without any, all but kernels."""
    defaults = defaults_of(plugin)
    for path in sorted((ROOT / f"plugins/sublex_{plugin}").rglob("*.py")):
        name = path.relative_to(ROOT)
        if any(part in str(name) for part in files) if files else not path.stem.endswith("kernels"):
            source = path.read_text(encoding="utf-8")
            seen = set()
            for change in Changes(name, source, defaults).found:
                new = changed_source(source, change)
                if change.kind in kinds and new not in seen:
                    with suppress(SyntaxError):
                        compile(new, str(name), "exec")
                        seen.add(new)
                        yield change


def changed_source(source: str, change: Change) -> str:
    """Return the source of a file with a change."""
    text = source.encode()
    return (text[: change.begin] + change.after.encode() + text[change.end :]).decode()


# Tests.


class Runner:
    """A plugin of pytest that runs chosen tests in processes of their own, which are forks of the process that collected the tests.

    `trace` notes for each test the seconds that it takes, and the lines of the changed package that it executes. The lines
    of a fixture count for each test that uses it.
    """

    def __init__(self, folder: Path, plugin: str, changes: list[Change], seconds: float, out: int):
        self.folder, self.changes, self.seconds, self.out = folder, changes, seconds, out
        self.root = folder / "copy"
        self.package = str(self.root / "plugins" / f"sublex_{plugin}") + os.sep
        self.lines: set[tuple[str, int]] = set()
        self.fixtures: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.durations: Counter[str] = Counter()
        self.bad = False

    def say(self, text: str) -> None:
        """Print a line, although pytest holds back what is printed."""
        os.write(self.out, f"{text}\n".encode())

    def pytest_runtestloop(self, session: Any) -> bool:
        """Find the lines of the tests, and then judge the changes inside functions."""
        items = {item.nodeid: item for item in session.items}
        began, traced = time.monotonic(), self.folder / "tests.json"
        self.in_fork(lambda: self.trace(session.items, traced), 1800)
        tests = json.loads(traced.read_text(encoding="utf-8"))
        self.say(f"{len(tests)} tests in {time.monotonic() - began:.0f} s; {len(self.changes)} changes")
        verdicts = []
        for change in self.changes:
            if change.imported:
                verdicts.append("")
                continue
            names = chosen(change, self.package, self.root, tests, self.seconds)
            usual = sum(tests[name]["seconds"] for name in names)
            code = self.in_fork(
                lambda change=change, names=names: self.judged(change, [items[n] for n in names]), limit(usual)
            )
            (self.root / change.path).write_text((ROOT / change.path).read_text(encoding="utf-8"), encoding="utf-8")
            verdicts.append(verdict(code) if names else "not executed")
            if verdicts[-1] == "left":
                self.say(f"left  {change}")
        (self.folder / "verdicts.json").write_text(json.dumps(verdicts), encoding="utf-8")
        return True

    def in_fork(self, work: Callable[[], int], seconds: float) -> int | None:
        """Return the exit code of a fork of this process that does `work`; None if it takes longer than `seconds`."""
        child = os.fork()
        if not child:
            code = 3
            try:
                os.setsid()
                code = work()
            except BaseException:
                self.say(traceback.format_exc())
            finally:
                os._exit(code)
        return waited(child, seconds)

    def run(self, items: list[Any]) -> bool:
        """Run tests until one fails, and return whether one does."""
        for number, item in enumerate(items):
            following = items[number + 1] if number + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.bad:
                return True
        return False

    def judged(self, change: Change, items: list[Any]) -> int:
        """Make a change in the file and in the functions that are loaded, and return the exit code of the tests."""
        file = self.root / change.path
        source = changed_source(file.read_text(encoding="utf-8"), change)
        file.write_text(source, encoding="utf-8")
        codes = {}
        waiting = [compile(source, str(file), "exec")]
        for code in waiting:
            codes[code.co_qualname] = code
            waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        for function in gc.get_objects():
            if type(function) is FunctionType and function.__code__.co_filename == str(file):
                try:
                    function.__code__ = codes[function.__code__.co_qualname]
                except (KeyError, ValueError):
                    return ELSEWHERE
        return int(self.run(items))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note how long a test took, and whether it failed."""
        self.durations[report.nodeid] += report.duration
        self.bad = self.bad or report.failed

    def trace(self, items: list[Any], result: Path) -> int:
        """Run all tests, and write for each test that passes its seconds and its lines by file."""
        threading.settrace(self.called)
        sys.settrace(self.called)
        found = {}
        for number, item in enumerate(items):
            self.bad, self.lines = False, set()
            following = items[number + 1] if number + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if not self.bad:
                lines = self.lines.union(*(self.fixtures[name] for name in item.fixturenames))
                files: dict[str, list[int]] = defaultdict(list)
                for file, line in sorted(lines):
                    files[file].append(line)
                if files:
                    found[item.nodeid] = {"seconds": self.durations[item.nodeid], "files": files}
        sys.settrace(None)
        result.write_text(json.dumps(found), encoding="utf-8")
        return 0

    def called(self, frame: Any, event: str, argument: Any) -> Any:
        """Trace the lines of a frame of the package."""
        if not frame.f_code.co_filename.startswith(self.package):
            return None
        lines, file = self.lines, frame.f_code.co_filename[len(self.package) :]

        def each(frame: Any, event: str, argument: Any) -> Any:
            lines.add((file, frame.f_lineno))
            return each

        return each

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Note the lines of a fixture apart."""
        outer, self.lines = self.lines, self.fixtures[fixturedef.argname]
        try:
            return (yield)
        finally:
            self.lines = outer


def limit(usual: float) -> float:
    """Return the most seconds for tests that usually take `usual` seconds."""
    return TIMES * usual + SECONDS_MORE


def verdict(code: int | None) -> str:
    """Return what the exit code of tests says about a change."""
    return "too slow" if code is None else {0: "left", ELSEWHERE: ""}.get(code, "noticed")


def waited(child: int, seconds: float) -> int | None:
    """Return the exit code of a child; None if it takes longer than `seconds` and is killed. Kill its own children, too."""
    until = time.monotonic() + seconds
    done = status = 0
    while not done and time.monotonic() < until:
        time.sleep(0.01)
        done, status = os.waitpid(child, os.WNOHANG)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not done:
        os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if done else None


def run_pytest(folder: Path, arguments: list[str], seconds: float, plugin: Runner | None = None) -> int | None:
    """Run pytest in the copy, in a process of its own. Return its exit code; None if it takes longer than `seconds`."""
    child = os.fork()
    if not child:
        code = 3
        try:
            os.setsid()
            out = os.open(folder / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1), os.dup2(out, 2)
            os.chdir(folder / "copy")
            # The folder of temporary files is emptied by each run.
            options = ["-q", "-n", "0", "-p", "no:cacheprovider", f"--basetemp={folder / 'temporary'}"]
            code = int(pytest.main([*arguments, *options], plugins=[plugin] if plugin else []))
        finally:
            sys.stdout.flush()
            os._exit(code)
    return waited(child, seconds)


def files_of_tests(plugin: str) -> list[str]:
    """Return the folder of a plugin's tests, and the shared files that import the plugin."""
    shared = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").glob("test_*.py"))
        if f"sublex_{plugin}" in path.read_text(encoding="utf-8")
    ]
    return [f"tests/plugins/{plugin}", *shared]


def chosen(change: Change, package: str, root: Path, tests: dict[str, Any], seconds: float) -> list[str]:
    """Return the tests of a change, as many as together take at most `seconds`. Tests of the same file stand together; the
    quickest come first.
    """
    file = os.path.relpath(root / change.path, package)
    own = [
        name
        for name, test in tests.items()
        if not change.lines or not change.lines.isdisjoint(test["files"].get(file, ()))
    ]
    of_file: Counter[str] = Counter()
    for name in own:
        of_file[name.partition("::")[0]] += tests[name]["seconds"]
    own.sort(key=lambda name: (of_file[name.partition("::")[0]], name.partition("::")[0], tests[name]["seconds"], name))
    found, total = [], 0.0
    for name in own:
        total += tests[name]["seconds"]
        if total <= seconds or not found:
            found.append(name)
    return found


def judge(folder: Path, plugin: str, changes: list[Change], seconds: float) -> tuple[Counter[str], list[str]]:
    """Make each change in the copy, and run its tests. Return how many were noticed, and the changes that were not."""
    began = time.monotonic()
    print(f"{plugin}: ", end="", flush=True)
    runner = Runner(folder, plugin, changes, seconds, os.dup(1))
    for name in ("verdicts.json", "tests.json"):
        (folder / name).unlink(missing_ok=True)
    run_pytest(folder, files_of_tests(plugin), 86400, runner)
    if not (folder / "verdicts.json").exists():
        return Counter(), [f"the tests of {plugin} did not run: {(folder / 'output.txt').read_text()[-2000:]}"]
    verdicts = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))
    tests = json.loads((folder / "tests.json").read_text(encoding="utf-8"))
    for number, change in enumerate(changes):
        if not verdicts[number]:
            # Code that runs when it is imported needs a process that has not imported it.
            names = chosen(change, runner.package, runner.root, tests, seconds)
            file = folder / "copy" / change.path
            source = file.read_text(encoding="utf-8")
            file.write_text(changed_source(source, change), encoding="utf-8")
            usual = sum(tests[name]["seconds"] for name in names)
            verdicts[number] = verdict(run_pytest(folder, ["-x", *names], limit(usual))) if names else "not executed"
            file.write_text(source, encoding="utf-8")
            if verdicts[number] == "left":
                print(f"left  {change}", flush=True)
    counts = Counter(verdicts)
    print(
        f"{plugin}: {', '.join(f'{n} {what}' for what, n in counts.items())}; {time.monotonic() - began:.0f} s",
        flush=True,
    )
    left = zip(verdicts, changes, strict=True)
    return counts, [f"{what}  {change}" for what, change in left if what in ("left", "not executed")]


def main() -> None:
    """Read the arguments, make the changes, and print what is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugins", nargs="*", metavar="PLUGIN", help=", ".join(PLUGINS))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, metavar="KIND")
    parser.add_argument(
        "--files", nargs="+", default=[], metavar="PART", help="only files whose path has a part such as units.py"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="at most N changes of each plugin, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the sample")
    parser.add_argument("--seconds", type=float, default=60, help="the most seconds of tests for a change")
    parser.add_argument("--list", action="store_true", help="print the changes without making them")
    given = parser.parse_args()
    if unknown := set(given.plugins) - set(PLUGINS):
        parser.error(f"there is no plugin {', '.join(sorted(unknown))}; the plugins are {', '.join(PLUGINS)}")
    made = {name: list(changes_of(name, given.kinds, given.files)) for name in given.plugins or PLUGINS}
    for name, changes in made.items():
        if given.sample is not None and len(changes) > given.sample:
            picked = random.Random(f"{given.seed} {name}").sample(range(len(changes)), given.sample)
            made[name] = [changes[k] for k in sorted(picked)]
    if given.list:
        for changes in made.values():
            print(*changes, sep="\n")
        return
    os.environ |= {"SUBLEX_TESTS": "quick", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory(prefix="sublex-mutations-") as name:
        folder = Path(name)
        # The compiled kernels are copied, too, so that Numba need not compile them again.
        shutil.copytree(ROOT, folder / "copy", ignore=shutil.ignore_patterns(*LEFT_OUT, "*.pyc"), symlinks=True)
        os.environ["PYTHONPATH"] = os.pathsep.join(str(folder / "copy" / part) for part in ("engine", "plugins"))
        sys.dont_write_bytecode = True
        sys.path[:] = [
            str(folder / "copy" / "engine"),
            *(part for part in sys.path if Path(part or ".").resolve() != ROOT / "tests"),
        ]
        # All children share what is imported here. The plugins are not.
        import numba  # noqa: F401
        import scipy.sparse  # noqa: F401

        import sublex  # noqa: F401

        assert not any(module.startswith("sublex_") for module in sys.modules), "a plugin is imported"
        total, left = Counter[str](), []
        for plugin, changes in made.items():
            counts, own = judge(folder, plugin, changes, given.seconds)
            total, left = total + counts, left + own
    print(
        f"\n{sum(total.values())} changes: {', '.join(f'{count} {what}' for what, count in total.items())}.",
        *left,
        sep="\n",
    )


if __name__ == "__main__":
    main()
