"""TREC's files: topics, qrels and runs, read, written and fused."""
