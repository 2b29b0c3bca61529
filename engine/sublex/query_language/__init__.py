"""The query language: text to a tree, and a tree to the terms, the condition and the plain words of a query.

`read.py` makes a tree of a text. `tree.py` has the records of trees, and prints trees. `make_query.py` makes a query of a
tree. `expand.py` finds the terms of prefixes and fuzzy words. `docs/query_language.md` has the grammar.
"""
