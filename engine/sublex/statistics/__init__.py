"""Statistics for comparing systems: significance tests, corrections, intervals, power, and the agreement of rankings.

All functions take arrays of scores, one row per system and one column per topic, or rankings. The package reads no
indexes or files. `sublex.evaluation` computes the scores and passes them to these functions. The module `sentences`
puts the results into words.
"""
