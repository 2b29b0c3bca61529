"""The house rules that a machine can see: imports go one way, kernels have files of their own, nothing is unpickled or printed."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ENGINE = Path(__file__).parents[1] / "engine" / "sublex"
# The template is what a user's package begins as.
FILES = sorted(path for path in ENGINE.rglob("*.py") if "template" not in path.parts)
KNOWN = frozenset(FILES)
# The decorators of kernels, and those of Numba itself.
WORDS_OF_KERNELS = re.compile("jit|kernel|inner")
# Each layer may import from those before it and from itself.
LAYERS = [
    {"errors", "tools"},
    {"forms"},
    {"trees"},
    {"contracts", "language"},
    {"analysis"},
    {"readers", "trec"},
    {"vectors"},
    {"estimators"},
    {"index"},
    {"query_language"},
    {"building"},
    {"other_engines"},
    {"rankers"},
    {"retrieval"},
    {"representations"},
    {"expanders", "filters"},
    {"pipeline"},
    {"statistics", "lint"},
    {"evaluation"},
    {"learning"},
    {"tuning"},
    {"report"},
    {"studies"},
    {"display"},
    {"__init__"},
    {"operations"},
    {"testing", "pyterrier"},
    {"faces"},
    {"cli"},
    {"shell"},
    {"service"},
    {"__main__"},
]


def layer(name: str) -> int:
    for number, names in enumerate(LAYERS):
        if name in names:
            return number
    raise AssertionError(f"{name} belongs to no layer")


class Facts(NamedTuple):
    """What the rules look at in a file. The whole tree is not kept, because much memory makes the reading of files slow.

    `loaded` are the imports that run when the file is loaded; they are among `imports`. `touches` are the names by which a
    file that is `GUARDED` could open, remove or rename a file.
    """

    imports: list[ast.Import | ast.ImportFrom]
    loaded: list[ast.ImportFrom]
    functions: list[ast.FunctionDef]
    classes: list[str]
    touches: set[str]


def syntax(path: Path) -> ast.Module:
    """Return a file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements below a node. Expressions, of which there are ten times as many, are left out."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for inside in ("body", "orelse", "finalbody", "handlers", "cases"):
            if isinstance(found := getattr(node, inside, None), list):
                left += found


@cache
def facts(path: Path) -> Facts:
    """Return the facts about a file."""
    tree = syntax(path)
    found = [*statements(tree)]
    functions = [node for node in found if isinstance(node, ast.FunctionDef)]
    return Facts(
        [node for node in found if isinstance(node, (ast.Import, ast.ImportFrom))],
        [*loaded_imports(tree)],
        [node for node in functions if any(WORDS_OF_KERNELS.search(ast.unparse(d)) for d in node.decorator_list)],
        [node.name for node in found if isinstance(node, ast.ClassDef)],
        set(disk_calls(tree)) if path in GUARDED else set(),
    )


