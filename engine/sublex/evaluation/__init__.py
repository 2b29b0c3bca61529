"""Evaluation: measure runs against relevance judgements, and compare systems on the same topics.

`run_evaluation` computes the measures of one run for every judged topic. `systems` turns ranking expressions into runs, or reads
them from the cache next to the index. `comparison` measures several systems and passes their scores to `sublex.statistics`.
Runs and judgements come from `sublex.trec`; `sublex.report` and the command line show the results.
"""
