"""LAKI on an index: it stores the probability of each keyphrase in each document, and compares the keyphrases of query
and document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex import Expression
from sublex.contracts.base import Explanation, Mark, TextWords
from sublex.contracts.fitted import Corpus, Job, Representation, Store, Stored, View
from sublex.contracts.stored import Declared, Json, Numbers, Places
from sublex.errors import IndexCorrupt, InputError
from sublex.estimators.phrases.lexicon import COMMON_SHARE
from sublex.estimators.phrases.phrase_list import NAMES, PhraseList
from sublex.estimators.sparse_rows import cosines, norms
from sublex.estimators.word_sums import check_model
from sublex.tools.messages import counted
from sublex_laki.candidates import are_named
from sublex_laki.estimator import (
    CertaintyCurve,
    Network,
    calibrate,
    certain,
    come_back,
    concentration,
    decomposed,
    encode,
    evidence,
    evoked_by,
    learn,
    odds_of_mentions,
    structure,
    weighed,
)  # fmt: skip
from sublex_laki.estimator.network import LEAST, MOST
from sublex_laki.explaining import explain
from sublex_laki.keyphrases import Keyphrases
from sublex_laki.nearness import Nearness
from sublex_laki.page import page, records
from sublex_laki.shown import ShownKeyphrase, distinct, of_network, of_texts, without_parts
from sublex_laki.similarity import vectors_of_model
from sublex_laki.units import Units

# A keyphrase that is less probable in a document is not stored. For a query the limit is lower, because it has few
# words.
LEAST_PROBABILITY, LEAST_IN_QUERY = 0.05, 0.001
# The number of sweeps of the chain that computes which words evoke which keyphrases.
EVIDENCE_SWEEPS = 2000
# The number of keyphrases whose silhouettes the model's card shows.
CARD_KEYPHRASES = 20
# The smallest number of keyphrases of a network.
FEWEST = 2
# Bytes of memory that fitting takes for each word of the collection, and for each number in the vectors.
BYTES_PER_WORD, BYTES_PER_NUMBER = 100, 64
ARRAYS = ("starts", "parents", "weights", "leaks", "phrases")
# One of HELD_OUT documents is held out to calibrate the evidence, at most MOST_HELD_OUT of all.
HELD_OUT, MOST_HELD_OUT = 10, 2000
# Log-odds of mentions are within this distance of 0.
MOST_ODDS = 100.0


class KeyphraseQuery(NamedTuple):
    """A query: its units as a row of counts, and the probability of each keyphrase."""

    counts: csr_array
    chances: np.ndarray


class LAKIRepresentation(Representation):
    """Compares texts by the keyphrases that they are about, mentioned or not (J. Liu et al. 2016)."""

    # Version 2: inference considers the keyphrases that a text mentions before all others. Version 3: links come from the
    # shares of documents, each keyphrase is weighed alone, and held-out documents say how sure evidence is; and
    # keyphrases are names of things on which documents concentrate. Version 4: the strength of a mentioned keyphrase also
    # depends on how much its documents are alike, and its numbers come from verdicts of readers. Version 5: facts about words
    # are stored with the phrases, by which a text's rare phrases are found. Version 6: vectors of units are stored, by which
    # people are shown only such latent keyphrases as are near to the text.
    version = 6
    reads = "words"
    units: Units
    network: Network

    def __init__(self, **params: Any):
        self.params = SimpleNamespace(**params)
        self.least_share = self.params.strong
        self.perplexities: list[float] = []

    def depends(self) -> Sequence[Expression]:
        """Return the expressions of the phrases, and of the model of word vectors if there is one."""
        return tuple(model for model in (self.params.phrases, self.params.words) if model is not None)

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """Return the bytes of memory that fitting takes: the counts of units, and the vectors of all words."""
        return (
            BYTES_PER_WORD * int(corpus.lengths.sum()) + BYTES_PER_NUMBER * len(corpus.vocabulary) * self.params.width
        )

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Find the units of all documents, link keyphrases to units, and learn the weights of the links."""
        params = self.params
        model = job.model(params.phrases)
        phrases = getattr(model, "phrases", None)
        if not isinstance(phrases, PhraseList):
            raise InputError(
                f"laki: {params.phrases} has no phrases; name a model that has, such as phrases(support=10)."
            )
        everything = Units.of(phrases)
        counts = everything.of_corpus(corpus, job)
        df = np.bincount(counts.indices, minlength=len(everything))
        may_be = everything.is_phrase & (df <= params.max_df * len(corpus.docs))
        is_listed = getattr(model, "is_listed", False)
        if not is_listed:
            may_be &= come_back(counts, may_be, params.again)
            may_be[: len(phrases)] &= are_named(phrases, params.named)
        # Units in a large share of the documents say little about any keyphrase.
        kept = np.flatnonzero((df > 0) & (may_be | (df < COMMON_SHARE * len(corpus.docs))))
        self.units, counts = everything.kept(kept), csr_array(counts[:, kept])
        keyphrases = np.flatnonzero(may_be[kept])
        own = decomposed(counts, params.width, params.seed, job.workers)
        focus = concentration(own, keyphrases)
        if not is_listed:
            keyphrases, focus = keyphrases[focus >= params.focus], focus[focus >= params.focus]
        if len(keyphrases) < FEWEST:
            raise InputError(
                f"laki: {params.phrases} finds fewer than {FEWEST} keyphrases in {len(corpus.docs):,} documents; give it a lower "
                "support or quality, raise max_df, or add documents."
            )
        vectors = own.vectors
        if params.words is not None:
            vectors = vectors_of_model(self.units, job.model(params.words), params.words, job, corpus.analyze)
        self.network, self.perplexities = self._network(counts, keyphrases, vectors, job)
        self.usual_length = counts.nnz / max(1, int((np.diff(counts.indptr) > 0).sum()))
        words = np.array([len(terms) for terms in self.units.terms])[self.network.phrases]
        # Phrases that users list are names.
        named = 1.0 if is_listed else phrases.features[self.units.codes[self.network.phrases], NAMES.index("named")]
        focus = focus[np.searchsorted(keyphrases, self.network.phrases)]
        self.odds = odds_of_mentions(counts, self.network.phrases, words, named, focus)
        self.curve = self._curve(counts, keyphrases, vectors, job)
        # The longer the vector of a unit, the more the unit weighs in a text.
        rarity = np.log(len(corpus.docs) / np.maximum(np.bincount(counts.indices, minlength=len(kept)), 1))
        self.vectors = np.asarray(own.vectors * rarity[:, None], np.float32)
        self.vocabulary = phrases.lexicon.terms

    def _network(
        self, counts: csr_array, keyphrases: np.ndarray, vectors: np.ndarray, job: Job
    ) -> tuple[Network, list[float]]:
        """Return the network that is learned from documents, and the perplexities while it was learned."""
        params = self.params
        network = structure(
            counts, keyphrases, vectors, weights=params.weights, alpha=params.alpha, beta=params.beta, most=params.links,
            workers=job.workers,
        )  # fmt: skip
        return learn(
            network, counts, iterations=params.iterations, seed=params.seed, workers=job.workers,
            progress=partial(job.progress, unit=f"documents in {counted(params.iterations, 'iteration')}"),
        )  # fmt: skip

    def _curve(self, counts: csr_array, keyphrases: np.ndarray, vectors: np.ndarray, job: Job) -> CertaintyCurve:
        """Hold out a tenth of the documents, make a network of the others, and calibrate it on those held out."""
        held = np.zeros(counts.shape[0], bool)
        held[np.arange(0, counts.shape[0], max(HELD_OUT, -(-counts.shape[0] // MOST_HELD_OUT)))] = True
        others = csr_array(counts[np.flatnonzero(~held)])
        known = np.intersect1d(keyphrases, others.indices)
        if not len(known):
            return CertaintyCurve(np.zeros(1), np.zeros(1))
        network, _ = self._network(others, known, vectors, job)
        return calibrate(network, counts[np.flatnonzero(held)], self.usual_length, job.workers)

    def save(self, store: Store) -> None:
        """Store the phrases, the units and the network."""
        self.units.phrases.save(store, "phrases_")
        store.put("units", self.units.codes)
        for name in ARRAYS:
            store.put(f"network_{name}", getattr(self.network, name))
        store.put("perplexities", self.perplexities)
        store.put("usual_length", self.usual_length)
        store.put("odds_of_mentions", self.odds)
        store.put("curve_evidence", self.curve.evidence)
        store.put("curve_chances", self.curve.chances)
        store.put("unit_vectors", self.vectors)

    def known_terms(self) -> frozenset[str]:
        """Return the terms of all units."""
        return frozenset(term for terms in self.units.terms for term in terms)

    def declares(self) -> Mapping[str, Declared]:
        """Return the declaration of each stored value, by name. The nodes of the network are the keyphrases and then the units."""
        return {
            **PhraseList.declares("phrases_"),
            "units": Numbers(("units",), "i4", 0, below="phrases + terms + variants", order="rising"),
            "network_phrases": Numbers(("keyphrases",), "i4", 0, below="units"),
            "network_leaks": Numbers(("keyphrases + units",), "f8", LEAST, MOST),
            "network_weights": Numbers(("links",), "f8", LEAST, MOST),
            "network_parents": Numbers(("links",), "i4", 0, below="keyphrases"),
            "network_starts": Places("keyphrases + units", "links"),
            "perplexities": Json(list[float]),
            "usual_length": Json(float),
            "odds_of_mentions": Numbers(("keyphrases",), "f8", -MOST_ODDS, MOST_ODDS),
            "curve_evidence": Numbers(("knots",), "f8", order="ascending"),
            "curve_chances": Numbers(("knots",), "f8", 0, 1, order="ascending"),
            "unit_vectors": Numbers(("units", "width"), "f4", -MOST_ODDS, MOST_ODDS),
        }

    def load(self, store: Stored) -> None:
        """Restore the phrases, the units and the network, which checks the order of its links."""
        phrases = PhraseList.load(store, "phrases_")
        self.units = Units(phrases, store.get("units"))
        try:
            self.network = Network(*(store.get(f"network_{name}") for name in ARRAYS))
        except InputError as error:
            raise IndexCorrupt(f"{error} Fit the model again.") from None
        check_model(self.network.keyphrases > 0 and bool(self.units.is_phrase[self.network.phrases].all()))
        self.perplexities, self.usual_length = store.get("perplexities"), store.get("usual_length")
        self.odds = store.get("odds_of_mentions")
        self.curve = CertaintyCurve(store.get("curve_evidence"), store.get("curve_chances"))
        self.vectors = store.get("unit_vectors")
        check_model(len(self.curve.evidence) > 0)
        self.vocabulary = phrases.lexicon.terms
        self.row_values = Numbers((self.network.keyphrases,), "f4", 0, 1, sparse=True)

    def encode_documents(self, inputs: TextWords) -> csr_array:
        """Return the probability of each keyphrase in each document (float32). Improbable keyphrases are left out."""
        return self.encode_units(self.units.of_texts(inputs))

    @cached_property
    def capped(self) -> Network:
        """The network that inference uses: the weight of the link from a keyphrase to its own unit is at most `cap`.

        In learning, a keyphrase is on mostly where it is mentioned, so the network learns that a text nearly always
        mentions its own subject. With the learned weights, inference could not find a keyphrase in a text that does not
        mention it.
        """
        network = self.network
        units = np.repeat(np.arange(len(network.leaks)), np.diff(network.starts)) - network.keyphrases
        own = units == network.phrases[network.parents]
        return network.with_values(
            np.where(own, np.minimum(network.weights, self.params.cap), network.weights), network.leaks
        )

    @cached_property
    def length(self) -> float:
        """The number of distinct units below which a text is read as a part of a longer text: the mean of the
        collection, or 0 for none.
        """
        return self.usual_length if self.params.absent == "part" else 0.0

    def encode_units(self, counts: csr_array, least: float = LEAST_PROBABILITY) -> csr_array:
        """Return the probability of each keyphrase in each text, as sparse rows. Probabilities below `least` are left
        out.

        `counts` has a row for each text, with the counts of its units.
        """
        params = self.params
        if params.inference == "alone":
            found = certain(self.network, counts, self.curve, self.odds, self.length)
        else:
            found = encode(
                self.capped, counts, method=params.inference, most=params.most, sweeps=params.sweeps, swaps=params.swaps,
                length=self.length, seed=params.seed,
            )  # fmt: skip
        found.data[found.data < least] = 0.0
        found.eliminate_zeros()
        return csr_array(
            (np.minimum(found.data, 1.0).astype(np.float32), found.indices, found.indptr), shape=found.shape
        )

    def encode_queries(self, inputs: TextWords) -> list[KeyphraseQuery]:
        """Return for each query its units and the probabilities of its keyphrases."""
        counts = self.units.of_texts(inputs)
        chances = self.encode_units(counts, LEAST_IN_QUERY).toarray().astype(np.float64)
        return [KeyphraseQuery(counts[[k]], chances[k]) for k in range(len(chances))]

    def score(self, query: KeyphraseQuery, view: View, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the cosines of the query with documents, computed from the probabilities of keyphrases.

        A cosine is -inf if the query or the document has no keyphrases.
        """
        lengths = view.once("norms of laki", lambda: view.map_rows(norms))
        lengths = lengths if docs is None else lengths[docs]
        if not query.chances.any():
            return np.full(len(lengths), -np.inf)
        # A query has few keyphrases. The norm of so few numbers is computed without threads.
        found = cosines(view.products(query.chances, docs), lengths, query.chances[query.chances > 0])
        return np.where(lengths > 0, found, -np.inf)

    def explain(self, query: KeyphraseQuery, view: View, doc: int) -> Explanation:
        """Return a cosine as a sum over the keyphrases that query and document share."""
        document = np.asarray(view.rows(np.array([doc])).todense(), np.float64)[0]
        own = self.units.of_texts(view.words(doc))
        found = self.keyphrases(view)
        evoked = [self.evoked(counts) for counts in (query.counts, own)]
        return explain(found, (query.chances, document), (query.counts, own), (evoked[0], evoked[1]), self.least_share)

    def evoked(self, counts: csr_array) -> csr_array:
        """Return how likely each keyphrase turned on each unit of a text, as sparse rows of keyphrases by units.

        `counts` is the text's row of units.
        """
        if self.params.inference == "alone":
            return evoked_by(self.network, counts, self.encode_units(counts, LEAST_IN_QUERY))
        found = evidence(
            self.capped,
            counts,
            most=self.params.most,
            sweeps=EVIDENCE_SWEEPS,
            length=self.length,
            seed=self.params.seed,
        )
        return found[:, self.network.keyphrases :]

    @cached_property
    def nearness(self) -> Nearness:
        """The vectors of units and keyphrases."""
        return Nearness(self.vectors, self.network.phrases)

    def keyphrases(self, view: View) -> Keyphrases:
        """Return the keyphrases with their names."""
        found: Keyphrases = view.once("keyphrases of laki", lambda: Keyphrases(self.network, self.units, view.surface))
        return found

    def shown(
        self, view: View, texts: TextWords, counts: csr_array, least: float = 0.0
    ) -> Iterator[list[ShownKeyphrase]]:
        """Yield the keyphrases of each text as people see them, the strongest first, with a strength of `least` or more.

        `counts` has the units of each text.
        """
        found = self.keyphrases(view)
        if self.params.shown == "network":
            lists, chosen = of_network(found, counts, self.encode_units(counts)), without_parts
        else:
            # The words of an improbable keyphrase may all be in the text.
            chances = self.encode_units(counts, LEAST_IN_QUERY)
            # Evidence is added only to probabilities that are calibrated for mentions, as those of inference=alone are.
            alone = self.params.inference == "alone"
            rest = weighed(self.network, counts, self.length) if alone else None
            lists = of_texts(found, texts, counts, chances, rest, self.nearness, self.params.related)
            chosen = distinct
        for items in lists:
            yield list(chosen([item for item in items if item.strength >= least]))

    def labels(self, view: View) -> list[str]:
        """Return the names of the keyphrases."""
        return self.keyphrases(view).names

    def label_shares(self, view: View, docs: np.ndarray) -> csr_array:
        """Return the probability of each keyphrase in each document."""
        return view.rows(docs)

    def marks(self, query: KeyphraseQuery, view: View, doc: int) -> list[Mark]:
        """Return the units of a document that one of its strong keyphrases turns on, as marks. Each mark names the keyphrase
        that most likely turns the unit on.

        The query does not matter.
        """
        texts = view.words(doc)
        words = self.units.words_of(texts)
        found = self.units.find(words, texts.breaks, texts.ends)
        if not len(found.units):
            return []
        names = self.keyphrases(view)
        strong = view.rows(np.array([doc])).toarray()[0] >= self.least_share
        evoked = csr_array(self.evoked(self.units.of_texts(texts)).multiply(strong[:, None])).tocsc()
        best: dict[int, tuple[int, float]] = {}
        for unit in np.unique(found.units).tolist():
            column = slice(evoked.indptr[unit], evoked.indptr[unit + 1])
            values = evoked.data[column]
            if len(values) and values.max() > 0:
                place = int(values.argmax())
                best[unit] = int(evoked.indices[column][place]), min(1.0, float(values[place]))
        marks: dict[tuple[str, ...], Mark] = {}
        for begin, end, unit in zip(found.begins.tolist(), found.ends.tolist(), found.units.tolist(), strict=True):
            terms = tuple(term for k in texts.words[begin:end].tolist() if (term := texts.terms[k]))
            if unit in best and terms:
                keyphrase, weight = best[unit]
                marks.setdefault(terms, Mark(terms, keyphrase, names.names[keyphrase], weight))
        return list(marks.values())

    def documents(self, view: View) -> np.ndarray:
        """Return for each keyphrase the number of documents in which it is strong."""

        def count() -> np.ndarray:
            live = np.array([doc for doc in range(len(view)) if view.docno(doc) is not None], np.int64)
            rows = view.rows(live)
            return np.bincount(rows.indices[rows.data >= self.least_share], minlength=self.network.keyphrases)

        found: np.ndarray = view.once(f"documents of laki, strong={self.least_share!r}", count)
        return found

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the size of the network, the perplexities of the fit, and the keyphrases that most documents are about, with
        their silhouettes.
        """
        return {
            "keyphrases": self.network.keyphrases,
            "units": self.network.units,
            "links": len(self.network.weights),
            "links between keyphrases": int(self.network.hierarchy.nnz),
            "training perplexities": [round(value, 1) for value in self.perplexities],
            "most documents": records(self.keyphrases(view), self.documents(view), CARD_KEYPHRASES),
        }

    def page(self, view: View, title: str) -> str:
        """Return the keyphrases with their silhouettes as a self-contained HTML page."""
        return page(title, self.keyphrases(view), self.documents(view))
