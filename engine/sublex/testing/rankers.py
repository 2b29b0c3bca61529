"""The checks of rankers: scores are finite, depend only on the statistics in `reads`, and are added up by searches.

Statistics are random, with a fixed seed. They include words that occur once, words in every document, documents of one
word, and collections of one document.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import (
    LARGEST_SCORE,
    DocStats,
    Document,
    Explanation,
    FieldStatistics,
    Query,
    QueryTerm,
    Ranker,
    Statistics,
    TermStats,
)
from sublex.errors import InputError, SublexError
from sublex.language.expression import Call
from sublex.rankers.lucene_lengths import round_lengths
from sublex.retrieval.field_frequencies import fields_of
from sublex.testing.subject import Subject, assert_adds_up, call_of, called, nodes
from sublex.tools.messages import cut

# The number of postings that are drawn, and the numbers of documents or occurrences that are added to test claims.
POSTINGS, MORE = 400, (1, 7, 1000)
# The properties that a ranker may claim. Each has a change, and says whether the score may not fall or may not rise
# after it.
RISES, SHORTER, RARER = "rises with tf", "falls with length", "falls with df"
CLAIMS = (RISES, SHORTER, RARER)
# Two scores that differ by at most this share of the larger one differ only by rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Posting:
    """Possible statistics of a posting: those of its term, its document and the collection.

    For a ranker with fields, `split` says how the statistics are divided among the fields. If `elsewhere` is true, the
    term is only in other fields.
    """

    tf: float
    length: float
    unique: float
    df: int
    cf: int
    collection: Statistics
    more_norm: float = 1.0
    split: float = 0.5
    elsewhere: bool = False

    def __str__(self) -> str:
        docs, tokens, _ = self.collection
        return (
            f"tf={self.tf:g}, length={self.length:g}, unique={self.unique:g}, df={self.df}, cf={self.cf}, "
            f"docs={docs}, tokens={tokens}"
        )

    def arguments(self, ranker: Any) -> tuple[Any, DocStats, TermStats, Any]:
        """Return the arguments of the ranker's `score`, as arrays of one item.

        For a ranker with fields, return mappings to these arrays.
        """
        fields, collection = fields_of(ranker), self.collection
        tf, length = ({"": np.array([float(own)])} for own in (self.tf, self.length))
        if fields:
            tf, length, tokens = (
                {
                    field: np.array([float(part)])
                    for field, part in zip(fields, self._parts(own, len(fields)), strict=True)
                }
                for own in (0.0 if self.elsewhere else self.tf, self.length, collection.tokens)
            )
            means = {field: float(own[0]) / collection.docs for field, own in tokens.items()}
            collection = FieldStatistics(*collection, means)  # type: ignore[assignment]
        if getattr(ranker, "lengths", "exact") == "lucene":
            length = {field: _rounded(own, tf[field]) for field, own in length.items()}
        given, doc = (
            (tf, DocStats(length, np.array([self.unique])))
            if fields
            else (tf[""], DocStats(length[""], np.array([self.unique])))
        )
        term, part = TermStats(float(self.df), float(self.cf)), getattr(ranker, "norm_part", None)
        if part is not None:
            of_term = called("norm_part", part, given, doc, term, collection, about=f"for {self}")
            doc = doc._replace(norm=_checked("norm_part", of_term, given, self) + self.more_norm)
        return given, doc, term, collection

    def _parts(self, number: float, fields: int) -> list[int]:
        """Divide a whole number among fields.

        Each field but the last gets the share `split` of the remainder. If the number grows, no part falls.
        """
        left, parts = int(number), []
        for _ in range(fields - 1):
            parts.append(int(left * self.split))
            left -= parts[-1]
        return [*parts, left]

    def score(self, ranker: Any) -> float:
        """Return the ranker's score. Raise AssertionError if it is not a finite number."""
        arguments = self.arguments(ranker)
        given = called("score", ranker.score, *arguments, about=f"for {self}")
        return float(_checked("score", given, arguments[0], self)[0])


def _rounded(length: np.ndarray, tf: np.ndarray) -> np.ndarray:
    """Return lengths, rounded as in Lucene. If the term occurs, the length is at least 1."""
    return np.maximum(round_lengths(length.astype(np.int64)), tf > 0).astype(np.float64)


def _items(given: Any) -> Iterator[np.ndarray]:
    """Yield an array, or the arrays of a mapping."""
    yield from given.values() if isinstance(given, Mapping) else (given,)


