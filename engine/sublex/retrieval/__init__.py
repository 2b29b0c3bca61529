"""Retrieval: from weighted query terms to the best k documents of a snapshot.

A `Searcher` takes one ranker and a snapshot. It computes the impact of every posting of the query's terms (the ranker's score for
that posting), adds the impacts up in a kernel that prunes exactly, and returns `Hits`: documents and scores as arrays.
The pipeline calls this room; this room reads segments and never parses text or expressions.
"""
