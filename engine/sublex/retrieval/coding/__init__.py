"""Coding: the postings of a segment in few bytes, as kernels read them, in memory and on disk alike.

`CodedPostings` holds the coded postings of one segment under one ranker, and the kernels write, check and read them.
"""
