"""TREC's files: read topics, relevance judgements (qrels) and runs, write runs, and fuse several runs into one.

The files come from users and from other systems, so reading checks everything. A reader reports each fault of a file to a listener:
for the public functions the first fault is an error that names file and line, and `sublex.lint` gathers all of them. Topics go to
searching; qrels and runs go to evaluation, comparison and tuning as columns of NumPy arrays. Searching hands its
results to `run_writer`.
"""
