"""Sparse word graphs: which words of a topic go together, after R. Nallapati, A. Ahmed, W. Cohen and E. Xing, Sparse Word Graphs, 2007.

`topic_documents` makes the binary documents of a topic, `neighbourhoods` fits a logistic regression of each word on all others, and
`word_graph` joins the neighbourhoods to one graph. `strongest` and `truncated` return the edges to look at.
"""

from sublex.estimators.word_graphs.graph import Edges, join, strongest, truncated, word_graph
from sublex.estimators.word_graphs.neighbourhoods import Neighbourhoods, neighbourhoods
from sublex.estimators.word_graphs.topic_documents import TopicDocuments, topic_documents

__all__ = [
    "Edges",
    "Neighbourhoods",
    "TopicDocuments",
    "join",
    "neighbourhoods",
    "strongest",
    "topic_documents",
    "truncated",
    "word_graph",
]
