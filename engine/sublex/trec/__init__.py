"""TREC's files: read topics, relevance judgements (qrels) and runs, write runs, and fuse several runs into one.

The files come from users and from other systems, so the readers check everything. A reader reports each fault of a file
to a listener. For the public functions, the first fault is an error that names file and line; `sublex.lint` gathers all
faults. Searches read topics, and `run_writer` writes their results. Evaluation, comparison and tuning read qrels and
runs as columns of NumPy arrays.
"""
