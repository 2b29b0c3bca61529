"""TREC's files: read topics, relevance judgements (qrels) and runs, write runs, and fuse several runs into one.

The files come from users and from other systems, so reading checks everything and names file and line of a mistake. Topics
go to searching; qrels and runs go to evaluation, comparison and tuning as columns of NumPy arrays. Searching hands its
results to `run_writer`.
"""
