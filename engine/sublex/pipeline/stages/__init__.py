"""The stages of a pipeline: one file for each kind of stage, with its score and its explanation side by side.

A stage takes a `State`, which is a query and the hits found for it so far, and returns the next state. An expander
changes the query and drops the hits. A scorer finds hits; if the state has hits already, it ranks them again.
`Scorer.start` returns a `Scoring`: the scorer with one state. A `Scoring` can also score any documents and explain a
score. `compose.py` builds the stages of an expression.
"""
