"""Print which documents Lucene's own phrase search finds. It runs Java, so the tests run it in a process of its own.

python lucene_phrases.py INDEX FIELD JAR CLASSES < PHRASES

PHRASES is a JSON list of texts; the output is a JSON list of the docnos that Lucene finds for each.
"""

from __future__ import annotations

import json
import sys

from sublex_lucene.child import start_java


def main(index: str, field: str, jar: str, classes: str) -> None:
    """Search each phrase by the query that Lucene makes of it, analysed as Anserini analyses documents."""
    phrases = json.load(sys.stdin)
    start_java(jar, classes, "256m")
    from jnius import autoclass, cast

    def java(name):
        return autoclass(name, include_protected=False, include_private=False)

    analyzer = cast(
        "org.apache.lucene.analysis.Analyzer", autoclass("io.anserini.index.IndexCollection").DEFAULT_ANALYZER
    )
    queries = java("org.apache.lucene.util.QueryBuilder")(analyzer)
    folder = java("java.io.File")(index).toPath()
    directory = java("org.apache.lucene.store.FSDirectory").open(folder)
    reader = java("org.apache.lucene.index.DirectoryReader").open(directory)
    searcher = java("org.apache.lucene.search.IndexSearcher")(cast("org.apache.lucene.index.IndexReader", reader))
    found = []
    for phrase in phrases:
        query = queries.createPhraseQuery(field, phrase)
        hits = searcher.search(query, reader.maxDoc()).scoreDocs if query else ()
        found.append(sorted(reader.storedFields().document(hit.doc).get("id") for hit in hits))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
