"""Statistics for comparing systems: significance tests, corrections, intervals, power, and the agreement of rankings.

All functions take arrays of scores, one row per system and one column per topic, or rankings. The room knows nothing of indexes or
files; `sublex.evaluation` computes the scores and passes them in, and `sentences` puts the results into words.
"""
