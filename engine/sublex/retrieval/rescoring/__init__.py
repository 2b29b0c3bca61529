"""Rescoring: the scores of documents that are given, equal to those of retrieval."""
