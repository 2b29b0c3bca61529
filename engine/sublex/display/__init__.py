"""Displays: turn answers, documents, explanations and other results into lines, JSON and tables.

They print nothing. A face is a program in which users meet Sublex, such as the command line or the shell. All faces
show the same results: the functions here return a `Shown`, and each face prints it in its own way.
"""
