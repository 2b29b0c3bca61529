"""Commands that look into an index: info, doc, terms, analyze."""

from __future__ import annotations

import json

import click

import sublex
from sublex.cli.fitting import encodings
from sublex.cli.output import emit, format_option, index_path, plain, say, say_if_compiling, show_json, table
from sublex.errors import InputError

TERM = ("term", "df", "cf", "written")


@click.command()
@click.argument("index")
@click.option(
    "--terms", default=10, show_default=True, type=click.IntRange(0), help="How many of the commonest terms to show."
)
@format_option("table", "json")
def info(index: str, terms: int, form: str) -> None:
    """Describe an index: counts, analyzer, sizes, commonest terms."""
    say_if_compiling()
    found = sublex.open(index_path(index))
    statistics, sizes = found.statistics, found.nbytes()
    facts = {
        "path": str(found.path),
        "documents": statistics.docs,
        "terms": found.vocabulary_size,
        "tokens": statistics.tokens,
        "postings": statistics.postings,
        "mean length": statistics.mean_length,
        "profile": found.profile,
        "analyzer": str(found.analyzer),
        "made with": ", ".join(f"{name} {version}" for name, version in found.analyzer_versions.items()),
        "stored": ", ".join(sorted(found.store)) or "none",
        "fitted": ", ".join(e for entry in found.fitted.values() for e in encodings(entry)) or "nothing",
        "bytes": sum(sizes.values()),
        "generation": found.generation,
        "fingerprint": found.fingerprint,
    }
    segments = [(s.name, s.live, s.docs - s.live, len(s.terms)) for s in found.snapshot.segments]
    top, impacts = found.top_terms(terms), found.kept_impacts()
    if form == "json":
        more = {
            "sizes": sizes,
            "impacts": impacts,
            "segments": [dict(zip(("name", "documents", "deleted", "terms"), s, strict=True)) for s in segments],
            "top_terms": [dict(zip(TERM, term, strict=True)) for term in top],
        }
        show_json({name.replace(" ", "_"): value for name, value in facts.items()} | more)
        return
    table([(name, plain(value)) for name, value in facts.items()])
    click.echo()
    table(segments, ("segment", "documents", "deleted", "terms"))
    click.echo()
    table(top, TERM)
    click.echo()
    table(sorted(sizes.items(), key=lambda item: -item[1]), ("component", "bytes"))
    if impacts:
        click.echo()
        table([*impacts.items()], ("impacts kept", "bytes"))


@click.command()
@click.argument("index")
@click.argument("docno")
@format_option("table", "json")
def doc(index: str, docno: str, form: str) -> None:
    """Show a stored document."""
    found = sublex.open(index_path(index))
    if docno not in found:
        raise InputError(f"No document {docno or repr(docno)} in {found.path}.")
    document = found.document(docno)
    if form == "json":
        record = {
            "docno": document.docno,
            "title": document.title,
            "text": document.text,
            "fields": dict(document.fields),
        }
        show_json(record)
        return
    fields = {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in document.fields.items()
    }
    table([("docno", document.docno), *([("title", document.title)] if document.title else []), *fields.items()])
    click.echo()
    click.echo("\n".join(map(plain, document.text.split("\n"))))


@click.command()
@click.argument("index")
@click.argument("pattern", default="*")
@click.option(
    "-n", "number", default=50, show_default=True, type=click.IntRange(0), help="How many at most; 0 for all."
)
@format_option("table", "json", "csv")
def terms(index: str, pattern: str, number: int, form: str) -> None:
    """List the terms that fit PATTERN.

    With each go its document and collection frequency, and how it is mostly written.
    PATTERN is over terms as the index has them: * stands for anything, ? for one character, [ab] for a choice.
    """
    from itertools import islice

    found = sublex.open(index_path(index))
    matches = list(islice(found.terms(pattern), number or None))
    if matches or form != "table":
        emit(form, TERM, matches)
    if not matches:
        stems = found.analyze(pattern.strip("*?"))
        plainly = not set(pattern) & set("*?[")
        hint = (
            f"; the analyzer makes {pattern!r} into {' '.join(stems)!r}"
            if plainly and stems not in ([], [pattern])
            else ""
        )
        say(f"No term of {found.path} fits {pattern or repr(pattern)}{hint}.")


@click.command()
@click.argument("text")
@click.option("--index", "index_name", metavar="INDEX", help="Use this index's analyzer.")
@click.option("--analyzer", help="For example english, 'plain(stem=porter2)', german.  [default: english]")
@format_option("table", "json")
def analyze(text: str, index_name: str | None, analyzer: str | None, form: str) -> None:
    """Show what each stage of an analyzer makes of TEXT."""
    from sublex import plugins
    from sublex.analysis.tokens import raw_tokens, terms_of
    from sublex.analysis.words import split_terms

    if index_name and analyzer:
        raise InputError("Give --index or --analyzer, not both.")
    say_if_compiling()
    made = (
        sublex.open(index_path(index_name)).analyzer
        if index_name
        else plugins.load().make("analyzer", "english" if analyzer is None else analyzer)
    )
    raws = raw_tokens(text)
    terms = terms_of(made, raws)
    stages = [("raw tokens", raws)]
    if hasattr(made, "stages"):
        stages += made.stages(text)
    stages.append(("terms", [term for found in terms for term in split_terms(found)]))
    if form == "json":
        show_json({"analyzer": str(made), **dict(stages)})
        return
    table([("analyzer", str(made)), *((name, " | ".join(tokens)) for name, tokens in stages)])
