"""Displays: turn answers, documents, explanations and other results into lines, JSON and tables, and print nothing.

The command line, the shell and other faces of Sublex show the same results. Each function here takes an opened index and
returns `Shown`, which a face prints in its own way.
"""
