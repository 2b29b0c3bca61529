"""Random forests for positive and unlabelled examples: which of many things are like a few that are known to be good."""

from sublex_phrases.forest.positive_unlabelled import binned, likeness

__all__ = ["binned", "likeness"]