def _mapped(change: Callable[..., Any], *given: Any) -> Any:
    """Return `change` of arrays, or of the arrays of mappings by name."""
    if isinstance(given[0], Mapping):
        return {name: change(*(own[name] for own in given)) for name in given[0]}
    return change(*given)


def _checked(method: str, given: Any, tfs: Any, about: object) -> np.ndarray:
    """Return the result of `score` or `norm_part` as float64. Raise AssertionError if it breaks the contract."""
    values, tf = np.asarray(given), next(_items(tfs))
    assert values.dtype.kind in "iuf" and values.shape == tf.shape, (
        f"{method} returned {values.dtype} of shape {values.shape} for tf of shape {tf.shape}; return one number for each item of tf"
    )
    assert np.isfinite(values).all() and (np.abs(values) <= LARGEST_SCORE).all(), (
        f"{method} returned {values.flat[0]} for {about}; return a finite number, of at most {LARGEST_SCORE:.2g}"
    )
    return values.astype(np.float64)


def postings(number: int = POSTINGS, seed: int = 1) -> Iterator[Posting]:
    """Yield the statistics of random postings. The smallest possible statistics come first."""
    yield Posting(1, 1, 1, 1, 1, Statistics(1, 1, 1), 0)
    yield Posting(1, 1, 1, 5, 5, Statistics(5, 5, 5), 0)
    yield Posting(1, 100_000, 1, 1, 1, Statistics(2, 100_001, 2))
    random = np.random.Generator(np.random.Philox(seed))

    def some() -> int:
        return int(random.integers(0, 6) if random.random() < 0.3 else 10 ** random.uniform(0, 7))

    for _ in range(number):
        tf = 1 + int(min(some(), 100_000))
        df = 1 + some()
        cf = tf + df - 1 + (some() if df > 1 else 0)
        length = tf + some()
        docs = df + some()
        # If there is only one document, the collection's tokens are the document's.
        tokens = length + (cf - tf + some() + docs if docs > 1 else 0)
        unique = int(random.integers(1, 2 + length - tf))
        distinct = max(df, unique) + (some() if docs > 1 else 0)
        norm, split = 10 ** random.uniform(-2, 6), float(random.choice([0, 0.3, 0.8, 1]))
        elsewhere = bool(random.random() < 0.1)
        yield Posting(tf, length, unique, df, cf, Statistics(docs, tokens, distinct), norm, split, elsewhere)


def scores_are_finite(subject: Subject) -> None:
    """`score` returns a finite number for each posting, whatever the statistics."""
    ranker = subject.made
    lengths = getattr(ranker, "lengths", "exact")
    assert lengths in ("exact", "lucene"), f'lengths is {lengths!r}; write "exact" or "lucene", or leave it out'
    for posting in postings():
        posting.score(ranker)


def ends_of_ranges_give_finite_scores(subject: Subject) -> None:
    """`score` returns finite numbers at the ends of the range of each parameter too."""
    call = call_of(subject.expression)
    for param in subject.registration.params:
        # A parameter of any type that has a range of numbers takes a number, or a list of numbers.
        kind: type = float if param.type is object else param.type
        numbers = kind in (int, float) and param.range and all(isinstance(end, (int, float)) for end in param.range)
        ends = param.range if numbers and not param.open else ()
        for end in (kind(end) for end in ends or () if math.isfinite(end)):
            try:
                ranker = subject.registry.resolve("ranker", Call(call.name, (), {**_given(subject), param.name: end}))
                made = ranker.make()
            except InputError:
                continue  # The ranker takes this value only together with other values of its other parameters.
            for posting in postings(60):
                try:
                    posting.score(made)
                except AssertionError as error:
                    raise AssertionError(f"with {param.name}={end:g}, which its range allows, {error}") from None


def _given(subject: Subject) -> dict[str, Any]:
    """Return the values that the expression gives to parameters."""
    component, names = subject.component, [param.name for param in subject.registration.params]
    return {**dict(zip(names, component.args, strict=False)), **component.params}


