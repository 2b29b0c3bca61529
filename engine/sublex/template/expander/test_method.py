"""NAME adds the terms that are typical of the documents found."""

import sublex


def test_typical_terms_are_added(tmp_path):
    documents = [
        sublex.Document("a", "crane river"),
        sublex.Document("b", "crane quay"),
        sublex.Document("c", "river fish"),
    ]
    index = sublex.build(documents, tmp_path / "index")
    query = index.answer("quay", "NAME(docs=1, terms=1, beta=0.5) >> BM25").query
    # "quay" and "crane" are half of the words found. In the collection, "quay" is rarer, with 1 word in 6.
    assert [(term.term, term.weight, term.origin) for term in query.terms] == [
        ("quai", 1.0, "query"),
        ("quai", 0.5, "NAME"),
    ]
