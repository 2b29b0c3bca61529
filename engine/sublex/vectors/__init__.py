"""Read vectors that other programs computed for documents or queries: from files, arrays and data frames.

`read.py` detects the format of a file, and each format has a module. `representations/vector_sets.py` decides which vector
belongs to which document of an index.
"""
