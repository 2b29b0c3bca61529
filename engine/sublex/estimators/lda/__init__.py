"""Latent Dirichlet allocation (LDA): topics from counts of documents by words, and what they are worth.

`model.LDA` is the estimator. `coherence` and `perplexity` measure topics, and `choosing` compares numbers of topics and seeds.
"""
