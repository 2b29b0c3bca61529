"""Statistics for comparing systems: significance tests, corrections, intervals, power, and the agreement of rankings.

All functions take rankings, or arrays of scores with one row per system and one column per topic. The package reads no
indexes or files. `sublex.evaluation` computes the scores and passes them to these functions. The module `sentences`
puts the results into words.
"""
