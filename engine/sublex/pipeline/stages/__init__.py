"""The stages of a pipeline: one file for each kind of stage, with its score and its explanation side by side.

A stage takes a `State` (a query and the hits found for it so far) and returns the next one. `Scorer.start` puts a scorer to work on
one state, as a `Scoring`: that finds documents when there are no hits yet, and scores the hits again otherwise; it scores any
documents, and explains a score. An expander changes the query and drops the hits. `compose.py` builds the stages of an expression.
"""
