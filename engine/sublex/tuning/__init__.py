"""Tuning: chooses the numbers of an expression with ranges by cross-validation over judged topics.

`space.py` lists the settings that the ranges allow, `search.py` runs each of them once and picks the best by folds, `judge.py` measures
rankings quickly, and `result.py` holds and prints what was found. Data comes from an index, topics and qrels.
"""
