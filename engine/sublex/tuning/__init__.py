"""Tuning: choose the numbers of an expression with ranges, and measure the choice on topics that had no part in it.

`space` finds the ranges of an expression and the settings to try, `search` runs every setting once over the judged topics and
cross-validates the choice, `judge` measures the rankings, and `result` holds what `sublex.tune` returns. Settings run through
`sublex.pipeline`, and `sublex.evaluation` measures them; nothing is written to the index.
"""
