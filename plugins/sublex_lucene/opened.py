"""A Lucene index, read through Java: its fields, postings, documents and searches. Only the process that runs Java
imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from jnius import JavaException, autoclass, cast

from sublex_lucene.feedback import expanded
from sublex_lucene.similarities import similarity

# The field with the record of a document as it is in the collection.
RAW = "raw"
# An answer ends after this many characters of stored documents.
ANSWER = 1 << 22
# Java's exceptions for too little memory.
OUT_OF_MEMORY = ("java.lang.OutOfMemoryError", "java.lang.StackOverflowError")
# Java's exceptions for a query that Lucene rejects.
REFUSED = ("java.lang.IllegalArgumentException", "java.lang.NumberFormatException")
NO_VECTORS = (
    "feedback={0} needs document vectors or raw JSON in the Lucene index, and this index has neither; build it with -storeDocvectors, "
    "or use the stage RM3 or Rocchio of Sublex in its place, as in LuceneBM25 >> RM3 >> LuceneBM25"
)
NO_POSITIONS = (
    "A phrase needs positions of words, and the field {0} of the Lucene index has none; build it with -storePositions, "
    "or leave the phrase out of the query"
)
Answer = tuple[dict[str, Any], list[Any]]


class LuceneFailed(Exception):
    """Raised for a request that Lucene could not answer.

    `kind` is "memory", "input", "query" or "damage". `text` is the message of Lucene or of this module.
    """

    def __init__(self, kind: str, text: str):
        super().__init__(text)
        self.kind = kind


@contextmanager
def explained() -> Iterator[None]:
    """Raise LuceneFailed in place of Java's exceptions in the block of this context."""
    try:
        yield
    except JavaException as error:
        name = str(error.classname)
        text = f"{name.rpartition('.')[2]}: {_in_short(str(error.innermessage or ''))}"
        kind = "memory" if name in OUT_OF_MEMORY else "query" if name in REFUSED else "damage"
        raise LuceneFailed(kind, text.rstrip(": ")) from None


def _in_short(message: str) -> str:
    """Return the beginning of Lucene's message, and the name of the file that the message names at its end, if any."""
    reason, found, file = " ".join(message.split()).partition(" (resource=")
    name = file.rpartition("/")[2].rstrip('")') if found else ""
    return f"{reason.partition(' : expected=')[0][:200]}{' in ' if name else ''}{name}"


def _answering(method: Callable[..., Answer]) -> Callable[..., Answer]:
    """Return the method `method`, changed so that it raises LuceneFailed in place of Java's exceptions."""

    @wraps(method)
    def answer(self: OpenedIndex, *parts: Any, **request: Any) -> Answer:
        with explained():
            return method(self, *parts, **request)

    return answer


def java(name: str) -> Any:
    """Return a class of Java, with its public members."""
    return autoclass(name, include_protected=False, include_private=False)


