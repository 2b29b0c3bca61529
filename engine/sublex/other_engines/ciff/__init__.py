"""CIFF, the Common Index File Format (https://github.com/osirrc/ciff): read and write the postings that engines exchange.

A file has a header, a posting list for each term, and a record for each document. Each of these is a protobuf message,
with its length before it. Sublex reads and writes the bytes itself and needs no protobuf. The file carries no analyzer,
texts or written forms of words.
"""
