"""The stages of a pipeline: one file for each kind of stage, with its score and its explanation side by side.

A stage takes a `State`, a query and the hits found for it so far, and returns the next state. An expander changes the
query and drops the hits. A scorer finds hits, or ranks those of the state again: `Scorer.start` puts it to work on one
state, as a `Scoring`, which also scores any documents and explains a score. `compose.py` builds the stages of an
expression.
"""
