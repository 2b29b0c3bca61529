"""The pipeline: from an expression to hits on one snapshot of an index, and the `Index` that users hold.

A query's way: `index.py` asks `compose.py` for the pipeline of an expression. It is parsed, resolved by the plugin registry (every name
becomes a component with its parameters), and composed into stages (`stages/`), unless that was done before. A `Pipeline` starts its
scorer for each query; `running.py` runs a topic file and writes a TREC run.
Data comes from `index`, `retrieval` and `representations`; evaluation, tuning and the command line build on this room.
"""
