"""NAME keeps the documents that it should keep."""

import sublex


def test_documents_of_other_years_are_dropped(tmp_path):
    years = {"old": {"year": "1998"}, "new": {"year": "2019"}, "undated": {}, "odd": {"year": "MMXX"}}
    documents = [sublex.Document(docno, "A crane.", fields=fields) for docno, fields in years.items()]
    index = sublex.build(documents, tmp_path / "index")
    assert [hit.docno for hit in index.search("crane", "BM25 >> NAME(first=2010)")] == ["new"]
