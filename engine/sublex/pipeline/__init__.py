"""The pipeline: from an expression to hits on one snapshot of an index, and the `Index` that users hold.

An expression is parsed, resolved once by the plugin registry (every name becomes a component with its parameters), and composed into
stages (`compose.py`, `stages/`). A `Pipeline` runs the stages for queries; `running.py` runs a topic file and writes a TREC run.
Data comes from `index`, `retrieval` and `representations`; evaluation, tuning and the command line build on this room.
"""
