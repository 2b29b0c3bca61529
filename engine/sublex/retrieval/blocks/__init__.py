"""Blocks: rows of frequent terms, with which terms are looked up for single documents instead of being added up."""