class OpenedIndex:
    """An opened Lucene index. `fields` are the fields that are read; Lucene's scorers search the first."""

    def __init__(self, path: str, fields: list[str], docno: str):
        with explained():
            folder = java("java.io.File")(path).toPath()
            directory = java("org.apache.lucene.store.FSDirectory").open(folder)
            self.reader = java("org.apache.lucene.index.DirectoryReader").open(directory)
            reader = cast("org.apache.lucene.index.IndexReader", self.reader)
            # By default, Lucene rejects queries of more than 1,024 terms.
            searchers = java("org.apache.lucene.search.IndexSearcher")
            searchers.setMaxClauseCount(2**31 - 1)
            self.searcher = searchers(reader)
            self.fields, self.field, self.docno = fields, fields[0], docno
            # Readers of the fields; each yields its field's posting lists once.
            self._bulks = {field: self._bulk(field) for field in fields}
            self.bulk = self._bulks[self.field]
            # The scorer in use, and its parameters.
            self._model: dict[str, Any] = {}

    def _bulk(self, field: str) -> Any:
        return java("sublex.Bulk")(self.searcher, field, self.docno)

    def described(self) -> dict[str, Any]:
        """Return facts of the index: its documents, its fields, and the stored fields of the first document."""
        with explained():
            infos = java("org.apache.lucene.index.FieldInfos").getMergedFieldInfos(
                cast("org.apache.lucene.index.IndexReader", self.reader)
            )
            fields = {}
            iterator = infos.iterator()
            while iterator.hasNext():
                info = cast("org.apache.lucene.index.FieldInfo", iterator.next())
                fields[info.getName()] = {
                    "options": info.getIndexOptions().toString(),
                    "norms": info.hasNorms(),
                    "term vectors": info.hasVectors(),
                    "vectors": info.hasVectorValues(),
                    "columns": info.getDocValuesType().toString(),
                }
            stored = list(self._stored(0)) if self.reader.numDocs() else []
            version = java("org.apache.lucene.util.Version").LATEST.toString()
        return {
            "docs": self.reader.numDocs(), "deleted": self.reader.numDeletedDocs(), "fields": fields, "stored": stored,
            "lucene": version,
        }  # fmt: skip

    def _stored(self, doc: int) -> dict[str, str]:
        """Return the stored id and the stored texts of a document, by the names of their fields."""
        found = {}
        document = self.reader.storedFields().document(self.bulk.original(doc))
        for name in {self.docno, *self.fields, RAW}:
            value = document.get(name)
            if value is not None:
                found[name] = value
        return found

    @_answering
    def answer_verify(self) -> Answer:
        """Read all files of the index and compare their checksums."""
        leaves = self.reader.leaves()
        for place in range(leaves.size()):
            context = cast("org.apache.lucene.index.LeafReaderContext", leaves.get(place))
            context.reader().checkIntegrity()
        return {}, []

    @_answering
    def answer_begin(self, field: str) -> Answer:
        """Make the next call of `answer_postings` begin with the first term of a field."""
        self._bulks[field] = self._bulk(field)
        return {}, []

    @_answering
    def answer_postings(self, field: str, limit: int, positions: bool) -> Answer:
        """Return the next posting lists of a field, as `Bulk.postings` describes them. After the last list, no arrays
        are returned.
        """
        return {}, _parts(self._bulks[field].postings(limit, positions))

    @_answering
    def answer_documents(self, first: int, count: int) -> Answer:
        """Return docnos and lengths, as `Bulk.documents` describes them."""
        return {}, _parts(self.bulk.documents(first, count))

    @_answering
    def answer_stored(self, first: int, count: int) -> Answer:
        """Return the stored fields of documents from the number `first` on: `count` of them, or fewer if they are long,
        but at least one.
        """
        documents: list[dict[str, str]] = []
        size = 0
        while len(documents) < count and size < ANSWER:
            documents.append(self._stored(first + len(documents)))
            size += sum(map(len, documents[-1].values()))
        return {"documents": documents}, []

    @_answering
    def answer_frequencies(self, field: str, doc: int, terms: list[str], length: int) -> Answer:
        """Return the frequencies of `terms` in a field of the document `doc`, and whether the field's stored length
        fits `length`.

        Lucene stores the length rounded, as the norm of the field.
        """
        bulk = self._bulks[field]
        norm = bulk.norm(doc)
        expected = java("org.apache.lucene.util.SmallFloat").intToByte4(length)
        found = _parts([bulk.frequencies(doc, terms)])
        return {"same length": norm in (-1, length) or norm % 256 == expected % 256}, found

    @_answering
    def answer_search(self, model: dict[str, Any], query: dict[str, Any], k: int) -> Answer:
        """Return the numbers and scores of the best k documents."""
        return {}, _parts(self.bulk.search(self._prepared(model, query), k))

    @_answering
    def answer_scores(self, docs: bytearray, model: dict[str, Any], query: dict[str, Any]) -> Answer:
        """Return the scores of documents. The numbers of the documents must ascend."""
        return {}, _parts([self.bulk.scores(self._prepared(model, query), bytes(docs))])

    @_answering
    def answer_explain(self, model: dict[str, Any], query: dict[str, Any], doc: int) -> Answer:
        """Return Lucene's explanation of a document's score as a tree of lists: value, description, parts."""
        prepared = self._prepared(model, query)
        return {"tree": _tree(self.searcher.explain(prepared, self.bulk.original(doc)))}, []

    def _prepared(self, model: dict[str, Any], query: dict[str, Any]) -> Any:
        """Set the scorer of `model`, and return Lucene's query for the weighted terms of `query`.

        If the model uses feedback, the query is expanded.
        """
        if model != self._model:
            self.searcher.setSimilarity(cast("org.apache.lucene.search.similarities.Similarity", similarity(model)))
            self._model = model
        made = self._query(query["terms"], query["weights"])
        if model["feedback"] == "none":
            return made
        try:
            return self.bulk.query(*expanded(self, model["feedback"], made, query))
        except ValueError as error:
            raise LuceneFailed("input", str(error)) from None
        except JavaException as error:
            if error.classname in OUT_OF_MEMORY:
                raise
            raise LuceneFailed("input", NO_VECTORS.format(model["feedback"])) from None

    def _query(self, terms: list[Any], weights: list[float]) -> Any:
        """Return the query that adds up the weighted scores of terms.

        A term is a string, or a list for an operator: its kind, its field and its words.
        """
        words = [(term, weight) for term, weight in zip(terms, weights, strict=True) if isinstance(term, str)]
        made = self.bulk.query([term for term, _ in words], [weight for _, weight in words])
        if len(words) == len(terms):
            return made
        should = java("org.apache.lucene.search.BooleanClause$Occur").SHOULD
        builder = java("org.apache.lucene.search.BooleanQuery$Builder")()
        for clause in cast("org.apache.lucene.search.BooleanQuery", made).clauses().toArray():
            builder.add(cast("org.apache.lucene.search.BooleanClause", clause))
        for term, weight in zip(terms, weights, strict=True):
            if not isinstance(term, str):
                boosted = java("org.apache.lucene.search.BoostQuery")(_as_query(self._operator(*term)), weight)
                builder.add(_as_query(boosted), should)
        return builder.build()

    def _operator(self, kind: str, field: str, *words: str) -> Any:
        """Return Lucene's query for a term in a field, for a phrase or for synonyms.

        "" stands for the field that is searched.
        """
        field = field or self.field
        named = [java("org.apache.lucene.index.Term")(field, word) for word in words]
        if kind == "field":
            return java("org.apache.lucene.search.TermQuery")(named[0])
        if kind == "ordered":
            self._need_positions(field)
            builder = java("org.apache.lucene.search.PhraseQuery$Builder")()
        else:
            builder = java("org.apache.lucene.search.SynonymQuery$Builder")(field)
        for word in named:
            builder.add(word) if kind == "ordered" else builder.addTerm(word)
        return builder.build()

    def _need_positions(self, field: str) -> None:
        """Raise LuceneFailed if the field has no positions."""
        infos = java("org.apache.lucene.index.FieldInfos").getMergedFieldInfos(
            cast("org.apache.lucene.index.IndexReader", self.reader)
        )
        if "POSITIONS" not in infos.fieldInfo(field).getIndexOptions().toString():
            raise LuceneFailed("input", NO_POSITIONS.format(field))


def _as_query(made: Any) -> Any:
    return cast("org.apache.lucene.search.Query", made)


def build(arguments: list[str]) -> dict[str, Any]:
    """Build an index by Anserini's IndexCollection. `arguments` are the arguments of its command line."""
    with explained():
        java("io.anserini.index.IndexCollection").main(arguments)
    return {}


def _parts(arrays: Sequence[Any] | None) -> list[bytes]:
    """Return Java's byte arrays as Python's bytes."""
    return [array.tostring() if array else b"" for array in arrays or ()]


def _tree(explanation: Any) -> list[Any]:
    """Return an explanation of Lucene as a list of its value, its description and its parts."""
    parts = explanation.getDetails()
    return [float(explanation.getValue().doubleValue()), explanation.getDescription(), [_tree(part) for part in parts]]
