"""Operations that exchange indexes with other engines: attach, ciff export, ciff import."""

from __future__ import annotations

import os
from typing import Annotated

from sublex.errors import InputError
from sublex.forms.lines import Shown, line, sentence, table_lines
from sublex.operations.building import built
from sublex.operations.context import OperationContext
from sublex.operations.declaring import Needs, operation, option, positional
from sublex.operations.parameters import DataFile, Overwrite, OverwriteFile, Workers
from sublex.tools.messages import Step, counted
from sublex.tools.outputs import expect_folder


@operation(needs=Needs.NEW, faces=("cli",), forms=("table",))
def attach(
    context: OperationContext,
    source: Annotated[str | None, positional("BACKEND:PATH")] = None,
    analyzer: Annotated[str | None, option(completes="analyzer", shown="as the other engine")] = None,
    profile: Annotated[str | None, option(completes="profile", shown="the back end's")] = None,
    field: Annotated[tuple[str, ...], option(metavar="NAMES", shown="the back end chooses")] = (),
    docno: Annotated[str | None, option(metavar="FIELD", shown="the back end chooses")] = None,
    positions: bool = False,
    trust: bool = False,
    refresh: bool = False,
    overwrite: Overwrite = False,
) -> Shown:
    """Use an index of another engine.

    Sublex reads the terms, postings, lengths and ids of the other index once, and writes them as the index INDEX. All
    rankers and models then work as on any index. Stored texts and the rankers of the other engine are read from the other
    index, which is never changed. `sublex backends` lists the engines.

    Args:
        analyzer: How queries become terms; it has to be as the documents were analysed.
        profile: Defaults of the rankers: sublex, anserini, terrier or pisa.
        field: The field whose postings are read; several, such as title,text, are read as one, and the index keeps the
            frequencies and lengths of each.
        docno: The field with the ids of documents.
        positions: Also read the positions of words, which phrases and windows need. --refresh keeps it.
        trust: Allow code that the other index holds to run. Use it only if you trust its author.
            --refresh keeps it for the same folder.
        refresh: Read the other index again if it has changed, or say where it is now.

    Examples:
        sublex attach papers whoosh:papers-by-whoosh --trust
        sublex attach papers --refresh
    """
    import sublex

    name = context.name
    if source is None and not refresh and ":" in name and os.sep not in name.partition(":")[0]:
        raise InputError(f"Name the new index before the other one: {Step('attach', 'NAME', name)}")
    path = context.path
    context.prepare()
    with (
        context.step(f"Attached {path}"),
        context.progress(f"Reading {source or path}", "terms") as advance,
        context.changing(),
    ):
        index = sublex.attach(
            source, path, analyzer=analyzer, profile=profile, field=",".join(field) or None, docno=docno, positions=positions, trust=trust,
            refresh=refresh, overwrite=overwrite, progress=advance, say=context.say,
        )  # fmt: skip
    statistics = index.statistics
    numbers = f"{counted(statistics.docs, 'document')}, {counted(index.vocabulary_size, 'term')}"
    return sentence(f"{path} mirrors {numbers} and {counted(statistics.postings, 'posting')}.")


@operation("ciff export", Needs.MODEL, faces=("cli",))
def export(
    context: OperationContext, file: DataFile, workers: Workers = None, overwrite: OverwriteFile = False
) -> Shown:
    """Write an index as a CIFF file.

    FILE is compressed if its name ends in .gz; - is standard output, not compressed. It holds terms, postings, document
    lengths and docnos. Deleted documents are left out, and the others are numbered anew. CIFF carries no texts, no
    positions, no fields, no columns, no written forms of words and no analyzer; the description in the file names the analyzer for people.

    Examples:
        sublex ciff export demo demo.ciff
        sublex ciff export demo demo.ciff.gz
    """
    from sublex.other_engines.ciff.write_ciff import write_ciff
    from sublex.tools.arguments import threads

    expect_folder(file)
    snapshot = context.index.snapshot
    context.prepare("order-terms export")
    with context.step(f"Wrote {file}"), context.progress(f"Writing {file}", "terms") as advance:
        done = write_ciff(snapshot, "/dev/stdout" if file == "-" else file, threads(workers), advance, overwrite)
    parts = ["texts", *(["positions"] if "positions" in snapshot.store else [])]
    parts += [f"the fields {', '.join(snapshot.fields)}"] if snapshot.fields else []
    parts += [f"the columns {', '.join(snapshot.columns)}"] if snapshot.columns else []
    parts += ["written forms of words"]
    left = f"{', '.join(parts)}, and the analyzer {snapshot.analyzer_expression}."
    notes = [f"Left out, for CIFF does not carry it: {left}"]
    if file == "-":
        return Shown(list, notes=notes, forms={"json": str})
    rows = [("documents", done.docs), ("terms", done.terms), ("postings", done.postings), ("bytes", done.nbytes)]
    data = {"file": file, **dict(rows), "deleted": done.deleted}
    more = ("deleted documents (left out)", done.deleted)
    return Shown(lambda: [line(f"File {file}"), *table_lines([*rows, more])], lambda: data, notes=notes)


@operation("ciff import", Needs.NEW, faces=("cli",))
def import_file(
    context: OperationContext,
    file: DataFile,
    analyzer: Annotated[str | None, option(completes="analyzer", shown="the profile's")] = None,
    profile: Annotated[str | None, option(completes="profile", shown="sublex, if an analyzer is given")] = None,
    workers: Workers = None,
    overwrite: Overwrite = False,
) -> Shown:
    """Make an index from a CIFF file.

    FILE may be compressed; - is standard input. The new index ranks as any other, and models that read terms can be
    fitted to it. It has no texts, since CIFF carries none. CIFF carries no analyzer either: --analyzer or --profile
    names the one that made the terms.

    Args:
        analyzer: The analyzer that made the terms of the file, such as 'english(stop=none)'; queries go through it.
        profile: Defaults of the rankers, and of the analyzer: sublex, anserini, terrier or pisa.

    Examples:
        sublex ciff export demo demo.ciff.gz
        sublex ciff import copy demo.ciff.gz --profile anserini
    """
    from sublex.building.writer import existing_index
    from sublex.other_engines.ciff.ciff_file import CiffFile
    from sublex.other_engines.ciff.read_ciff import analyzer_for, read_ciff

    path, registry = context.path, context.registry
    existing_index(path, overwrite)
    with CiffFile(file) as source:
        chosen = analyzer_for(source, analyzer, profile, registry)
        context.prepare("analyze number-terms import")
        with context.step(f"Made {path}"), context.progress(f"Reading {file}", "terms") as advance, context.changing():
            summary = read_ciff(
                path, source, profile=profile, analyzer=chosen, workers=workers, overwrite=overwrite,
                progress=advance, registry=registry,
            )  # fmt: skip
    return built(path, summary)
