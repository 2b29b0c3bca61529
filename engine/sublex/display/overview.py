"""Show an overview of an index: counts, analyzer, models, segments, frequent terms and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sublex.display.terms import HEAD as TERM
from sublex.forms.lines import Line, Shown, line, table_lines
from sublex.forms.values import as_text
from sublex.representations.stored_models import expressions_of

if TYPE_CHECKING:
    from sublex.pipeline.index import Index

SEGMENT = ("segment", "documents", "deleted", "terms")


def overview(index: Index, terms: int) -> Shown:
    """Return the facts of an index as Shown, with its most frequent terms. `terms` is the number of terms."""
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
        **({"fields": ", ".join(index.fields)} if index.fields else {}),
        **_columns(index),
        **_attached(index),
        **({"shards": len(index.snapshot.manifest.shards)} if index.snapshot.manifest.shards else {}),
        "fitted": ", ".join(e for entry in index.fitted.values() for e in expressions_of(entry)) or "nothing",
        **({"names": ", ".join(sorted(index.names))} if index.names else {}),
        "bytes": sum(sizes.values()),
        "generation": index.generation,
        "fingerprint": index.fingerprint,
    }
    segments = [(s.name, s.live, s.docs - s.live, len(s.terms)) for s in index.snapshot.segments]
    top, impacts = index.top_terms(terms), index.kept_impacts()

    def lines() -> Iterator[Line]:
        yield from table_lines([(fact, as_text(value)) for fact, value in facts.items()])
        tables: list[tuple[Sequence[Any], Sequence[str]]] = [
            (segments, SEGMENT),
            (top, TERM),
            (sorted(sizes.items(), key=_size), ("component", "bytes")),
        ]
        if impacts:
            tables.append(([*impacts.items()], ("impacts kept", "bytes")))
        for rows, head in tables:
            yield line()
            yield from table_lines(rows, head)

    def data() -> dict[str, Any]:
        more = {
            "sizes": sizes,
            "impacts": impacts,
            "segments": [dict(zip(SEGMENT, segment, strict=True)) for segment in segments],
            "top_terms": [dict(zip(TERM, term, strict=True)) for term in top],
        }
        return {fact.replace(" ", "_"): value for fact, value in facts.items()} | more

    return Shown(lines, data)


def _columns(index: Index) -> dict[str, str]:
    """Return the fact "columns" of the overview: the columns of an index with their types. Return {} if it has none."""
    columns = index.snapshot.columns
    return {"columns": ", ".join(f"{name}:{kind}" for name, kind in columns.items())} if columns else {}


def _attached(index: Index) -> dict[str, str]:
    """Return the fact "attached to" of the overview: the place of the foreign index. Return {} if there is none."""
    attachment = index.attachment
    if not attachment:
        return {}
    place = attachment.place
    return {
        "attached to": f"the {attachment.backend} index {place.path}"
        if place
        else f"a {attachment.backend} index elsewhere"
    }


def _size(item: tuple[str, int]) -> int:
    return -item[1]
