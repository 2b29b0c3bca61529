"""The query language: text to a tree, and a tree to the terms, the condition and the plain words of a query.

`read.py` makes trees of texts, `tree.py` has their records and prints them, `make_query.py` makes queries of them, and
`expand.py` finds the terms of prefixes and fuzzy words. `docs/query_language.md` has the grammar.
"""
