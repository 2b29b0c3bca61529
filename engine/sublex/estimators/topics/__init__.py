"""What models of topics share: counts, inference with given topics, measures, scores, and a representation to derive from.

`inference` finds the topics of documents, `coherence` measures topics, `matching` pairs those of two models, and `scores` compares
documents. `topics` and `page` show topics to people, and `representation` ranks the documents of an index by their topics.
"""
