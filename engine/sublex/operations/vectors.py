"""Operations on vectors that other programs computed for documents: vectors add, vectors list, vectors remove."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sublex.forms.lines import Shown, line, records, sentence
from sublex.operations.context import OperationContext
from sublex.operations.declaring import operation, option, positional
from sublex.operations.parameters import Workers
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.representations.vector_sets import VectorsSummary

Name = Annotated[str, positional("NAME")]


def add_code(given: Mapping[str, Any]) -> str:
    """Return Python code for a call of `vectors add`."""
    named = {
        "ids": given["ids"],
        "stored": given["stored"],
        "replace": given["replace"] or None,
        "encoder": given["encoder"],
    }
    options = "".join(f", {name}={value!r}" for name, value in named.items() if value is not None)
    return f"index.add_vectors({given['name']!r}, {list(given['files'])!r}{options})"


@operation("vectors add", shell="vectors-add", faces=("cli", "shell"), python=add_code, changes=True)
def add(
    context: OperationContext,
    name: Name,
    files: Annotated[tuple[str, ...], positional("FILE", completes="file")],
    ids: Annotated[str | None, option("--ids", metavar="FILE", completes="file", shown="beside the file")] = None,
    stored: Annotated[Literal["float32", "float16", "int8"] | None, option("--as", shown="float32")] = None,
    replace: bool = False,
    encoder: Annotated[str | None, option(metavar="EXPR", completes="expression")] = None,
    memory: Annotated[str, option(metavar="SIZE")] = "4GB",
    workers: Workers = None,
) -> Shown:
    """Give documents the vectors that another program computed for them.

    FILE is JSON lines or Parquet with the fields id and vector, .npz with the arrays docnos and rows, or .npy with the
    docnos on the lines of a second file. The expression dense(NAME) then ranks by the vectors. If each vector is a list of
    vectors, or .npz has the array sizes too, these are matrices, and late(NAME) ranks by them. If each vector is an object
    of terms with weights, or .npz has a matrix of SciPy with the arrays docnos and terms, sparse(NAME) ranks by them. It
    also ranks by the frequencies of a CIFF file, and of a Lucene index that Anserini made with -impact. A document without
    a vector gets no score. If the index has vectors of this NAME, documents that have one keep it.

    Args:
        ids: The file with the docnos of a .npy file, one on each line.
        stored: Store numbers in this type; the summary says what float16 and int8 lose.
        replace: Replace all vectors of this name.
        encoder: The encoder of queries, such as 'onnx("FOLDER")'; the index stores its hash, and your own list its path.
        memory: Memory that reading may take.

    Examples:
        sublex vectors add demo bge bge.npz
        sublex search demo "the crane" -r "dense(bge)" --queries bge=queries.npz
    """
    from sublex.building.indexing import parse_size
    from sublex.tools.arguments import threads

    index = context.index
    with context.step("Read and stored the vectors"), context.changing(), context.progress(name, "vectors") as advance:
        summary = index.add_vectors(
            name, list(files), ids, stored=stored, replace=replace, encoder=encoder, memory=parse_size(memory), workers=threads(workers),
            progress=lambda done, total: advance(done), say=context.say,
        )  # fmt: skip
    return Shown(lambda: [line(text, indent=0) for text in _sentences(summary, str(context.path))], summary._asdict)


def _sentences(summary: VectorsSummary, path: str) -> list[str]:
    """Return sentences about the vectors that were added."""
    state = "has" if summary.changed else "had already"
    what, content = "vector", f"vectors of {summary.width:,} numbers"
    if summary.kind == "sparse":
        content = f"{counted(summary.rows, 'weight')} of {counted(summary.width, 'term')}"
    elif summary.rows:
        what, content = "matrix", f"matrices with {counted(summary.rows, 'row')} of {summary.width:,} numbers"
    found = [
        f"{path} {state} {summary.name}: {content} as {summary.stored}, ranked by {summary.expression}",
        f"read {_counted(summary.read, what)}, {summary.matched:,} of them of documents",
    ]
    if summary.without_document:
        found.append(f"{_counted(summary.without_document, what)} without a document left out")
    if summary.without_vector:
        found.append(
            f"{counted(summary.without_vector, 'document')} without a {what}; {summary.expression} has no opinion on them"
        )
    if summary.zeros:
        verb = "is 0 and has" if summary.zeros == 1 else "are 0 and have"
        found.append(f"{counted(summary.zeros, 'vector')} {verb} no cosine")
    if summary.stored != "float32":
        found.append(f"{summary.stored} moves a vector by at most {summary.lost:.2g} of its length")
    return found


def _counted(number: int, what: str) -> str:
    return f"{number:,} matrices" if what == "matrix" and number != 1 else counted(number, what)


@operation("vectors list", shell="vectors", python="index.vectors")
def list_vectors(context: OperationContext) -> Shown:
    """List the vectors of an index that other programs computed.

    Examples:
        sublex vectors list demo
    """
    rows = [
        (name, f"{entry.kind}({name})", entry.matched, entry.hash)
        for name, entry in sorted(context.index.vectors.items())
    ]
    return records(("name", "expression", "vectors", "hash"), rows)


@operation("vectors remove", shell="vectors-remove", python="index.remove_vectors({name})", changes=True)
def remove(context: OperationContext, name: Name) -> Shown:
    """Remove vectors from an index, with the models that rank by them.

    Examples:
        sublex vectors remove demo bge
    """
    context.index.remove_vectors(name)
    return sentence(f"{name} is gone from {context.path}")