def loaded_imports(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    """Yield the imports that run when a file is loaded: not those inside functions, nor those for type checkers."""
    left: list[ast.AST] = [*tree.body]
    while left:
        node = left.pop()
        if isinstance(node, ast.ImportFrom):
            yield node
        elif isinstance(node, (ast.ClassDef, ast.Try, ast.With)):
            left += node.body
        elif isinstance(node, ast.If) and ast.unparse(node.test) != "TYPE_CHECKING":
            left += [*node.body, *node.orelse]


@cache
def is_room(name: str) -> bool:
    return (ENGINE / name).exists() or (ENGINE / f"{name}.py").exists()


def imports(path: Path) -> set[str]:
    """Return the rooms of sublex that a file imports."""
    found: set[str] = set()
    for node in facts(path).imports:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sublex":
            parts = node.module.split(".")
            names = [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
            found |= {name if is_room(name) else "__init__" for name in names}
        elif isinstance(node, ast.Import):
            found |= {
                alias.name.split(".")[1] if "." in alias.name else "__init__"
                for alias in node.names
                if alias.name.split(".")[0] == "sublex"
            }
    return found


def test_imports_go_one_way():
    wrong = [
        f"{path.relative_to(ENGINE)} imports sublex.{name}"
        for path in FILES
        # The public API names what is beneath it, inside functions.
        if (own := path.relative_to(ENGINE).parts[0].removesuffix(".py")) != "__init__"
        for name in imports(path)
        if layer(name) > layer(own)
    ]
    assert not wrong, "imports of a room that stands below"


def loaded_with(path: Path) -> set[Path]:
    """Return the files of sublex that Python loads when it imports a file."""
    found: set[Path] = set()
    for node in facts(path).loaded:
        if (node.module or "").startswith("sublex."):
            place = ENGINE.joinpath(*node.module.split(".")[1:])
            for alias in node.names:
                inside = place / f"{alias.name}.py", place / alias.name / "__init__.py"
                files = *inside, place.with_suffix(".py"), place / "__init__.py"
                found.add(next(file for file in files if file in KNOWN))
    return found


def test_no_file_imports_itself_through_others():
    left = {path: loaded_with(path) - {path} for path in FILES}
    while free := {path for path, others in left.items() if not others & left.keys()}:
        left = {path: others for path, others in left.items() if path not in free}
    assert not left


def test_the_faces_import_nothing_of_one_another():
    faces = ("cli", "shell", "service")
    for face in faces:
        others = {*faces} - {face}
        assert not [path for path in (ENGINE / face).rglob("*.py") if others & imports(path)]


def test_the_layers_name_every_part():
    parts = {path.relative_to(ENGINE).parts[0].removesuffix(".py") for path in FILES}
    assert parts == set().union(*LAYERS)


def test_plugins_import_public_modules_only():
    page = (ENGINE.parents[1] / "docs" / "plugins.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"([^.]*(?:`sublex[\w.]*`[^.]*)*) are\s+for\s+plugins\s+to\s+import\.", page)
    public = set(re.findall(r"`(sublex[\w.]*)`", sentence))
    assert {"sublex.contracts.fitted", "sublex.operations"} <= public
    files = [*ENGINE.parents[1].glob("plugins/**/*.py"), *(ENGINE / "template").rglob("*.py")]
    private = [
        f"{path.name} imports {module}"
        for path in files
        for node in facts(path).imports
        for module in ([node.module] if isinstance(node, ast.ImportFrom) else [])
        if module and module.split(".")[0] == "sublex"
        if module not in public and not module.startswith("sublex.estimators.")
    ]
    assert not private


PLUGINS = [path for path in ENGINE.parents[1].glob("plugins/*") if (path / "__init__.py").exists()]


def test_no_plugin_imports_another():
    wrong = [
        f"{path.relative_to(plugin.parent)} imports {module}"
        for plugin in PLUGINS
        for path in plugin.rglob("*.py")
        for node in facts(path).imports
        for module in (
            [node.module or ""] if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        )
        if module.split(".")[0] in {other.name for other in PLUGINS} - {plugin.name}
    ]  # fmt: skip
    assert PLUGINS and not wrong, "a plugin builds on another through a model that it depends on, or both on the engine"


def test_no_function_of_a_plugin_has_the_name_of_one_of_its_modules():
    """Importing the module would put it in the place of the function."""
    for plugin in PLUGINS:
        tree = ast.parse((plugin / "__init__.py").read_text(encoding="utf-8"))
        names = {each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef)}
        assert not names & {path.stem for path in plugin.iterdir()}, plugin.name


def test_the_tests_of_each_plugin_lie_in_a_folder_of_its_name():
    folders = {path.name for path in (ENGINE.parents[1] / "tests" / "plugins").iterdir() if [*path.glob("test_*.py")]}
    assert folders == {plugin.name.removeprefix("sublex_") for plugin in PLUGINS}


def functions(path: Path, decorator: str) -> list[ast.FunctionDef]:
    """Return the functions of a file with a decorator of kernels."""
    return [node for node in facts(path).functions if any(decorator in ast.unparse(d) for d in node.decorator_list)]


def test_files_of_kernels_contain_all_kernels_and_nothing_else():
    for path in [*FILES, *ENGINE.parents[1].glob("plugins/**/*.py")]:
        if "numba" not in path.read_text(encoding="utf-8") and "compiled" not in path.read_text(encoding="utf-8"):
            continue
        # Machine code is renewed by what such decorators mark. Numba has others, whose functions it could not see.
        assert path.name == "compiled.py" or not functions(path, "jit"), (
            f"{path}: use the decorators of sublex.tools.compiled"
        )
        kernels = {node.lineno for node in (*functions(path, "kernel("), *functions(path, "inner"))}
        if path.name.endswith("_kernels.py"):
            for node in syntax(path).body:
                if isinstance(node, ast.FunctionDef):
                    lines = range(node.lineno, (node.end_lineno or 0) + 1)
                    assert kernels.intersection(lines), f"{path}: {node.name} is no kernel"
        else:
            assert not kernels, f"{path}: kernels live in files called …_kernels.py"


def test_no_two_files_of_kernels_have_the_same_name():
    names = [path.name for root in (ENGINE, *PLUGINS) for path in root.rglob("*_kernels.py")]
    assert len(names) > 30 and len(names) == len(set(names))


def test_no_two_classes_have_the_same_name():
    # A user of PyTerrier knows its retrievers by this name.
    files = [*FILES, *(path for plugin in PLUGINS for path in plugin.rglob("*.py"))]
    found = Counter(name for path in files if path.name != "pyterrier.py" for name in facts(path).classes)
    assert len(found) > 500 and not [name for name, number in found.items() if number > 1]


def test_nothing_is_unpickled_evaluated_or_printed():
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\bpickle\b|pickle\.loads?\(|allow_pickle=True|\beval\(|\bexec\(|fastmath=True", text), (
            path
        )
        if path.relative_to(ENGINE).parts[0] not in ("cli", "shell") and "print(" in text:
            calls = (node.func for node in ast.walk(syntax(path)) if isinstance(node, ast.Call))
            assert not [call.lineno for call in calls if isinstance(call, ast.Name) and call.id == "print"], path


# The disk. Within an index only `index/directory.py` opens, removes and renames, by handles that no link can lead astray.

GUARDED = [
    path
    for path in FILES
    if path.relative_to(ENGINE).parts[0]
    in ("index", "building", "other_engines", "representations", "retrieval", "pipeline")
    and "ciff" not in path.parts
]
GUARDED.append(ENGINE / "evaluation" / "systems.py")
# Functions of os that take a descriptor, or do nothing to a file; os.path only looks.
HARMLESS = {"close", "cpu_count", "fspath", "fstat", "fsync", "getpid", "path", "read", "sep", "set_blocking", "write"}
METHODS = set("open iterdir glob rglob mkdir rmdir unlink rename chmod symlink_to hardlink_to tofile".split())
METHODS |= {"read_bytes", "read_text", "write_bytes", "write_text"}
ARRAYS = {"load", "save", "memmap", "fromfile", "genfromtxt", "loadtxt", "savetxt"}
TOOLS = {
    "sublex.tools.files": {"allow_many_files", "hash_of_stream"},
    "sublex.readers.source": {"FileSource", "files_below"},
    "sublex.tools.plain_files": set(),
    "shutil": {"copyfileobj"},
    "tempfile": set(),
}
# Calls that touch files outside an index: collections, the folder of all indexes, files to copy into an index, outputs, scratch folders.
USERS_OWN = {
    "index/directory.py": None,
    "other_engines/attaching.py": {"backend.open"},
    "other_engines/weights.py": {"os.PathLike"},
    "index/attachment.py": {"self._backend.open"},
    "building/document_source.py": {"os.stat", "os.PathLike"},
    "index/foreign_places.py": {
        "sublex.tools.plain_files.open_plain",
        "os.environ",
        "path.parent.mkdir",
        "sublex.tools.files.replace_file",
    },
    "building/indexing.py": {"os.PathLike"},
    "index/lookup.py": {"os.environ", "os.stat", "folder.glob"},
    "index/snapshot.py": {"os.PathLike"},
    "pipeline/documents.py": {"os.PathLike", "sublex.tools.files.replacing"},
    "pipeline/index.py": {"os.PathLike"},
    "pipeline/running.py": {"folder.mkdir"},
    "pipeline/stages/score_cache.py": {"self.path.parent.mkdir"},
    "representations/export.py": {"sublex.tools.files.replacing"},
    "representations/job.py": {"tempfile.TemporaryDirectory"},
    "representations/resources.py": {"open", "os.scandir", "sublex.tools.files.hash_of"},
}


def disk_calls(tree: ast.Module) -> Iterator[str]:
    """Yield the names in a file by which it could open, remove or rename a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in TOOLS:
            yield from (f"{node.module}.{alias.name}" for alias in node.names if alias.name not in TOOLS[node.module])
        elif isinstance(node, ast.ImportFrom) and node.module in ("os", "io", "pathlib", "mmap"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names if alias.name != "Path")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module, name = node.value.id, node.attr
            forbidden = {"os": name not in HARMLESS, "np": name in ARRAYS, "numpy": name in ARRAYS, "io": True}
            if forbidden.get(module, module in TOOLS and name not in TOOLS[module]):
                yield f"{module}.{name}"
        if isinstance(node, ast.Call):
            called, arguments = node.func, len(node.args)
            if isinstance(called, ast.Name) and called.id == "open":
                yield "open"
            elif isinstance(called, ast.Attribute) and ast.unparse(called.value) not in ("os", "np"):
                # Path.replace takes one argument and str.replace two; Path.touch takes none and Component.touch two.
                single = called.attr in ("replace", "touch") and arguments < 2
                if single or called.attr in METHODS:
                    yield ast.unparse(called)


def test_only_one_file_touches_the_disk_within_an_index():
    for path in GUARDED:
        name = str(path.relative_to(ENGINE))
        allowed = USERS_OWN.get(name, set())
        if allowed is not None:
            assert facts(path).touches == allowed, f"{name}: go through sublex.index.directory"


def test_the_copies_of_the_spare_bytes_agree():
    files = ENGINE / "analysis" / "interner_kernels.py", ENGINE / "readers" / "batch.py"
    first, second = (re.findall(r"^SPARE = (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE) for file in files)
    assert len(first) == 1 and first == second


# docs/architecture.md.

PAGE = ENGINE.parents[1] / "docs" / "architecture.md"


def test_the_architecture_page_has_the_rooms_in_the_order_of_imports():
    table = PAGE.read_text(encoding="utf-8").partition("## Rooms")[2].partition("## ")[0]
    rows = [re.findall(r"`(\w+)/?`", row.split("|")[1]) for row in table.splitlines() if row.startswith("| `")]
    order = [layer(name) for row in rows for name in row]
    assert {name for row in rows for name in row} == set().union(*LAYERS) - {"__main__"}
    assert all(
        max(map(layer, above)) <= min(map(layer, below)) for above, below in zip(rows, rows[1:], strict=False)
    ), order


def test_the_architecture_page_names_functions_that_exist():
    for file, name in re.findall(r"`([\w/]+\.py): ([\w.]+)`", PAGE.read_text(encoding="utf-8")):
        (path,) = [path for path in FILES if str(path).endswith(f"/{file}")]
        node: ast.AST = syntax(path)
        for part in name.split("."):
            inside = [n for n in node.body if isinstance(n, (ast.ClassDef, ast.FunctionDef)) and n.name == part]
            assert inside, f"{file} has no {name}"
            node = inside[0]
