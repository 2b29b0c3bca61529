"""The expander `swg`: adds to a query the neighbours of its words in sparse word graphs, one graph for each topic."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from sublex.contracts.base import Context, Evidence, Query, QueryTerm
from sublex.contracts.fitted import Corpus, Fittable, Job, Store, Stored, View
from sublex.contracts.stored import Declared, Json, Numbers
from sublex.errors import InputError
from sublex.estimators.word_sums import VOCABULARY, count_matrix
from sublex.tools.messages import near_names, nearest
from sublex_swg.common_words import common_words, topics_of_common_words
from sublex_swg.contexts import MIN_CLOSE, MIN_CONTEXTS, closeness, informativeness
from sublex_swg.graph import word_graph
from sublex_swg.reading_order import followers
from sublex_swg.topic_documents import topic_documents
from sublex_swg.windows import read_sentences
from sublex_swg.word_senses import Sense, WordSenses, chances

if TYPE_CHECKING:
    from sublex import Expression

# The topic's documents are those with at least this share of the topic. A word needs MIN_DF documents of the topic.
LEAST_SHARE, MIN_DF = 0.25, 3
# The numbers of words and of edges of a topic on the model's card.
CARD_WORDS, CARD_EDGES = 6, 4
# The number of neighbours that illustrate a sense in an explanation, and of rejected senses that are shown for a word.
EVIDENCE_WORDS, EVIDENCE_SENSES = 4, 5
# Steps of the progress bar for one topic.
STEPS = 1000


class SWG(Fittable):
    """Expansion by word senses (R. Nallapati, A. Ahmed, W. Cohen and E. Xing, Sparse Word Graphs, 2007, section 4.2).

    Each word of the query is taken in one sense, which is a topic. A term may be linked to words of the query in the
    graphs of their topics. Within a topic, the term gets a sum over these words: the weight of the edge times the
    word's weight in the query. Sums of different topics are not added: the term keeps its largest sum. All sums are
    scaled so that the largest becomes `weight`.

    With near=contexts, which is not in the paper, the weight of an edge is the closeness of `contexts.py`, and edges
    without closeness are left out.
    """

    version = 4
    docs = 0
    graphs: WordSenses

    def __init__(
        self,
        *,
        topics: Expression,
        terms: int,
        weight: float,
        sense: str,
        senses: Sequence[str],
        rho: float,
        near: str,
        documents: int,
    ):
        self.topics, self.terms, self.weight, self.sense, self.rho = topics, terms, weight, sense, rho
        self.near, self.documents = near, documents
        self._given = [_word_and_topic(item) for item in senses]
        self.forced: dict[int, int] = {}

    def depends(self) -> Sequence[Expression]:
        """Return the expression of the model of topics."""
        return (self.topics,)

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Estimate a word graph for each topic."""
        model = job.model(self.topics)
        estimator: Any = getattr(model, "estimator", None)
        if not hasattr(estimator, "theta_and_topics"):
            raise InputError(f"swg: {self.topics} is not a model of topics; name one, as in swg(topics=lda(k=10)).")
        known = list(model.vocabulary)
        common = common_words(corpus, known)
        vocabulary = known + common
        counts, others = count_matrix(corpus, known), count_matrix(corpus, common)
        theta, assigned = estimator.theta_and_topics(counts, job.workers)
        # The entry of a word with topic 0 is a stored 0, so 1 is added while the matrices are joined. The stored
        # entries, whatever their values, are the words that occur.
        numbered = [(part, part.data + 1) for part in (assigned, topics_of_common_words(others, theta, assigned))]
        joined = csr_array(
            hstack([csr_array((data, part.indices, part.indptr), part.shape) for part, data in numbered], format="csr")
        )
        occurs = csr_array((np.ones(joined.nnz), joined.indices, joined.indptr), shape=joined.shape)
        all_df = np.bincount(joined.indices, minlength=len(vocabulary))
        cf = np.concatenate([np.asarray(part.sum(axis=0)).ravel() for part in (counts, others)])
        # In the paper, all words are alike.
        says = (
            informativeness(all_df, cf, corpus.lengths, vocabulary)
            if self.near == "contexts"
            else np.ones(len(vocabulary))
        )
        sentences = read_sentences(corpus, vocabulary, job.map) if self.near == "contexts" else None
        graphs, near, df, sizes, topics = [], [], [], [], theta.shape[1]
        for topic in range(topics):
            share = theta[:, topic]
            found = topic_documents(occurs, joined.data - 1, share, topic, LEAST_SHARE, self.documents, MIN_DF)
            df.append(np.bincount(found.binary.indices, minlength=len(vocabulary)))
            sizes.append(len(found.docs))

            def advance(done: int, total: int, before: int = topic) -> None:
                job.progress(before * STEPS + STEPS * done // total, topics * STEPS)

            graph = (
                word_graph(found.binary, self.rho, workers=job.workers, progress=advance)
                if found.binary.nnz
                else csr_array((len(vocabulary), len(vocabulary)))
            )
            graphs.append(graph.astype(np.float32))
            if self.near == "contexts":
                beside = None if sentences is None else partial(sentences.near, found.docs, found.binary)
                near.append(
                    closeness(
                        graph, found.binary, csr_array(occurs[found.docs]), all_df, says, len(corpus.docs), beside
                    )
                )
        stacked, close = (csr_array(vstack(parts, format="csr")) if parts else None for parts in (graphs, near))
        follows = followers(corpus, vocabulary, csr_array(sum(graphs, csr_array(graphs[0].shape))), job.map)
        numbers = np.array(df, np.int64), np.array(sizes, np.int64)
        self.graphs = WordSenses(vocabulary, stacked, *numbers, says, follows, close)
        self.surfaces = [corpus.surface(term).casefold() for term in vocabulary]

    def save(self, store: Store) -> None:
        """Store the vocabulary, the written forms of the words, and the graphs.

        Four more arrays are stored: the number of documents of each word in each topic, the number of documents of each
        topic, how much each word says about a document, and how often words follow each other.
        """
        store.put("vocabulary", self.graphs.vocabulary)
        store.put("surfaces", self.surfaces)
        store.put("graphs", self.graphs.graphs)
        store.put("df", self.graphs.df)
        store.put("sizes", self.graphs.sizes)
        store.put("says", self.graphs.says)
        store.put("follows", self.graphs.follows)
        if self.near == "contexts":
            store.put("near", self.graphs.near)

    def declares(self) -> Mapping[str, Declared]:
        """Return the declaration of each stored value, by name. The graphs of all topics stand one below another."""
        graphs = Numbers(("topics * words", "words"), "f4", sparse=True)
        return {
            **VOCABULARY,
            "surfaces": Json(list[str], "words"),
            "sizes": Numbers(("topics",), "i8", 0),
            "df": Numbers(("topics", "words"), "i8", 0),
            "graphs": graphs,
            "says": Numbers(("words",), "f8", 0),
            "follows": Numbers(("words", "words"), "i4", 0, sparse=True),
            **({"near": graphs} if self.near == "contexts" else {}),
        }

    def load(self, store: Stored) -> None:
        """Restore the graphs, and look up the words for which the user chose senses."""
        self.surfaces = store.get("surfaces")
        names = (
            "vocabulary",
            "graphs",
            "df",
            "sizes",
            "says",
            "follows",
            *(("near",) if self.near == "contexts" else ()),
        )
        self.graphs = WordSenses(*map(store.get, names))
        self.forced = {}
        for word, topic in self._given:
            number = self.word(word)
            known = sorted(sense.topic for sense in self.graphs.senses(number))
            if topic not in known:
                listed = near_names(str(topic), map(str, known)) or "none"
                raise InputError(f"swg: {word} has no sense in topic {topic}; the topics of its senses: {listed}.")
            if self.forced.setdefault(number, topic) != topic:
                raise InputError(f"swg: senses names two topics for {word}; leave one of them out.")

    def word(self, text: str) -> int:
        """Return the number of a word, given as a term or in its most frequent written form. Raise InputError for an
        unknown word.
        """
        if text in self.graphs.numbers:
            return self.graphs.numbers[text]
        if text.casefold() in self.surfaces:
            return self.surfaces.index(text.casefold())
        close = nearest(text.casefold(), self.surfaces)
        raise InputError(
            f"swg: {self.topics} does not know {text}; {self._too_rare()}{f'; {close.strip()}' if close else '.'}"
        )

    def _too_rare(self) -> str:
        """Return the reason why a word is not in the model, and what to change."""
        return "it leaves out rare words, and words that came after the fit; lower its min_df, or fit it again"

    def why_no_sense(self, number: int) -> str:
        """Return the reason why a word of the model has no sense, and what to change."""
        most = int(self.graphs.df[:, number].max(initial=0))
        # More documents can only be looked at in topics that have more.
        more = (
            f"raise documents={self.documents}" if (self.graphs.sizes >= self.documents).any() else "take fewer topics"
        )
        if self.near == "edges":
            return f"it has no edge in any topic; lower rho={self.rho:g}, or {more}"
        if most < MIN_CONTEXTS:
            return (
                f"a sense needs {MIN_CONTEXTS} documents of a topic, and no topic has it in more than {most} of the "
                f"documents looked at; {more}, or take near=edges"
            )
        return f"no topic has {MIN_CLOSE} words that are close to it; near=edges lists those that are not close"

    def known_terms(self) -> list[str]:
        """Return the words of the graphs."""
        return self.graphs.vocabulary

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return for each topic its number of documents and edges, its most frequent words and its strongest edges."""
        graphs = self.graphs

        def name(word: int) -> str:
            return view.surface(graphs.vocabulary[word])

        rows = []
        for topic in range(graphs.topics):
            edges = graphs.strongest(topic, CARD_EDGES)
            pairs = zip(edges.first.tolist(), edges.second.tolist(), strict=True)
            rows.append(
                {
                    "topic": topic,
                    "documents": int(graphs.sizes[topic]),
                    "edges": graphs.graph(topic).nnz // 2,
                    "words": [name(word) for word in graphs.top_words(topic, CARD_WORDS)],
                    "strongest edges": ["-".join(map(name, graphs.in_order(i, j))) for i, j in pairs],
                }
            )
        return {"words": len(graphs.vocabulary), "topics": rows}

    def page(self, view: View, title: str) -> str:
        """Return the graphs of all topics as a self-contained HTML page."""
        from sublex_swg.drawing import page

        return page(
            self.graphs, range(self.graphs.topics), lambda word: view.surface(self.graphs.vocabulary[word]), title
        )

    def expand(self, query: Query, context: Context) -> Query:
        """Return the query with added terms: neighbours of the query's words in the graphs of the topics that the words
        are taken in.

        The origin of an added term names the words of the query that led to it, and the topic.
        """
        numbers = self.graphs.numbers
        if not self.weight:
            return query
        words = {
            numbers[term]: weight for term, weight in query.word_weights().items() if term in numbers and weight > 0
        }
        sums: dict[tuple[int, int], float] = {}
        sources: dict[tuple[int, int], list[int]] = {}
        choices = self._choices(words)
        for word, (topic, _) in choices.items():
            for neighbour, edge in self.graphs.neighbours(word, topic):
                key = (neighbour, topic)
                sums[key] = sums.get(key, 0.0) + words[word] * edge
                sources.setdefault(key, []).append(word)
        used = set(query.word_weights())
        best: dict[int, int] = {}
        # The largest sums come first, so that a term keeps its largest sum.
        for neighbour, topic in sorted(sums, key=lambda key: (-sums[key], key)):
            if self.graphs.vocabulary[neighbour] not in used:
                best.setdefault(neighbour, topic)
        added = list(best.items())[: self.terms]
        largest = sums[added[0]] if added else 1.0
        terms = (
            QueryTerm(
                self.graphs.vocabulary[neighbour],
                self.weight * sums[neighbour, topic] / largest,
                f"swg: {', '.join(self.surfaces[word] for word in sources[neighbour, topic])} in topic {topic}",
            )
            for neighbour, topic in added
        )
        evidence = [self._evidence(word, topic, senses, context) for word, (topic, senses) in choices.items()]
        return Query(query.text, (*query.terms, *terms), [*evidence, *self._left_out(query, choices, context)])

    def _left_out(self, query: Query, chosen: Container[int], context: Context) -> Iterator[Evidence]:
        """Yield the words of a query that have no sense, with the reasons. Words that no document has are left out."""
        terms = [term for term, weight in query.word_weights().items() if weight > 0]
        for term, number in zip(terms, context.numbers(terms), strict=True):
            word = self.graphs.numbers.get(term)
            if number >= 0 and (word is None or word not in chosen):
                why = f"{self.topics} does not know it; {self._too_rare()}" if word is None else self.why_no_sense(word)
                yield Evidence(f"{context.surface(term)} has no sense: {why}", 0.0)

    def chosen(self, words: Mapping[int, float]) -> dict[int, int]:
        """Return a topic for each word of a query that has a sense: the topic that the user chose, or else the topic of
        the sense with the best score.

        `words` are word numbers with their weights in the query.
        """
        return {word: topic for word, (topic, _) in self._choices(words).items()}

    def _choices(self, words: Mapping[int, float]) -> dict[int, tuple[int, list[Sense]]]:
        """Return for each word of a query that has a sense the chosen topic, and all senses of the word, the most
        likely first.

        `words` are word numbers with their weights in the query.
        """
        choices = {}
        for word in words:
            others = [other for other in words if other != word]
            found = self.graphs.senses(word, others if self.sense == "auto" else ())
            if word in self.forced or found:
                choices[word] = self.forced[word] if word in self.forced else found[0].topic, found
        return choices

    def _evidence(self, word: int, chosen: int, senses: Sequence[Sense], context: Context) -> Evidence:
        """Return the chosen sense of a word with its probability, and below it the senses that were rejected."""
        name = context.surface(self.graphs.vocabulary[word])
        likely = {sense.topic: chance for sense, chance in zip(senses, chances(senses), strict=True)}

        def shown(topic: int) -> str:
            near = self.graphs.neighbours(word, topic, EVIDENCE_WORDS)
            return f"topic {topic}: {', '.join(context.surface(self.graphs.vocabulary[k]) for k, _ in near)}"

        others = [topic for topic in likely if topic != chosen][:EVIDENCE_SENSES]
        rejected = tuple(Evidence(f"not in {shown(topic)}", round(likely[topic], 4)) for topic in others)
        how = "taken by senses" if word in self.forced else "taken"
        return Evidence(f"{name} is {how} in {shown(chosen)}", round(likely.get(chosen, 0.0), 4), rejected)


def _word_and_topic(item: Any) -> tuple[str, int]:
    """Return the word and the topic of an item of the parameter `senses`, such as bank:2."""
    word, colon, topic = str(item).rpartition(":")
    if not word or not colon or not topic.isdecimal():
        raise InputError(f'swg: senses={item} is not a word with the number of a topic; write it as in ["bank:2"].')
    return word, int(topic)
