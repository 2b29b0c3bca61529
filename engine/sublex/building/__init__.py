"""Building and changing an index: documents become segments, and a writer commits them.

`sublex.index` describes an index on disk and opens it.
"""
