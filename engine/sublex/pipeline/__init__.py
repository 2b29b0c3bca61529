"""Pipelines: an expression composed into stages that run on an index."""
