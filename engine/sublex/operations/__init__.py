"""Operations: the requests that users make, such as search or fit. Each is declared once, for all faces.

A *face* is a program in which users meet Sublex: the command line, the shell or the service. The faces are made from
the table of operations.

An operation is a typed function with the decorator `operation`. It gets an `OperationContext`, which gives it the
index, messages and progress of the face that called it. It returns `Shown`, and prints nothing:

    @operation(needs=Needs.MODEL, forms=("table", "json", "csv"))
    def labels(context: OperationContext, expression: Model, number: Annotated[int, option("-n", least=1)] = 10) -> Shown:
        '''List the labels of a fitted model.

        Args:
            number: Maximum number of labels.

        Examples:
            sublex labels demo 'lda(k=20)'
        '''

The signature declares the parameters: name, type, default, and further facts in `Annotated` (help, metavar, range,
completion, short name). The faces make four things of it: a command with options, --format, -o and -v; a command of the
shell; help and completion in both; and `:to-cli` and `:to-python`. In the shell, the session supplies the values that
it remembers (the query, the ranker, the profile, ranks in place of docnos). If a message names the operation to call
next, the name is data, a `Step`, which each face turns into its own words.

`SECTIONS` lists the operations by name and file, so that the table is quick to import; a file is imported when one of
its operations is asked for. Plugins add operations by the hook `register_operations`. A function whose name ends in
`_code` returns the Python code of a call of an operation; `given` has the arguments of the call by name.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sublex.errors import InputError
from sublex.operations.context import OperationContext
from sublex.operations.declaring import INDEXED, File, Needs, Operation, Parameter, operation, option, positional

if TYPE_CHECKING:
    from sublex.language.plugins import Registry

__all__ = [
    "GROUPS",
    "INDEXED",
    "NAMES",
    "SECTIONS",
    "WITHOUT_COMMAND",
    "File",
    "Needs",
    "Operation",
    "OperationContext",
    "Parameter",
    "find",
    "operation",
    "option",
    "plugin_operations",
    "positional",
]  # fmt: skip

# The operations by section. Each has its file in this room and, if it differs, the name of its function. If the file
# begins with `sublex.`, it belongs to a face, and only this face has the operation.
SECTIONS = {
    "Build and change an index": {
        "index": "building", "attach": "exchanging", "add": "building",
        "delete": "changing", "merge": "changing", "join": "changing", "split": "changing", "check": "changing",
    },
    "Keep an index in shards": {
        "cluster build": "clusters:build", "cluster add": "clusters:add", "cluster delete": "clusters:delete",
        "cluster check": "clusters:check", "cluster info": "clusters:info",
    },
    "Exchange indexes with other engines": {"ciff export": "exchanging:export", "ciff import": "exchanging:import_file"},
    "Look into an index": {
        "indexes": "looking", "info": "looking", "doc": "looking", "terms": "looking", "term": "looking", "analyze": "looking",
        "duplicates": "duplicating",
    },
    "Rank documents": {
        "shell": "sublex.shell.start", "search": "searching", "facets": "searching", "similar": "searching", "versus": "searching",
        "explain": "explaining", "why-not": "explaining:why_not", "run": "running", "fuse": "running",
        "name": "naming", "unname": "naming",
    },
    "Evaluate rankings": {
        "eval": "evaluating:measure", "compare": "evaluating", "disagree": "disagreeing", "pool": "pooling",
        "tune": "evaluating", "features": "learning", "lint": "linting",
        "study": "studying", "study new": "studying:new", "reproduce": "studying",
    },
    "Fit models": {
        "fit": "fitting", "card": "fitting", "forget": "fitting", "encode": "fitting", "label": "labelling",
        "vectors add": "vectors:add", "vectors list": "vectors:list_vectors", "vectors remove": "vectors:remove",
        "resource add": "resources:add", "resource remove": "resources:remove", "resource list": "resources:list_resources",
        "encoder add": "encoders:add", "encoder remove": "encoders:remove", "encoder list": "encoders:list_encoders",
    },
    "Serve indexes": {"serve": "sublex.service.start", "mcp": "sublex.service.start"},
    "Components, plugins, the demo and compilation": {
        "components": "looking", "backends": "looking", "plugins": "looking",
        "plugin new": "sublex.cli.plugin:new", "plugin test": "sublex.cli.plugin:test",
        "demo": "sublex.cli.demo", "warmup": "sublex.cli.warmup",
    },
}  # fmt: skip
# The purpose of each group of operations with the same first word.
GROUPS = {
    "ciff": """Write and read CIFF files, in which engines exchange postings.

    CIFF is the Common Index File Format: Anserini, PISA, Terrier, JASS, OldDog and others read or write it.""",
    "cluster": """Build and change a cluster, an index whose documents lie in shards.

    Its scores are those of one index of all documents. Every other command takes a cluster in the place of an index.""",
    "resource": """Keep files that models read, such as word vectors, with an index.

    A model names a resource in its expression.""",
    "vectors": """Rank by vectors that other programs computed for documents.

    Expressions name them, as in dense(NAME).""",
    "encoder": """Keep encoders, which turn texts into vectors, in your own configuration.

    An expression names them; an index never has their paths.""",
    "plugin": "Write a plugin, or test one.",
}
NAMES = {name: place for section in SECTIONS.values() for name, place in section.items()}
# On the command line, these are options of other operations, or have a special form.
WITHOUT_COMMAND = frozenset(("term", "facets", "versus", "why-not"))
# The section of the operations of plugins.
PLUGINS = "Plugins"


def find(name: str) -> Operation:
    """Import the file of the operation with this name, and return the operation."""
    module, _, function = NAMES[name].partition(":")
    found: Operation = getattr(
        import_module(module if "." in module else f"sublex.operations.{module}"), function or name
    )
    return found


def plugin_operations(registry: Registry) -> tuple[list[Operation], list[str]]:
    """Return the operations that the installed plugins register, and a sentence for each plugin that failed."""
    found: dict[str, Operation] = {}

    def register(given: Operation) -> None:
        if given.name in found or given.name in NAMES:
            raise InputError(f"There is an operation {given.name} already")
        given.section = PLUGINS
        found[given.name] = given

    failures = registry.call_all("register_operations", register, "operations")
    return list(found.values()), failures