def scores_read_what_reads_declares(subject: Subject) -> None:
    """`score` and `norm_part` read no statistic of documents but those that `reads` names."""
    ranker = subject.made
    reads = getattr(ranker, "reads", DocStats._fields)
    assert not isinstance(reads, str), f'reads is the text {reads!r}; write a tuple, as in reads = ("{reads}",)'
    unknown = [name for name in reads if name not in DocStats._fields]
    assert not unknown, f"reads names {unknown[0]!r}; documents have length, unique and norm"
    hidden = [name for name in DocStats._fields if name not in reads]
    for name in hidden:
        for posting in postings(60):
            tf, doc, term, collection = posting.arguments(ranker)
            if getattr(doc, name) is None:
                continue
            for method in ("score", "norm_part") if getattr(ranker, "norm_part", None) else ("score",):
                formula = getattr(ranker, method)
                unknown_value = _mapped(lambda own: np.full(1, np.nan), getattr(doc, name))
                whole, less = (
                    np.asarray(called(method, formula, tf, each, term, collection, about=f"for {posting}"))
                    for each in (doc, doc._replace(**{name: unknown_value}))
                )
                assert np.array_equal(whole, less), (
                    f"{method} reads doc.{name}, which reads = {tuple(reads)!r} leaves out; add {name!r} to reads"
                )


def scores_stand_alone(subject: Subject) -> None:
    """A posting gets the score that it gets among others, at any place, and each time that it is scored."""
    ranker, collection = subject.made, Statistics(50_000, 9_000_000, 4_000_000)
    drawn = [
        replace(posting, collection=collection, split=0.5)
        for posting in postings(4000)
        if posting.df <= collection.docs and posting.cf - posting.tf + posting.length <= collection.tokens
    ][:200]
    parts = [posting.arguments(ranker) for posting in drawn]
    alone = np.array([posting.score(ranker) for posting in drawn])

    def together(order: np.ndarray) -> np.ndarray:
        tf = _mapped(_joined, *(parts[k][0] for k in order))
        columns = zip(*(parts[k][1] for k in order), strict=True)
        doc = DocStats(*(None if column[0] is None else _mapped(_joined, *column) for column in columns))  # type: ignore[arg-type]
        term = TermStats(*(np.array(column) for column in zip(*(parts[k][2] for k in order), strict=True)))
        given_arrays = [array for own in (tf, doc.length, doc.unique) for array in _items(own)]
        copies = [array.copy() for array in given_arrays]
        given = called("score", ranker.score, tf, doc, term, parts[0][3], about="for several postings at once")
        kept = all(map(np.array_equal, copies, given_arrays))
        assert kept, "score changed the arrays that it was given; work on copies"
        return _checked("score", given, tf, "several postings at once")

    order = np.arange(len(drawn))
    for way, shown in ((order, "in one array"), (order[::-1], "in an array in another order"), (order[:3], "again")):
        differ = np.flatnonzero(~np.isclose(together(way), alone[way], rtol=ROUNDING, atol=0))
        assert not len(differ), (
            f"score gives {together(way)[differ[0]]:g} for a posting {shown} and {alone[way[differ[0]]]:g} for it alone "
            f"({drawn[way[differ[0]]]}); compute each item from the items at its own place"
        )


def _joined(*arrays: np.ndarray) -> np.ndarray:
    return np.concatenate(arrays)


def weights_are_finite(subject: Subject) -> None:
    """`weight` returns a finite number for each query term, whatever the frequency of the term in the query."""
    ranker, collection = subject.made, Statistics(1000, 90_000, 50_000)
    if getattr(getattr(ranker, "weight", None), "__func__", None) is Ranker.weight:
        return
    for qtf in ([1.0, 2.0, 7.0], [0.25, -1.0, 1e-6], [0.0, 1e6, -1e6], []):
        term = TermStats(np.array([1.0, 30.0, 1000.0])[: len(qtf)], np.array([1.0, 90.0, 80_000.0])[: len(qtf)])
        given = np.asarray(called("weight", ranker.weight, np.array(qtf), term, collection, about=f"for qtf={qtf}"))
        assert given.shape == (len(qtf),) and np.isfinite(given.astype(np.float64)).all(), (
            f"weight returned {cut(str(given.tolist()))} for qtf={qtf}; return one finite number for each item of qtf"
        )


