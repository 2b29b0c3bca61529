"""NAME ranks documents."""

import sublex


def test_the_document_with_the_words_of_the_query_comes_first(tmp_path):
    documents = [sublex.Document("a", "a crane by the river"), sublex.Document("b", "fish and chips")]
    index = sublex.build(documents, tmp_path / "index")
    index.fit("NAME(r=64)")
    assert index.search("crane river", "NAME(r=64)")[0].docno == "a"
