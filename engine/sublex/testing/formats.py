"""Small files in the formats that Sublex reads, and in formats that no reader may claim."""

from __future__ import annotations

from sublex.contracts.base import Example

TREC = b"""<DOC>
<DOCNO> AP-1 </DOCNO>
<TEXT>
Cranes by the river.
</TEXT>
</DOC>
<DOC>
<DOCNO>AP-2</DOCNO>
<TEXT>A crane on the quay.</TEXT>
</DOC>
"""
TRECWEB = b"""<DOC>
<DOCNO>GX-1</DOCNO>
<DOCHDR>
http://example.org/cranes.html
HTTP/1.1 200 OK
Content-type: text/html
</DOCHDR>
<html><head><title>Cranes</title></head><body><p>Cranes by the river.</p></body></html>
</DOC>
"""
WARC_BLOCK = b"Cranes by the river."
WARC = (
    b"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-TREC-ID: clueweb-1\r\n"
    b"WARC-Target-URI: http://example.org/\r\nContent-Type: text/plain\r\n"
    b"Content-Length: %d\r\n\r\n%s\r\n\r\n" % (len(WARC_BLOCK), WARC_BLOCK)
)
SMART = b".I 1\n.T\nCranes\n.W\nCranes by the river.\n.I 2\n.W\nA crane on the quay.\n"
REUTERS = b"""<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="1" NEWID="1">
<TEXT><TITLE>CRANES</TITLE><BODY>Cranes by the river.</BODY></TEXT>
</REUTERS>
"""
JSONL = b'{"id": "a", "text": "Cranes by the river.", "year": "2018"}\n{"id": "b", "text": "A crane on the quay."}\n'
JSON = b'[{"id": "a", "text": "Cranes by the river."}, {"id": "b", "text": "A crane on the quay."}]\n'
# One example for each of Sublex's own readers except `irds`, whose collections are downloaded.
EXAMPLES = {
    "trec": Example("cranes.trec", TREC, ("AP-1", "AP-2")),
    "trecweb": Example("cranes.web", TRECWEB, ("GX-1",)),
    "warc": Example("cranes.warc", WARC, ("clueweb-1",)),
    "smart": Example("cranes.all", SMART, ("1", "2")),
    "reuters": Example("cranes.sgm", REUTERS, ("1",)),
    "jsonl": Example("cranes.jsonl", JSONL, ("a", "b")),
    "json": Example("cranes.json", JSON, ("a", "b")),
    "tsv": Example("cranes.tsv", b"a\tCranes by the river.\nb\tA crane on the quay.\n", ("a", "b")),
    "csv": Example("cranes.csv", b"id,text\na,Cranes by the river.\nb,A crane on the quay.\n", ("a", "b")),
    "text": Example("cranes.txt", b"Cranes by the river.\n", ("cranes.txt",)),
    "beir": Example(
        "cranes", {"corpus.jsonl": b'{"_id": "a", "title": "Cranes", "text": "Cranes by the river."}\n'}, ("a",)
    ),
}
# Files that do not belong to a collection, by name.
OTHERS = {
    "bm25.run": b"1 Q0 a 1 9.5 bm25\n1 Q0 b 2 9.1 bm25\n",
    "qrels.txt": b"1 0 a 1\n1 0 b 0\n",
    "topics.xml": b"<top>\n<num> Number: 1\n<title> cranes\n</top>\n",
    "picture.png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01",
    "paper.pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n",
    "archive.zip": b"PK\x03\x04\x14\x00\x00\x00\x08\x00",
    "archive.tar": b"cranes.trec".ljust(257, b"\0") + b"ustar\x0000".ljust(255, b"\0"),
    "program": b"\x7fELF\x02\x01\x01\x00",
    "empty": b"",
}
