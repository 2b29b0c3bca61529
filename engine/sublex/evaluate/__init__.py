"""Evaluation: what a comparison of systems over topics can say, and how surely."""
