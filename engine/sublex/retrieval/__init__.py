"""Retrieval: from weighted query terms to the best k documents of a snapshot.

A `Searcher` takes one ranker and a snapshot. It computes the impact of every posting of the query's terms (the ranker's score
for that posting). A kernel adds the impacts up; it skips postings where this cannot change the result. The searcher returns
`Hits`: documents and scores as arrays. The pipeline calls this room. This room reads segments and never parses text or
expressions.
"""
