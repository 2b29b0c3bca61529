"""The inverted index on disk: building, opening, changing and checking it.

Documents come from `sublex.readers` as batches, and terms from `sublex.analysis`. `indexing` is the entry for building and adding;
`writer` makes and commits generations. An index is a folder with a manifest and immutable segments. A segment consists of
components, which are arrays in files. `snapshot` opens one generation for reading, and `corpus` shows it to plugins.
The rooms above, `representations`, `retrieval` and `pipeline`, read segments and postings from here.
"""
