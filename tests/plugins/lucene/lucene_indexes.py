"""Write the Lucene indexes that test_lucene.py reads. It runs Java, so the tests run it in a process of its own.

python lucene_indexes.py FOLDER JAR CLASSES
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from sublex_lucene.child import start_java

DEMO = Path(__file__).parents[3] / "queries" / "demo" / "documents.jsonl"
# Documents of the demo collection that the indexes hold.
DOCS = 60


def main(folder: Path, jar: str, classes: str) -> None:
    """Write all indexes to the folder."""
    start_java(jar, classes, "256m")
    from jnius import autoclass, cast

    def make(name, *arguments):
        return autoclass(name)(*arguments)

    documents = "org.apache.lucene.document."
    stored = autoclass(documents + "Field$Store").YES
    options = autoclass("org.apache.lucene.index.IndexOptions")
    analyzer = cast(
        "org.apache.lucene.analysis.Analyzer", autoclass("io.anserini.index.IndexCollection").DEFAULT_ANALYZER
    )

    def field(name, text, norms=True, positions=False, tf=True):
        kind = make(documents + "FieldType")
        kind.setOmitNorms(not norms)
        kind.setStoreTermVectors(positions)
        best = options.DOCS_AND_FREQS_AND_POSITIONS if positions else options.DOCS_AND_FREQS
        kind.setIndexOptions(best if tf else options.DOCS)
        return make(documents + "Field", name, cast("java.lang.CharSequence", make("java.lang.String", text)),
                    cast("org.apache.lucene.index.IndexableFieldType", kind))  # fmt: skip

    def text_of(record):
        return f"{record['title']}\n{record['text']}"

    def ids(record, columns=True):
        found = [make(documents + "StringField", "id", record["id"], stored)]
        if columns:
            text = cast("java.lang.CharSequence", make("java.lang.String", record["id"]))
            value = make("org.apache.lucene.util.BytesRef", text)
            found.append(make(documents + "BinaryDocValuesField", "id", value))
        return found

    def keyword(title):
        kind = make(documents + "FieldType")
        kind.setIndexOptions(options.DOCS_AND_FREQS)
        kind.setTokenized(False)
        kind.setStored(True)
        return make(documents + "Field", "title", cast("java.lang.CharSequence", make("java.lang.String", title)),
                    cast("org.apache.lucene.index.IndexableFieldType", kind))  # fmt: skip

    def raw(record):
        value = json.dumps({"id": record["id"], "contents": text_of(record), "title": record["title"], "year": 1999})
        return make(documents + "StoredField", "raw", value)

    def write(name, fields, commits=1, delete=()):
        """Write an index whose documents have the fields that `fields` makes, in this many segments, and delete some of them."""
        config = make("org.apache.lucene.index.IndexWriterConfig", analyzer)
        config.setMergePolicy(
            cast("org.apache.lucene.index.MergePolicy", autoclass("org.apache.lucene.index.NoMergePolicy").INSTANCE)
        )
        directory = autoclass("org.apache.lucene.store.FSDirectory").open(
            make("java.io.File", str(folder / name)).toPath()
        )
        writer = make(
            "org.apache.lucene.index.IndexWriter", cast("org.apache.lucene.store.Directory", directory), config
        )
        for place, record in enumerate(records):
            document = make(documents + "Document")
            for each in fields(record):
                document.add(cast("org.apache.lucene.index.IndexableField", each))
            writer.addDocument(cast("java.lang.Iterable", document))
            if commits > 1 and place % (len(records) // commits) == 0:
                writer.commit()
        for docno in delete:
            term = make("org.apache.lucene.index.Term", "id", docno)
            writer.deleteDocuments(
                cast("org.apache.lucene.search.Query", make("org.apache.lucene.search.TermQuery", term))
            )
        writer.commit()
        writer.close()

    with open(DEMO, encoding="utf-8") as lines:
        records = [json.loads(line) for line, _ in zip(lines, range(DOCS), strict=False)]
    write("plain", lambda r: [*ids(r), field("contents", text_of(r)), raw(r)])
    write("bare", lambda r: [*ids(r, columns=False), field("contents", text_of(r))])
    deleted = [records[1]["id"], records[31]["id"], records[-1]["id"]]
    write(
        "segments",
        lambda r: [*ids(r, columns=False), field("contents", text_of(r), positions=True), raw(r)],
        4,
        deleted,
    )
    # A field with several values.
    write("values", lambda r: [*ids(r), *(field("contents", r[part], positions=True) for part in ("title", "text"))])
    # Two fields of text, in several segments, with deleted documents.
    write(
        "fields",
        lambda r: [*ids(r), *(field(part, r[part], positions=True) for part in ("title", "text")),
                   make(documents + "StoredField", "raw", json.dumps(r))],
        4,
        deleted,
    )  # fmt: skip
    # The title is one term, not analysed.
    write("mixed", lambda r: [*ids(r), make(documents + "TextField", "text", r["text"], stored), keyword(r["title"])])
    write("impact", lambda r: [*ids(r), field("contents", text_of(r), norms=False)])
    write("once", lambda r: [*ids(r), field("contents", text_of(r), tf=False)])
    write(
        "body",
        lambda r: [
            make(documents + "StoredField", "url", r["id"]),
            field("body", text_of(r)),
            field("title", r["title"]),
        ],
    )
    write(
        "markup",
        lambda r: [
            *ids(r),
            field("contents", text_of(r)),
            make(documents + "StoredField", "raw", f"<DOC>{text_of(r)}</DOC>"),
        ],
    )
    similar = autoclass("org.apache.lucene.index.VectorSimilarityFunction").COSINE
    write("vectors", lambda r: [*ids(r), make(documents + "KnnFloatVectorField", "vector", [1.0, 2.0], similar)])
    write_impact(folder, [record["id"] for record in records])
    records = []
    write("empty", lambda r: [])


def write_impact(folder: Path, docnos: list[str]) -> None:
    """Have Anserini index weights of terms as an impact index, `weights`, and search it.

    The weights are in `weights/given/weights.jsonl`. `weights/searched.json` has queries, each with Anserini's scores.
    """
    from jnius import autoclass, cast

    chance, terms = random.Random(5), [*(f"w{k}" for k in range(40)), "##s", "é"]
    given, index = folder / "weights" / "given", folder / "weights" / "index"
    given.mkdir(parents=True)
    with open(given / "weights.jsonl", "w", encoding="utf-8") as lines:
        for docno in docnos:
            vector = {term: chance.randint(1, 255) for term in terms if chance.random() < 0.4}
            lines.write(json.dumps({"id": docno, "contents": "", "vector": vector}) + "\n")
    autoclass("io.anserini.index.IndexCollection").main([
        "-collection", "JsonVectorCollection", "-generator", "DefaultLuceneDocumentGenerator", "-threads", "1", "-optimize",
        "-impact", "-pretokenized", "-input", str(given), "-index", str(index),
    ])  # fmt: skip
    searcher, searched = autoclass("io.anserini.search.SimpleImpactSearcher")(str(index)), []
    for _ in range(6):
        query = {term: chance.randint(1, 120) for term in chance.sample(terms, 12)}
        weights = autoclass("java.util.HashMap")()
        for term, weight in query.items():
            weights.put(term, autoclass("java.lang.Integer")(weight))
        hits = searcher.search(cast("java.util.Map", weights), len(docnos))
        searched.append([query, {hit.docid: hit.score for hit in hits}])
    (folder / "weights" / "searched.json").write_text(json.dumps(searched))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
