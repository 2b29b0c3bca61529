"""The pipeline: from an expression to hits on one snapshot of an index, and the `Index` that users hold.

`index.py` asks `compose.py` for the pipeline of an expression. `compose.py` parses the expression, and the plugin
registry resolves it: every name becomes a component with its parameters. The result is composed into stages, which are
in `stages/`. The composer keeps pipelines, so an expression is composed only once. A `Pipeline` starts its scorer for
each query. `running.py` runs a topic file and writes a TREC run.

This room reads data from `index`, `retrieval` and `representations`. Evaluation, tuning and the command line use this
room.
"""
