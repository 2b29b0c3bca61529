"""Blocks: upper bounds of scores for every eight documents, which leave most documents of a large collection out.

`Blocks` holds the bounds of frequent terms, and the kernels find the best k documents with them, as exactly as by adding up everything.
"""
