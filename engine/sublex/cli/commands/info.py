"""Commands that show what an index contains: info, doc, terms, analyze."""

from __future__ import annotations

from itertools import islice

import click

from sublex.cli import completion
from sublex.cli.commands.fit import expressions_of
from sublex.cli.compiling import say_if_compiling
from sublex.cli.lookup import open_index
from sublex.cli.options import examples, format_option, index_argument
from sublex.cli.output import as_text, print_json, print_records, print_table, say, to_json
from sublex.errors import InputError

TERM = ("term", "df", "cf", "written")
SEGMENT = ("segment", "documents", "deleted", "terms")
WILDCARDS = frozenset("*?[")


@click.command(epilog=examples("sublex info demo", "sublex info demo --terms 20"))
@index_argument
@click.option(
    "--terms",
    default=10,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Number of the most frequent terms to show.",
)
@format_option("table", "json")
def info(name: str, terms: int, form: str) -> None:
    """Describe an index: counts, analyzer, models, sizes, frequent terms."""
    say_if_compiling()
    index = open_index(name)
    statistics, sizes = index.statistics, index.nbytes()
    facts = {
        "path": str(index.path),
        "documents": statistics.docs,
        "terms": index.vocabulary_size,
        "tokens": statistics.tokens,
        "postings": statistics.postings,
        "mean length": statistics.mean_length,
        "profile": index.profile,
        "analyzer": index.snapshot.analyzer_expression,
        "made with": ", ".join(f"{library} {version}" for library, version in index.analyzer_versions.items()),
        "stored": ", ".join(sorted(index.store)) or "none",
        "fitted": ", ".join(e for entry in index.fitted.values() for e in expressions_of(entry)) or "nothing",
        "bytes": sum(sizes.values()),
        "generation": index.generation,
        "fingerprint": index.fingerprint,
    }
    segments = [(s.name, s.live, s.docs - s.live, len(s.terms)) for s in index.snapshot.segments]
    top, impacts = index.top_terms(terms), index.kept_impacts()
    if form == "json":
        more = {
            "sizes": sizes,
            "impacts": impacts,
            "segments": [dict(zip(SEGMENT, segment, strict=True)) for segment in segments],
            "top_terms": [dict(zip(TERM, term, strict=True)) for term in top],
        }
        print_json({fact.replace(" ", "_"): value for fact, value in facts.items()} | more)
        return
    print_table([(fact, as_text(value)) for fact, value in facts.items()])
    click.echo()
    print_table(segments, SEGMENT)
    click.echo()
    print_table(top, TERM)
    click.echo()
    print_table(sorted(sizes.items(), key=lambda item: -item[1]), ("component", "bytes"))
    if impacts:
        click.echo()
        print_table([*impacts.items()], ("impacts kept", "bytes"))


@click.command(epilog=examples("sublex doc demo birds-05"))
@index_argument
@click.argument("docno")
@format_option("table", "json")
def doc(name: str, docno: str, form: str) -> None:
    """Show a stored document.

    The index must store texts, which it does unless it was built with another --store.
    """
    index = open_index(name)
    if docno not in index:
        raise InputError(f"No document {docno or repr(docno)} in {index.path}.")
    document = index.document(docno)
    if form == "json":
        print_json(
            {
                "docno": document.docno,
                "title": document.title,
                "text": document.text,
                "fields": dict(document.fields),
            }
        )
        return
    fields = [(field, value if isinstance(value, str) else to_json(value)) for field, value in document.fields.items()]
    print_table([("docno", document.docno), *([("title", document.title)] if document.title else []), *fields])
    click.echo()
    click.echo("\n".join(map(as_text, document.text.split("\n"))))


@click.command(epilog=examples("sublex terms demo 'crane*'", "sublex terms demo -n 5"))
@index_argument
@click.argument("pattern", default="*")
@click.option(
    "-n",
    "number",
    default=50,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Maximum number of terms; 0 for all.",
)
@format_option("table", "json", "csv")
def terms(name: str, pattern: str, number: int, form: str) -> None:
    """List the terms of an index that match PATTERN.

    Each term comes with its document frequency (df), its collection frequency (cf) and the form in which documents mostly
    write it. PATTERN is matched against terms as the analyzer makes them: * stands for any characters, ? for one
    character, [ab] for a or b.
    """
    index = open_index(name)
    matches = list(islice(index.terms(pattern), number or None))
    if matches or form != "table":
        print_records(form, TERM, matches)
    if not matches:
        analyzed = index.analyze(pattern)
        is_raw = WILDCARDS.isdisjoint(pattern) and analyzed not in ([], [pattern])
        hint = f"; the analyzer makes {pattern!r} into {' '.join(analyzed)!r}" if is_raw else ""
        say(f"No term of {index.path} fits {pattern or repr(pattern)}{hint}.")


@click.command(
    epilog=examples(
        'sublex analyze "The cranes\' nests" --analyzer "english(stem=porter2)"',
        'sublex analyze "cranes by the river" --index demo',
    )
)
@click.argument("text")
@click.option(
    "--index", "name", metavar="INDEX", shell_complete=completion.indexes, help="Use the analyzer of this index."
)
@click.option(
    "--analyzer",
    metavar="ANALYZER",
    shell_complete=completion.named("analyzer"),
    show_default="english",
    help="Use this analyzer, such as 'plain(stem=porter2)' or german.",
)
@format_option("table", "json")
def analyze(text: str, name: str | None, analyzer: str | None, form: str) -> None:
    """Show how an analyzer turns TEXT into terms, stage by stage."""
    from sublex import plugins
    from sublex.analysis.tokens import raw_tokens, terms_of
    from sublex.analysis.words import split_terms
    from sublex.parser import parse_call

    if name and analyzer:
        raise InputError("Give --index or --analyzer, not both.")
    say_if_compiling()
    if name:
        snapshot = open_index(name).snapshot
        chosen, printed = snapshot.analyzer, snapshot.analyzer_expression
    else:
        registry, call = plugins.load(), parse_call("english" if analyzer is None else analyzer)
        chosen = registry.resolve("analyzer", call).make()
        printed = registry.print_of("analyzer", chosen, call.name, call.params)
    tokens = raw_tokens(text)
    stages = [("raw tokens", tokens)]
    if hasattr(chosen, "stages"):
        stages += chosen.stages(text)
    stages.append(("terms", [term for joined in terms_of(chosen, tokens) for term in split_terms(joined)]))
    if form == "json":
        print_json({"analyzer": printed, **dict(stages)})
        return
    print_table([("analyzer", printed), *((stage, " | ".join(words)) for stage, words in stages)])
