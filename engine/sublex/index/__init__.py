"""The inverted index on disk: its files, opening it, and checking it.

An index is a folder with a manifest and immutable segments. A segment consists of components, which are arrays in files. `snapshot`
opens one generation for reading, and `corpus` shows it to plugins. `sublex.building` writes segments and changes an index.
"""
