"""The code that all models of topics share: counts, inference with given topics, measures, scores, and base classes.

`inference` finds the topics of documents, `coherence` measures topics, `matching` pairs the topics of two models, and
`scores` compares documents with a query. `topics` and `page` show topics to people. `representation` ranks the
documents of an index by their topics.
"""