def explanations_are_those_of_scores(subject: Subject) -> None:
    """`explain` gives the value of `score`, and the parts of each explanation make its value."""
    ranker = subject.made
    for posting in postings(100):
        tf, doc, term, collection = posting.arguments(ranker)
        numbers = DocStats(*(None if column is None else _mapped(_first, column) for column in doc))  # type: ignore[arg-type]
        given = _mapped(_first, tf)
        tree = called("explain", ranker.explain, given, numbers, term, collection, about=f"for {posting}")
        assert isinstance(tree, Explanation), (
            f"explain returned {type(tree).__name__}; return a sublex.contracts.base.Explanation"
        )
        score = posting.score(ranker)
        assert math.isclose(tree.value, score, rel_tol=1e-6, abs_tol=1e-12), (
            f"explain gives the value {tree.value:g} and score gives {score:g} for {posting}; explain the same formula"
        )
        for node in nodes(tree):
            assert node.label and math.isfinite(node.value), (
                f"explain gives the label {cut(repr(node.label))} and the value {node.value} to a part; name each part and give its value"
            )
            try:
                assert_adds_up(node)
            except AssertionError as error:
                raise AssertionError(f"explain: {error}; correct its parts or its kind") from None


def _first(array: np.ndarray) -> float:
    return float(array[0])


def claims_hold(subject: Subject) -> None:
    """What `claims` says of the scores holds."""
    ranker = subject.made
    claims = getattr(ranker, "claims", ())
    assert not isinstance(claims, str), f'claims is the text {claims!r}; write a tuple, as in claims = ("{claims}",)'
    unknown = [claim for claim in claims if claim not in CLAIMS]
    assert not unknown, f"claims names {unknown[0]!r}; the claims that can be checked are: {', '.join(CLAIMS)}"
    for posting in postings():
        for more in MORE:
            docs, tokens, distinct = posting.collection
            collection = Statistics(docs + more, tokens + 2 * more, distinct + 2 * more)
            base = replace(posting, collection=collection, cf=posting.cf + more, length=posting.length + more)
            changes = {
                RISES: (base, replace(base, tf=base.tf + more)),
                SHORTER: (replace(base, length=base.length + more), base),
                RARER: (replace(base, df=base.df + more, cf=base.cf + more), base),
            }
            for claim in claims:
                low, high = changes[claim]
                less, much = low.score(ranker), high.score(ranker)
                assert less <= much + ROUNDING * max(abs(less), abs(much)), (
                    f"claims says {claim!r}, but score gives {less:g} for {low} and {much:g} for {high}; correct the formula or the claim"
                )


# The terms of a document with their frequencies, by field. For a ranker without fields, the key is "".
Fields = Mapping[str, Counter[str]]


class RandomCollection(NamedTuple):
    """A small collection of random texts, with the term frequencies of each document by docno and field."""

    documents: list[Document]
    counts: dict[str, Fields]

    @classmethod
    def drawn(cls, seed: int, fields: Sequence[str] = ()) -> RandomCollection:
        """Return a collection of 120 documents of up to 40 words.

        Some words occur in nearly all documents, and some in only one. With fields, the words of a document are divided
        among these fields and one more.
        """
        random = np.random.Generator(np.random.Philox(seed))
        odds = 1 / np.arange(1, 61)
        texts = [
            [f"w{word}" for word in random.choice(60, size=random.integers(1, 41), p=odds / odds.sum())]
            for _ in range(120)
        ]
        named = {f"d{number:03}": words for number, words in enumerate(texts)}
        if not fields:
            whole = [Document(docno, " ".join(words)) for docno, words in named.items()]
            return cls(whole, {docno: {"": Counter(words)} for docno, words in named.items()})
        all_fields = [*fields, _other(fields)]
        documents: list[Document] = []
        counts: dict[str, Fields] = {}
        for docno, words in named.items():
            places = random.integers(0, len(all_fields), len(words)).tolist()
            parts = {
                field: [w for w, own in zip(words, places, strict=True) if own == k]
                for k, field in enumerate(all_fields)
            }
            values = {field: " ".join(own) for field, own in parts.items()}
            text, title = values.pop("text", ""), values.pop("title", "")
            documents.append(Document(docno, text, title, values))
            counts[docno] = {field: Counter(own) for field, own in parts.items()}
        return cls(documents, counts)


def _other(fields: Sequence[str]) -> str:
    """Return the name of a field that is not among `fields`."""
    return (
        next(name for name in ("text", "title", "abstract") if name not in fields)
        if len(fields) < 3
        else "x" + max(fields)
    )


