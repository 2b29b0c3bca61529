"""Vectors that other programs computed for documents or queries: files, arrays and data frames of them are read here.

`read.py` detects the format of a file, and each format has a module. What belongs to which document of an index is not
decided here: `representations/vector_sets.py` does that.
"""
