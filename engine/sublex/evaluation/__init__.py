"""Judging runs: measures, checks, statistics, comparison, tuning."""
