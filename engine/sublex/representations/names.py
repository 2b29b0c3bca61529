"""Names that an index gives to expressions: giving and removing them, each in one commit.

`language/names.py` says which names are allowed, and writes them out in expressions.
"""

from __future__ import annotations

from pathlib import Path

from sublex.contracts.stored import is_text
from sublex.errors import IndexProblem, InputError
from sublex.index.entries import Manifest
from sublex.index.lock import locked
from sublex.index.manifest import commit, read_manifest, remove_leftovers
from sublex.index.schema import ABSENT
from sublex.language.expression import Expression, fill, ranges
from sublex.language.names import MOST, check_name, found, mentioned, unknown_name
from sublex.language.parser import parse
from sublex.language.plugins import Registry
from sublex.representations.identity import Namer


def give(root: Path, name: str, expression: str | Expression, registry: Registry | None = None) -> str:
    """Give a name to an expression.

    Return the expression that had the name before, or an empty text. The expression may have ranges, such as {0..1}.
    Its components must be known, but need not be fitted. Raise InputError for a name that is not allowed, and for an
    expression that cannot be used.
    """
    tree = parse(expression) if isinstance(expression, str) else expression
    if not is_text(str(tree)):
        raise InputError(f"The expression of {name} holds bytes that are not UTF-8; correct it.")
    with locked(root, "name"):
        manifest = read_manifest(root)
        remove_leftovers(root, manifest)
        names = dict(manifest.names)
        namer = Namer(root, manifest, registry)
        check(manifest, name, namer.registry)
        before = found(name, names)
        changed = {known: text for known, text in names.items() if known != before} | {name: str(tree)}
        if len(changed) > MOST:
            raise InputError(f"{root.name} has {MOST:,} names, which is the most; remove one first.")
        namer.names = changed
        whole = namer.written_out(parse(name))
        namer.registry.resolve_all(fill(whole, [item.values[0] for item in ranges(whole)]))
        if changed != names:
            commit(root, manifest.next(names=changed))
    return names[before] if before is not None else ""


def check(manifest: Manifest, name: str, registry: Registry) -> None:
    """Raise InputError unless a name is free for an expression of an index."""
    check_name(name, registry, [entry.expression.partition("(")[0] for entry in manifest.fitted.values()])


def remove(root: Path, name: str, registry: Registry | None = None) -> str:
    """Remove a name, and return its expression.

    Raise IndexProblem for an unknown name, and for one that another name contains.
    """
    with locked(root, "unname"):
        manifest = read_manifest(root)
        known = found(name, manifest.names)
        if known is None:
            raise IndexProblem(unknown_name(name, manifest.names, root))
        remaining = {other: text for other, text in manifest.names.items() if other != known}
        registry = Namer(root, manifest, registry).registry
        users = [
            other for other, text in remaining.items() if known in mentioned(parse(text), manifest.names, registry)
        ]
        if users:
            raise IndexProblem(
                f"{', '.join(users)} {'contains' if len(users) == 1 else 'contain'} {known}; change that first."
            )
        commit(root, manifest.next(names=remaining or ABSENT))
    return manifest.names[known]
