"""Ranking: weighting models, one file a family, and retrieval by them."""

sublex_api = 1
