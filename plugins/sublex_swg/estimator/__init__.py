"""Sparse word graphs: which words of a topic go together, after R. Nallapati, A. Ahmed, W. Cohen and E. Xing, Sparse Word Graphs, 2007.

`topic_documents` makes the binary documents of a topic, `neighbourhoods` fits a logistic regression of each word on all others, and
`word_graph` joins the neighbourhoods to one graph. `strongest` and `truncated` return the edges to look at.
"""

from sublex_swg.estimator.graph import Edges, join, strongest, truncated, word_graph
from sublex_swg.estimator.neighbourhoods import Neighbourhoods, neighbourhoods
from sublex_swg.estimator.topic_documents import TopicDocuments, topic_documents

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