def search_adds_up_scores(subject: Subject) -> None:
    """Search gives each document the sum of `weight` times `score` over its terms, by the statistics of the whole collection."""
    ranker = subject.made
    fields = fields_of(ranker)
    for seed in (1, 2):
        collection = RandomCollection.drawn(seed, fields)
        index = subject.build(f"random-{seed}", collection.documents[:90], (*fields, _other(fields)) if fields else ())
        index.add(collection.documents[90:])
        index.delete([document.docno for document in collection.documents[::11]])
        counts = {docno: counts for docno, counts in collection.counts.items() if docno in index}
        for weights in ({"w0": 1.0, "w3": 2.0, "w20": 1.0}, {"w1": 0.5, "w40": -1.5, "w59": 3.0, "none": 1.0}):
            terms = tuple(QueryTerm(term, weight) for term, weight in weights.items())
            try:
                hits = index.search(Query(" ".join(weights), terms), subject.component, k=len(counts))
            except SublexError as error:
                raise AssertionError(f"search with the query {weights}: {error}") from error
            found = {hit.docno: hit.score for hit in hits}
            with np.errstate(all="ignore"):
                expected = _sums(ranker, counts, weights)
            assert found.keys() == expected.keys(), f"search with the query {weights} finds other documents"
            for docno, score in found.items():
                near = math.isclose(score, expected[docno][0], rel_tol=1e-5, abs_tol=1e-5 * expected[docno][1])
                assert near, (
                    f"search gives {docno} the score {score:g} for the query {weights}, and weight times score is {expected[docno][0]:g}; "
                    "compute both from their arguments alone"
                )


def _sums(ranker: Any, counts: dict[str, Fields], query: dict[str, float]) -> dict[str, tuple[float, float]]:
    """For each document with a query term, return its score, computed one posting at a time, and the largest summand."""
    whole = {docno: sum(own.values(), Counter()) for docno, own in counts.items()}
    df = Counter(term for own in whole.values() for term in own)
    cf: Counter[str] = sum(whole.values(), Counter())
    numbers = len(whole), sum(cf.values()), sum(df.values())
    collection: Any = Statistics(*numbers)
    if fields_of(ranker):
        means = {field: sum(own[field].total() for own in counts.values()) / len(counts) for field in fields_of(ranker)}
        collection = FieldStatistics(*numbers, means)
    known = [term for term in query if df[term]]
    of_terms = TermStats(np.array([float(df[t]) for t in known]), np.array([float(cf[t]) for t in known]))
    asked = np.array([query[term] for term in known])
    # A ranker that does not subclass `Ranker` may lack `weight`.
    weights = ranker.weight(asked, of_terms, collection) if hasattr(ranker, "weight") else asked
    found: dict[str, tuple[float, float]] = {}
    for docno, own in counts.items():
        parts = []
        for term, weight in zip(known, weights, strict=True):
            if whole[docno][term]:
                tf, doc = _frequencies(ranker, own, term), _document(ranker, own, df, cf, collection)
                score = ranker.score(tf, doc, TermStats(float(df[term]), float(cf[term])), collection)
                parts.append(float(weight) * float(np.float32(np.asarray(score)[0])))
        if parts:
            found[docno] = sum(parts), max(map(abs, parts))
    return found


def _frequencies(ranker: Any, own: Fields, term: str) -> Any:
    """Return the frequency of a term in a document, in the form that the ranker gets."""
    frequencies = {field: np.array([float(own[field][term])]) for field in fields_of(ranker) or ("",)}
    return frequencies if fields_of(ranker) else frequencies[""]


def _document(ranker: Any, own: Fields, df: Counter[str], cf: Counter[str], collection: Any) -> DocStats:
    """Return the statistics of a document in the form that the ranker gets. The norm is the sum of its parts."""
    lengths = {field: np.array([own[field].total()]) for field in fields_of(ranker) or ("",)}
    if getattr(ranker, "lengths", "exact") == "lucene":
        lengths = {field: round_lengths(length) for field, length in lengths.items()}
    exact = {field: length.astype(np.float64) for field, length in lengths.items()}
    terms = sorted(set().union(*own.values()))
    doc = DocStats(exact if fields_of(ranker) else exact[""], np.array([float(len(terms))]))
    part = getattr(ranker, "norm_part", None)
    if part is None:
        return doc
    norms = (
        part(_frequencies(ranker, own, term), doc, TermStats(float(df[term]), float(cf[term])), collection)
        for term in terms
    )
    return doc._replace(norm=np.array([sum(float(np.asarray(norm)[0]) for norm in norms)]))


CHECKS: tuple[Callable[[Subject], None], ...] = (
    scores_are_finite,
    ends_of_ranges_give_finite_scores,
    scores_read_what_reads_declares,
    scores_stand_alone,
    weights_are_finite,
    explanations_are_those_of_scores,
    claims_hold,
    search_adds_up_scores,
)
