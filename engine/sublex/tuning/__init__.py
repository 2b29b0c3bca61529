"""Tuning: choose the numbers of an expression with ranges, and measure the choice on topics that did not influence it.

`space` finds the ranges of an expression and the settings to try. `search` runs every setting once over the judged
topics, and cross-validates the choice. `judge` measures the rankings, and `result` has the result of `sublex.tune`.
Settings run through `sublex.pipeline`, and `sublex.evaluation` measures them; nothing is written to the index.
"""
