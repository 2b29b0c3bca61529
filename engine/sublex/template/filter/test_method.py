"""NAME keeps the documents that it should keep."""

import sublex


def test_short_documents_are_dropped(tmp_path):
    documents = [
        sublex.Document("short", "A crane."),
        sublex.Document("long", "A crane stands by the river and waits."),
    ]
    index = sublex.build(documents, tmp_path / "index")
    assert [hit.docno for hit in index.search("crane", "BM25 >> NAME(least=3)")] == ["long"]
