"""Building and changing an index: documents become segments, and a writer commits them.

What a built index is on disk, and how it is opened, is in `sublex.index`.
"""
