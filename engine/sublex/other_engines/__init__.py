"""Indexes of other engines: attach them, build them, and exchange postings with them as CIFF files."""
