"""Coding: the postings of a segment as compact arrays.

Kernels read these arrays directly, in memory or mapped from disk. `CodedPostings` holds the coded postings of one
segment under one ranker, and the kernels write, check and read them.
"""
