"""Tests of the readers: each format, damaged and hostile files, and real collections."""

from __future__ import annotations

import bz2
import csv
import gzip
import html
import io
import json
import lzma
import os
import re
import sys
import tarfile
import threading
import time
import warnings
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import sublex
from sublex.building.indexing import build_index
from sublex.contracts.base import Document, Reader, Report
from sublex.errors import InputError, MissingExtra
from sublex.readers import sgml
from sublex.readers.beir import Beir
from sublex.readers.entities import unescape
from sublex.readers.fields import to_document
from sublex.readers.html import decode_page, page_text
from sublex.readers.irds import Irds
from sublex.readers.json_array import JsonArray
from sublex.readers.jsonl import JsonLines
from sublex.readers.reuters import Reuters
from sublex.readers.smart import Smart
from sublex.readers.source import FileSource
from sublex.readers.text import Text
from sublex.readers.trec import Trec
from sublex.readers.trecweb import TrecWeb
from sublex.readers.tsv import Csv, Tsv
from sublex.readers.warc import Warc

READERS = {
    "trec": Trec(),
    "trecweb": TrecWeb(),
    "warc": Warc(),
    "jsonl": JsonLines(),
    "beir": Beir(),
    "tsv": Tsv(),
    "csv": Csv(),
    "text": Text(),
    "smart": Smart(),
    "reuters": Reuters(),
    "irds": Irds(),
    "json": JsonArray(),
}

TREC = b"""<DOC>
<DOCNO> AP-1 </DOCNO>
<TITLE> Profit &amp; loss </TITLE>
<TEXT>
The first text.
</TEXT>
</DOC>
<DOC>
<DOCNO>AP-2</DOCNO>
<TEXT>The second.</TEXT>
</DOC>
"""

TRECWEB = b"""<DOC>
<DOCNO>GX000-00-0000000</DOCNO>
<DOCHDR>
http://example.gov/start.html
HTTP/1.1 200 OK
Content-type: text/html
</DOCHDR>
<html><head><title>The <start> page</title><style>p {color: red}</style></head>
<body onload="if (a > b) run()"><p>Pa<b>per</b>work<br>reduction</p><script>var hidden = 1 < 2;</script></body></html>
</DOC>
"""

SMART = b""".I 1
.T
A title
over two lines
.A
Salton, G.
.W
The text
of it.
.I 2
.W
Another.
"""

REUTERS = b"""<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5544" NEWID="1">
<DATE>26-FEB-1987 15:01:01.79</DATE>
<TOPICS><D>cocoa</D><D>coffee</D></TOPICS>
<PLACES><D>usa</D></PLACES>
<PEOPLE></PEOPLE>
<UNKNOWN>
&#5;&#5;&#5;C T</UNKNOWN>
<TEXT>&#2;
<TITLE>COCOA &lt;REVIEW></TITLE>
<DATELINE>    SALVADOR, Feb 26 - </DATELINE><BODY>Showers in Z\xfcrich.
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="5545" NEWID="2">
<TEXT TYPE="UNPROC">&#2;
MONEY REPORT - FEB 26
&#3;
</TEXT>
</REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="5546" NEWID="3">
<TEXT TYPE="BRIEF">&#2;
******<TITLE>A SHORT NOTE
</TITLE>Blah blah blah.
&#3;

</TEXT>
</REUTERS>
"""


def warc_record(kind: str, block: bytes, *headers: str, version: str = "1.0", length: int | None = None) -> bytes:
    named = [f"WARC/{version}", f"WARC-Type: {kind}", *headers]
    named.append(f"Content-Length: {len(block) if length is None else length}")
    return "\r\n".join(named).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def page(body: bytes, *headers: str) -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", *(headers or ["Content-Type: text/html"])]).encode() + b"\r\n\r\n" + body


def response(name: str, block: bytes, **more) -> bytes:
    headers = f"WARC-TREC-ID: {name}", "WARC-Target-URI: http://example.org/", "Content-Type: application/http"
    return warc_record("response", block, *headers, **more)


WARC = (
    warc_record("warcinfo", b"software: by hand\r\n", "Content-Type: application/warc-fields")
    + response("clueweb-1", page(b"<title>One</title><p>First page."))
    + warc_record(
        "conversion",
        b"Plain words",
        "WARC-Record-ID: <urn:uuid:2>",
        "WARC-Target-URI: http://example.org/2",
        "Content-Type: text/plain",
        version="1.1",
    )
)

SAMPLES = {
    "trec": [("a.trec", TREC), ("-", TREC), ("b.txt", b"\xef\xbb\xbf\r\n" + TREC.lower()), ("c.tsv", TREC)],
    "trecweb": [("B01", TRECWEB), ("B01.gz", TRECWEB.lower()), ("page.html", TRECWEB)],
    "warc": [("00.warc.gz", WARC), ("x", b"WARC/0.18\nWARC-Type: warcinfo\nContent-Length: 0\n\n")],
    "jsonl": [
        ("a.jsonl", b'{"id": "1", "contents": "text"}\n'),
        ("a.txt", b'\xef\xbb\xbf {"id": "<DOC><DOCNO>1"}'),
        ("a.tsv", b'{"id": 1}\t{}\n'),
    ],
    "tsv": [
        ("a.tsv", b"1\tone\n2\ttwo\n"),
        ("empty.tsv", b""),
        ("a.tab.gz", b"x"),
        ("collection", b"0\tfirst, id\n1\tsecond\n2\tthird, cu"),
        ("-", b"\xef\xbb\xbfdocid\ttitle\tyear\tabstract\r\n1\tt\t1990\ta\r\n"),
    ],
    "csv": [("a.csv", b"1,one\n"), ("a.CSV.zst", b"a\tb,c\n"), ("-", b'"ID","text"\n1,"one, two"\n')],
    "text": [
        ("a.txt", b"Words\tand, words\n"),
        ("notes.md.gz", b"# Heading\n"),
        ("page.htm", b"<!DOCTYPE html><html>id,text"),
        ("empty.html", b""),
        ("table.txt", b"id\ttext\n1\tone\n"),
    ],
    "smart": [("cran.all.1400", SMART), ("cran.txt", b"\r\n.I 001\r\n.W\r\ntext")],
    "reuters": [("reut2-000.sgm", REUTERS), ("-", REUTERS.split(b"\n", 1)[1])],
    "irds": [("irds:vaswani", b""), ("irds:msmarco-passage/train", b"")],
}


class Bytes(NamedTuple):
    """A source in memory."""

    data: bytes
    path: str = "sample"

    def open(self):
        return io.BytesIO(self.data)


def read(reader: Reader, data: bytes, path: str = "sample") -> tuple[list[Document], Report]:
    report = Report()
    return list(reader.read(Bytes(data, path), report)), report


def problems(report: Report) -> list[str]:
    return [str(problem) for problem in report.problems]


# Detection


@pytest.mark.parametrize(
    ("name", "path", "head"),
    [(name, path, data) for name, samples in SAMPLES.items() for path, data in samples],
)
def test_every_sample_is_claimed_by_exactly_its_reader(name, path, head):
    assert [other for other, reader in READERS.items() if reader.detect(path, head)] == [name]


@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("run", b"1 Q0 d1 1 2.5 tag\n"),
        ("run", b"1\tQ0\td1\t1\t2.5\ttag\n"),
        ("page.xml", b"<?xml version='1.0'?><add><doc><field name='id'>1</field></doc></add>"),
        ("ragged", b"1\tone\n2\ttwo\tmore\n"),
        ("image.png", b"\x89PNG\t\x00\n"),
        ("list.json", b"[1, 2]"),
        ("unknown", b""),
    ],
)
def test_what_is_no_format_is_claimed_by_nobody(path, head):
    assert [name for name, reader in READERS.items() if reader.detect(path, head)] == []


def test_folders_are_beir_with_a_corpus_and_text_when_most_files_are_text(tmp_path):
    def claims(*files: str) -> list[str]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        for file in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(b"x")
        return [name for name, reader in READERS.items() if reader.detect(str(folder), b"")]

    assert claims("corpus.jsonl", "queries.jsonl", "README.md", "LICENSE.txt", "a.txt") == ["beir"]
    assert claims("corpus.jsonl.zst", "qrels/test.tsv") == ["beir"]
    assert claims("a.txt", "deep/b.md.gz", "deep/c.html", "logo.png") == ["text"]
    assert claims("docs.trec", "topics.trec", "qrels.txt") == []
    assert claims(".hidden.txt", "a.sgm") == []
    assert claims("x.csv/a.sgm", "x.tsv/a.sgm") == []


# TREC


def test_trec_gives_every_element_in_its_order_and_no_title_apart():
    docs, report = read(Trec(), TREC)
    assert docs == [Document("AP-1", "Profit & loss \nThe first text."), Document("AP-2", "The second.")]
    assert report == Report()


def test_trec_takes_the_elements_that_are_named_out_of_the_text():
    reader = Trec(title="head,headline", fields="date,Author")
    data = b"""<DOC><DOCNO>1</DOCNO><HEAD>Reports <B>of\ncranes</B> &amp; gulls</HEAD><!-- <HEAD>gone</HEAD> --><DATE>1988-02-12
</DATE><author>A. Smith</AUTHOR><AUTHOR lang=en>B. Jones</AUTHOR><DATE></DATE><TEXT>The text.
<HEAD>Again</HEAD></TEXT></DOC><DOC><DOCNO>2</DOCNO><HEADLINE>unclosed<TEXT>kept</HEAD><HEADER>too</HEADER></DOC>"""
    docs, _ = read(reader, data)
    fields = {"date": "1988-02-12", "Author": ["A. Smith", "B. Jones"]}
    assert (docs[0].title, docs[0].text, docs[0].fields) == ("Reports of cranes & gulls Again", "The text.", fields)
    assert (docs[1].title, docs[1].text.split(), docs[1].fields) == ("unclosed", ["kept", "too"], {})
    # A title that no element is the title of changes nothing.
    assert read(Trec(title="nothing"), TREC)[0] == read(Trec(), TREC)[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", [b"<HEAD>", b"</HEAD>", b"<HEAD", b"<HEAD ", b"<HEAD>a</HEAD>", b"<HEAD><DATE></HEAD>", b"<"]
)
def test_trec_takes_elements_in_time_linear_in_the_text(piece):
    docs, _ = read(Trec(title="head", fields="date"), b"<DOC><DOCNO>1</DOCNO>" + piece * 50_000 + b"</DOC>")
    assert [doc.docno for doc in docs] == ["1"]


def test_titles_and_dates_of_trec_become_fields_and_columns(tmp_path):
    documents = "".join(
        f"<DOC><DOCNO>{k}</DOCNO><HEAD>Cranes</HEAD><DATE>198{k}-01-02</DATE><TEXT>A river.</TEXT></DOC>\n"
        for k in (1, 2)
    )
    (tmp_path / "ap.trec").write_text(documents)
    where, reader = tmp_path / "index", "trec(title=head, fields=date)"
    with pytest.raises(InputError, match=r"a term in the field title; .* it is told: --reader 'trec\(title=head\)'\.$"):
        sublex.build(tmp_path / "ap.trec", where, fields="title,text")
    index = sublex.build(tmp_path / "ap.trec", where, reader=reader, fields="title,text", columns="date:date")
    assert index.search("title:crane date:1982", language="query").docnos == ["2"]
    assert index.search("title:river", language="query").docnos == []


RENAME = "id=Accession No, title=Headline, year=Publication Year"


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl"])
def test_fields_are_renamed_before_anything_else(tmp_path, form):
    records = [
        {"Accession No": f"a{year}", "Headline": "Stem cells", "text": "grow", "Publication Year": f"{year}", "x": "é"}
        for year in (2015, 2017)
    ]
    rows = [[*records[0]], *([*record.values()] for record in records)]
    written = {
        "csv": "\n".join(map(",".join, rows)), "tsv": "\n".join(map("\t".join, rows)), "json": json.dumps(records),
        "jsonl": "\n".join(map(json.dumps, records)),
    }  # fmt: skip
    (tmp_path / f"a.{form}").write_text(written[form], encoding="utf-8")
    build_index(tmp_path / "index", tmp_path / f"a.{form}", reader=f'{form}(rename="{RENAME}")', columns="year:int")
    index = sublex.open(tmp_path / "index")
    assert [(d.docno, d.title, d.text, dict(d.fields)) for d in index.documents()] == [
        (f"a{year}", "Stem cells", "grow", {"year": f"{year}", "x": "é"}) for year in (2015, 2017)
    ]
    assert index.search("cells", 'BM25 >> where("year > 2015")').docnos == ["a2017"]


def test_a_field_is_not_renamed_to_one_that_the_record_has():
    documents, report = read(
        JsonLines(rename="b=a"), b'{"id": "1", "text": "x", "b": 1, "a": 2}\n{"id": "2", "text": "x", "a": 3}'
    )
    assert [document.fields for document in documents] == [{"b": 3}]
    assert problems(report) == ["sample:1: a is renamed to b, and the record has a field b"]
    exchanged, _ = read(JsonLines(rename="a=b, b=a"), b'{"id": "1", "text": "x", "b": 1, "a": 2}')
    assert exchanged[0].fields == {"a": 1, "b": 2}


@pytest.mark.parametrize("rename, said", [
    ("year", "names no fields"), ("", "names no fields"), ("=x", "names no fields"), ("a=x,a=y", "has a twice"),
    ("a=x, b=x", "has x twice"),
])  # fmt: skip
def test_a_renaming_that_cannot_be_costs_a_sentence(rename, said):
    with pytest.raises(InputError, match=said):
        Csv(rename=rename)


def test_trec_takes_tags_in_any_case_with_attributes_and_unclosed():
    docs, report = read(Trec(), b"<doc id=x>\r\n<DocNo >A 1\r\n<text lang=en>one<p>two<F P=102></f> three\r\n</Doc >")
    assert docs == [Document("A 1", "one\ntwo\nthree")]
    assert report.notes == {} and report.problems == []


def test_trec_drops_docno_dochdr_and_comments_and_keeps_less_than_signs():
    data = (
        b"<DOC><DOCNO>1</DOCNO><!-- <TEXT> gone --><DOCHDR> http://x/<y </DOCHDR>a < b, 3<4"
        b"<docno>again</docno><DOCHDR>unclosed<TEXT>kept<!-- never closed <![CDATA[c<1]]></DOC>"
    )
    docs, _ = read(Trec(), data)
    assert docs[0].docno == "1"
    assert docs[0].text.split() == ["a", "<", "b,", "3<4", "kept<!--", "never", "closed", "c<1"]


def test_trec_decodes_entities_as_the_old_disks_have_them():
    data = b"<DOC><DOCNO>A&amp;B</DOCNO>co&hyph;op&blank;x &sect;3 &#233; &AMP; AT&T; &nosuch;y &amp;hyph; &#x; &</DOC>"
    docs, _ = read(Trec(), data)
    assert docs[0] == Document("A&amp;B", "co-op x §3 é & AT&T;  y &hyph; &#x; &")


def test_trec_without_docno_is_reported_with_its_line_and_passed_over():
    data = b"<!-- head -->\r\n" + TREC + b"\n<DOC>\n<TEXT>nobody\n</DOC>\n<DOC><DOCNO> </DOCNO></DOC>" + TREC
    docs, report = read(Trec(), data, "docs.trec")
    assert [doc.docno for doc in docs] == ["AP-1", "AP-2", "AP-1", "AP-2"]
    assert problems(report) == [f"docs.trec:{line}: <DOC> without a <DOCNO>" for line in (14, 17)]


def test_trec_unclosed_document_is_kept_with_a_note():
    docs, report = read(
        Trec(), b"<DOC><DOCNO>1</DOCNO>one<DOC><DOCNO>2</DOCNO>two</DOC></DOC>junk<DOC><DOCNO>3</DOCNO>end"
    )
    assert [(doc.docno, doc.text) for doc in docs] == [("1", "one"), ("2", "two"), ("3", "end")]
    assert list(report.notes.values()) == [2]


def test_trec_that_is_not_utf8_is_read_as_latin1_with_a_note():
    docs, report = read(Trec(), b"<DOC><DOCNO>1</DOCNO>caf\xe9\x00</DOC><DOC><DOCNO>2</DOCNO>caf\xc3\xa9</DOC>")
    assert [doc.text for doc in docs] == ["café\x00", "café"]
    assert [times for note, times in report.notes.items() if "Latin-1" in note] == [1]


def test_strict_stops_at_the_first_malformed_record():
    with pytest.raises(InputError, match=r"sample:1: <DOC> without a <DOCNO> \(--strict stops here\)\."):
        list(Trec().read(Bytes(b"<DOC>x</DOC>"), Report(strict=True)))


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
docnos = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<"), min_size=1).filter(str.strip)


@given(st.lists(st.tuples(docnos, words, words)), st.integers(1, 40), st.booleans())
def test_trec_written_is_trec_read_whatever_the_chunk(records, chunk, upper):
    tags = ("DOC", "DOCNO", "TEXT") if upper else ("doc", "docNo", "Text")
    doc, docno, text = tags
    data = "".join(
        f"<{doc}>\n<{docno}> {name} </{docno}>\n<{text}>{html.escape(one)}</{text}><P>{html.escape(two)}\n</{doc}>\n"
        for name, one, two in records
    )
    with mock.patch.object(sgml, "CHUNK", chunk):
        docs, report = read(Trec(), data.encode())
    assert report == Report()
    assert [doc.docno for doc in docs] == [name.strip() for name, _, _ in records]
    assert [doc.text.split() for doc in docs] == [
        unescape(html.escape(f"{one}\n{two}")).split() for _, one, two in records
    ]


@given(
    st.lists(st.sampled_from(["<DOC>", "</DOC>", "\n", "<DOCNO>1</DOCNO>", "x", "<DOC", ">", "<"])), st.integers(1, 9)
)
def test_trec_says_the_same_whatever_the_chunk(parts, chunk):
    data = "".join(parts).encode()
    whole = read(Trec(), data)
    with mock.patch.object(sgml, "CHUNK", chunk):
        assert read(Trec(), data) == whole


# TREC web, HTML


def test_trecweb_takes_title_and_text_from_the_page_and_the_address_from_the_header():
    docs, report = read(TrecWeb(), TRECWEB)
    assert docs == [
        Document(
            "GX000-00-0000000", "Paperwork\nreduction", "The <start> page", {"url": "http://example.gov/start.html"}
        )
    ]
    assert report == Report()


@pytest.mark.parametrize(
    ("markup", "title", "text"),
    [
        ("<TITLE>A &amp; B\n C</title><h1>D</h1><p>E<title>F</title>", "A & B C", "D\nE\nF"),
        ("a<!-- <b> -- > --><!---->b<!-->c", "", "abc"),
        ("a<!-- never closed <b>c", "", "a\nc"),
        ("<p title='a > b'>c<p title=\"d>\">e<p title=f>g</p x='>'>h", "", "c\ne\ng\nh"),
        ("<p title='never closed>a</p>b", "", "a\nb"),
        ("<script src=x/><b></script x>a<STYLE>b</STYLE>c<script>the rest", "", "a\nc"),
        ("a < b <3 <> </> <![CDATA[c]]> <!DOCTYPE d> <?xml e?> f", "", "a < b <3 <> </>\nf"),
        ("&lt;b&gt; &nbsp; &eacute;&#233;&#xe9 &copy &hyph;", "", "<b> éé é © -".replace("éé é", "ééé")),
        ("<title>open <p>x", "", "open\nx"),
        ("x <a href=never", "", "x <a href=never"),
        ("\x00a\x00<\x00b>c", "", "\x00a\x00<\x00b>c"),
        ("", "", ""),
    ],
)
def test_page_text_of_odd_pages(markup, title, text):
    assert page_text(markup) == (title, text)


HOSTILE = [
    "<a",
    "<a b='",
    "<a b=\"'>",
    '<a =">" ',
    "<!--",
    "<!-- >",
    "<![x",
    "</a",
    "<script>",
    "<title>",
    "&#",
    "&",
    "<DOCNO>",
]


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_page_gives_a_text_that_is_no_longer(piece):
    """A parser whose time grew with the square of the size would take hours."""
    for end in ("", ">", "'>", '">', "-->"):
        page = piece * 100_000 + end
        assert sum(map(len, page_text(page))) <= len(page)
        assert len(sgml.without_markup(sgml.take_header(sgml.take_docno(page)[1])[1])) <= len(page)


def test_a_character_reference_of_ten_thousand_digits_is_survived():
    assert page_text(f"a &#{'9' * 10_000}; b") == ("", "a \ufffd b")


@given(st.lists(st.sampled_from([*HOSTILE, "<p>", ">", "'", '"', "=", " ", "x", "</title>", "</script>", "-->", "\n"])))
def test_no_page_breaks_the_html_reader(parts):
    title, text = page_text("".join(parts))
    assert title == " ".join(title.split())
    assert text == "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def test_characters_come_from_mark_utf8_charset_or_latin1_in_this_order():
    report = Report()
    assert decode_page("é".encode("utf-16"), None, "p", report) == "é"
    assert decode_page(b"\xef\xbb\xbf\xc3\xa9", "latin-1", "p", report) == "é"
    assert decode_page(b"\xc3\xa9", "iso-8859-1", "p", report) == "é"
    assert decode_page("Привет".encode("cp1251"), "windows-1251", "p", report) == "Привет"
    assert decode_page("日本".encode("iso-2022-jp"), "iso-2022-jp", "p", report) == "日本"
    assert decode_page(b"plain", "utf-16", "p", report) == "plain"
    assert decode_page(b"\x93quoted\x94", "ISO-8859-1", "p", report) == "“quoted”"
    assert report == Report()
    for charset in (None, "no-such", "punycode", "hex", "a\x00b"):
        assert decode_page(b"caf\xe9", charset, "p", report) == "café"
    assert list(report.notes.values()) == [5]


# WARC


def test_warc_gives_pages_and_plain_text_and_passes_over_the_rest():
    data = (
        WARC
        + response("image-1", page(b"\x89PNG", "Content-Type: image/png"))
        + warc_record("request", b"GET / HTTP/1.1")
    )
    docs, report = read(Warc(), data)
    assert docs == [
        Document("clueweb-1", "First page.", "One", {"url": "http://example.org/"}),
        Document("urn:uuid:2", "Plain words", "", {"url": "http://example.org/2"}),
    ]
    assert report.problems == [] and list(report.notes.values()) == [1]


def test_warc_undoes_chunks_content_encoding_and_charsets():
    body = gzip.compress("<p>Привет".encode("cp1251"))
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    headers = "Content-Type: text/html; charset=windows-1251", "Content-Encoding: gzip", "Transfer-Encoding: chunked"
    docs, _ = read(Warc(), response("1", page(chunked, *headers)))
    assert docs[0].text == "Привет"
    docs, _ = read(Warc(), response("1", page('<meta charset="koi8-r">Привет'.encode("koi8-r"))))
    assert docs[0].text == "Привет"


def test_warc_of_version_018_with_bare_newlines_and_blank_lines_in_the_header_is_read():
    block = b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n<p>Text"
    header = (
        f"WARC/0.18\nWARC-Type: response\nWARC-Target-URI: http://a/\n\nWARC-TREC-ID: c-1\nContent-Length: {len(block)}"
    )
    docs, report = read(Warc(), header.encode() + b"\n\n" + block + b"\n\n" + WARC)
    assert [doc.docno for doc in docs] == ["c-1", "clueweb-1", "urn:uuid:2"]
    assert docs[0].text == "Text" and report.problems == []


@pytest.mark.parametrize("error", [+30, +3, -4])
def test_warc_with_a_wrong_length_loses_no_other_record(error):
    block = page(b"<p>One two three four")
    data = response("1", block, length=len(block) + error) + response("2", page(b"<p>Next"))
    docs, report = read(Warc(), data)
    assert [doc.docno for doc in docs] == ["1", "2"]
    assert docs[1].text == "Next"
    assert len(report.problems) == (error < 0)


def test_warc_malformed_records_are_reported_with_their_lines():
    nameless = warc_record("response", page(b"x"), "WARC-Target-URI: http://a/")
    data = (
        b"junk\nmore junk\n"
        + nameless
        + b"WARC/1.0\r\nWARC-Type: response\r\n\r\n"
        + response("1", page(b"<p>One"))
        + response("cut", page(b"x"), length=5000)
    )
    docs, report = read(Warc(), data, "a.warc")
    assert [doc.docno for doc in docs] == ["1"]
    found = [(problem.line, problem.reason.split(";")[0][:40]) for problem in report.problems]
    assert found[:3] == [
        (1, "this is not the beginning of a WARC record"[:40]),
        (3, "the record has neither WARC-TREC-ID nor WARC-Record-ID"[:40]),
        (13, "a WARC record without Content-Length or W"[:40]),
    ]
    assert [data.split(b"\n")[line - 1][:5] for line, _ in found[1:]] == [b"WARC/"] * 3
    assert len(found) == 4
    docs, report = read(Warc(), warc_record("request", b"GET", length=10**12), "a.warc")
    assert docs == [] and problems(report) == [f"a.warc:1: the file ends {10**12 - 7} bytes before this record does"]


def test_warc_records_are_those_that_warcio_finds(tmp_path):
    from warcio.archiveiterator import ArchiveIterator

    path = tmp_path / "a.warc.gz"
    with path.open("wb") as file:
        for number in range(20):
            body = f"<title>T{number}</title><p>é {number}\r\n\r\nWARC/1.0\r\nWARC-Type: x".encode()
            file.write(gzip.compress(response(f"c-{number}", page(body))))
            file.write(gzip.compress(warc_record("metadata", b"WARC/1.0\r\n" * number, "WARC-Record-ID: <m>")))
    report = Report()
    docs = list(Warc().read(FileSource(path), report))
    with path.open("rb") as file:
        found = [
            (record.rec_headers.get_header("WARC-TREC-ID"), record.content_stream().read().decode())
            for record in ArchiveIterator(file)
            if record.rec_type == "response"
        ]
    assert [(doc.docno, doc.title, doc.text) for doc in docs] == [(docno, *page_text(body)) for docno, body in found]
    assert docs[7].text == "é 7\nWARC/1.0\nWARC-Type: x"
    assert report == Report()


@pytest.mark.parametrize(
    ("module", "reader", "extra"), [("warcio.recordloader", "warc", "warc"), ("ir_datasets", "irds", "irds")]
)
def test_a_missing_extra_is_named(monkeypatch, module, reader, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingExtra, match=rf"to install it: .*(pip install|inject).*{module.split('.')[0].replace('_', '.')}"
    ):
        read(READERS[reader], WARC, "irds:vaswani")


# Tables and named fields


def test_fields_are_taken_by_alias_in_order_of_preference():
    report = Report()
    record = {"abstract": "a", "doc_id": "x", "body": "b", "docid": 7, "title": None, "year": 1990}
    assert to_document(record, report) == Document("7", "b", "", {"abstract": "a", "doc_id": "x", "year": 1990})
    assert report.fields == {
        "docno=docid": 1, "text=body": 1, "title=title": 1
    }  # fmt: skip
    assert to_document({"_id": "ü 1", "text": None}, report) == Document("ü 1", "")
    assert to_document({"id": "1", "title": "only"}, report) == Document("1", "", "only")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"text": "x"}, "no id: the record has none of the fields id, docid, docno, _id, doc_id"),
        ({"id": None, "docid": "1", "text": "x"}, "id is null, not a string or a whole number"),
        ({"id": True, "text": "x"}, "id is true or false, not a string or a whole number"),
        ({"id": 1.5, "text": "x"}, "id is a fraction, not a string or a whole number"),
        ({"id": 2.0**53, "text": "x"}, "id is 9.0072e+15, a float too large for exact whole numbers; make it a string"),
        ({"id": ["1"], "text": "x"}, "id is a list, not a string or a whole number"),
        ({"docno": " ", "text": "x"}, "docno is empty"),
        ({"id": "1", "text": 5}, "text is a number, not a string"),
        ({"id": "1", "text": "", "title": {}}, "title is an object, not a string"),
        ({"id": "1"}, "no text: the record has none of the fields contents, text, body, passage, abstract, title"),
    ],
)
def test_a_record_that_is_no_document_says_why(record, reason):
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        to_document(record, Report())


def test_tsv_with_a_header_names_its_fields_and_stores_the_others():
    docs, report = read(Tsv(), b'\xef\xbb\xbfYear\tDocNo\ttext\r\n1990\tA1\tone "two\r\n\r\n1991\tA2\t\r\n')
    assert docs == [Document("A1", 'one "two', "", {"Year": "1990"}), Document("A2", "", "", {"Year": "1991"})]
    assert report.fields == {"docno=docno": 2, "text=text": 2}


def test_tables_without_a_header_are_id_text_or_id_title_text():
    assert read(Tsv(), b"1\tone\n2\ttwo")[0] == [Document("1", "one"), Document("2", "two")]
    assert read(Csv(), b'1,T,"one, ""two""\nthree"\n')[0] == [Document("1", 'one, "two"\nthree', "T")]


def test_rows_of_another_width_and_without_id_are_malformed():
    docs, report = read(Tsv(), b"id\ttext\n1\tone\n2\n\tnobody\n3\tthree\tx\n4\tfour\n", "a.tsv")
    assert [doc.docno for doc in docs] == ["1", "4"]
    assert problems(report) == [
        "a.tsv:3: 1 column where 2 were expected",
        "a.tsv:4: id is empty",
        "a.tsv:5: 3 columns where 2 were expected",
    ]


def test_csv_reports_the_line_on_which_a_broken_record_begins():
    docs, report = read(Csv(), b'id,text\n1,"a\nb"\n2,"x"y\n3,c\n4,"never closed\n5,d\n', "a.csv")
    assert [(doc.docno, doc.text) for doc in docs] == [("1", "a\nb"), ("3", "c")]
    assert [problem.line for problem in report.problems] == [4, 6]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b,c,d\n", "sample has 4 columns and no header line"),
        (b"title,abstract\nx,y\n", r"The header of sample \(title, abstract\) names no id"),
    ],
)
def test_a_table_whose_columns_cannot_be_told_is_refused(data, message):
    with pytest.raises(InputError, match=message):
        read(Csv(), data)


def test_csv_takes_a_field_of_five_megabytes():
    docs, _ = read(Csv(), b"id,text\n1,%b\n2,b\n" % (b"word " * 1_000_000))
    assert [len(doc.text) for doc in docs] == [5_000_000, 1]


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))


@given(st.lists(st.tuples(cells.filter(lambda docno: docno.strip() and "\0" not in docno), cells, cells)))
def test_csv_written_is_csv_read(records):
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([("id", "body", "kind"), *records])
    docs, report = read(Csv(), table.getvalue().encode())
    assert report.problems == []
    assert [(doc.docno, doc.text, doc.fields["kind"]) for doc in docs] == records


# Text, SMART, Reuters, BEIR, ir_datasets


def test_text_folder_makes_each_file_a_document(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.txt").write_bytes(b"# not a title")
    (tmp_path / "b.md.gz").write_bytes(gzip.compress(b"Preface\n#  The *title* ##\n\ntext # more\n# second\n"))
    (tmp_path / "deep" / "c.HTML").write_bytes(b"<meta charset=koi8-r><title>\xe1</title>\xc2")
    (tmp_path / "deep" / "d.txt").write_bytes("déjà".encode("utf-16"))
    (tmp_path / "skip.png").write_bytes(b"\x89PNG")
    (tmp_path / ".hidden.txt").write_bytes(b"x")
    report = Report()
    assert list(Text().read(FileSource(tmp_path), report)) == [
        Document("a.txt", "# not a title"),
        Document("b.md", "Preface\ntext # more\n# second\n", "The *title*"),
        Document("deep/c.HTML", "б", "А"),
        Document("deep/d.txt", "déjà"),
    ]
    assert [doc.docno for doc in Text().read(FileSource(tmp_path / "b.md.gz"), report)] == ["b.md"]
    skipped = f"{tmp_path}/skip.png was left out: not text, Markdown or HTML by name"
    assert report == Report(notes={skipped: 1})


def test_smart_gives_title_text_and_letters():
    docs, report = read(Smart(), SMART)
    assert docs == [
        Document("1", "The text\nof it.", "A title over two lines", {"A": "Salton, G."}),
        Document("2", "Another."),
    ]
    assert report == Report()


def test_smart_with_odd_lines_loses_no_text():
    data = (
        b"\xef\xbb\xbfpreamble\r\n.I 7\r\nloose\r\n.W\r\n.5 percent\r\n.W\r\n.Iffy\r\n.I\r\n.W\r\nnobody\r\n.I 8 b\r\n"
    )
    docs, report = read(Smart(), data, "med.all")
    assert [(doc.docno, doc.text.split()) for doc in docs] == [("7", ["loose", ".5", "percent", ".Iffy"]), ("8 b", [])]
    assert problems(report) == ["med.all:1: text before the first .I", "med.all:8: .I without an id"]


def test_reuters_gives_stories_with_their_categories():
    docs, report = read(Reuters(), REUTERS)
    assert [doc.docno for doc in docs] == ["1", "2", "3"]
    assert docs[0].title == "COCOA <REVIEW>"
    assert docs[0].text == "SALVADOR, Feb 26 - \nShowers in Zürich.\n Reuter"
    assert docs[0].fields == {
        "type": "NORM", "date": "26-FEB-1987 15:01:01.79", "topics": ["cocoa", "coffee"], "places": ["usa"],
        "people": [], "orgs": [], "exchanges": [], "companies": [], "topics_attribute": "YES",
        "lewissplit": "TRAIN", "cgisplit": "TRAINING-SET", "oldid": "5544",
    }  # fmt: skip
    assert (docs[1].title, docs[1].text, docs[1].fields["type"]) == ("", "MONEY REPORT - FEB 26", "UNPROC")
    assert (docs[2].title, docs[2].text, docs[2].fields["type"]) == ("A SHORT NOTE", "", "BRIEF")
    assert report == Report()


def test_reuters_without_newid_or_end_tag_is_told():
    data = b'<REUTERS OLDID="1">\n</REUTERS>\n<REUTERS NEWID="2"><TEXT><BODY>open'
    docs, report = read(Reuters(), data)
    assert [(doc.docno, doc.text) for doc in docs] == [("2", "open")]
    assert problems(report) == ["sample:1: <REUTERS> without a NEWID"] and list(report.notes.values()) == [1]


def test_beir_reads_its_corpus_compressed_or_not(tmp_path):
    (tmp_path / "corpus.jsonl.gz").write_bytes(
        gzip.compress(b'{"_id": "4983", "title": "T", "text": "x", "metadata": {}}\n')
    )
    docs = list(Beir().read(FileSource(tmp_path), Report()))
    assert docs == [Document("4983", "x", "T", {"metadata": {}})]
    with pytest.raises(InputError, match=r"it holds no corpus\.jsonl\."):
        Beir().read(FileSource(tmp_path / "nothing"), Report())


class WebPage(NamedTuple):
    doc_id: str
    url: str
    body: bytes

    def default_text(self):
        return self.body.decode()


class Abstract(NamedTuple):
    doc_id: str
    title: str
    abstract: str
    year: int


class Bare(NamedTuple):
    doc_id: str
    head: str
    content: str


@pytest.fixture(scope="module")
def datasets():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ir_datasets = pytest.importorskip("ir_datasets")
    from ir_datasets.formats import BaseDocs

    class Docs(BaseDocs):
        def __init__(self, *docs):
            self.docs = docs

        def docs_iter(self):
            for doc in self.docs:
                if isinstance(doc, Exception):
                    raise doc
                yield doc

        def docs_cls(self):
            return type(self.docs[0])

    for name, docs in {
        "pages": [WebPage("w1", "http://a/", b"raw bytes")],
        "abstracts": [Abstract("a1", "T", "x", 1990), Abstract("a2", "", None, 1991)],
        "bare": [Bare("b1", "H", "C")],
        "broken": [Bare("b1", "H", "C"), RuntimeError("no   network\nhere.")],
    }.items():
        ir_datasets.registry.register(f"sublex-test/{name}", ir_datasets.Dataset(Docs(*docs)))
    ir_datasets.registry.register("sublex-test/nothing", ir_datasets.Dataset())


def test_irds_maps_a_datasets_fields_to_documents(datasets):
    def docs(name: str) -> list[Document]:
        return read(Irds(), b"", f"irds:sublex-test/{name}")[0]

    assert docs("abstracts") == [Document("a1", "x", "T", {"year": 1990}), Document("a2", "", "", {"year": 1991})]
    assert docs("pages") == [Document("w1", "raw bytes", "", {"url": "http://a/"})]
    assert docs("bare") == [Document("b1", "H\nC", "", {"head": "H", "content": "C"})]


def test_of_what_ir_datasets_prints_only_warnings_are_shown(datasets, capsys):
    import ir_datasets

    read(Irds(), b"", "irds:sublex-test/bare")
    said = ir_datasets.log.easy()
    said.info("building an index")
    said.warn("careful")
    assert "building" not in (shown := capsys.readouterr().err) and "careful" in shown


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no-such-thing", "ir_datasets knows no dataset sublex-test/no-such-thing: "),
        ("nothing", "The dataset sublex-test/nothing of ir_datasets holds no documents: "),
        ("broken", r"ir_datasets cannot read sublex-test/broken: no network here\.$"),
    ],
)
def test_irds_that_cannot_be_read_says_so_in_a_sentence(datasets, name, message):
    with pytest.raises(InputError, match=message):
        read(Irds(), b"", f"irds:sublex-test/{name}")


def test_irds_without_a_name_says_so():
    with pytest.raises(InputError, match="irds: names no dataset; write one after it, as in irds:cranfield"):
        read(Irds(), b"", "irds:")


# Streams


COMPRESSORS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}
LONG = b"".join(b"<DOC>\t<DOCNO>%d</DOCNO>, %d words</DOC>\n" % (i, i * 7919) for i in range(20_000))


@pytest.mark.parametrize("suffix", COMPRESSORS)
def test_compressed_files_are_read_as_plain_ones(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(COMPRESSORS[suffix](TREC) + COMPRESSORS[suffix](TREC))
    assert Trec().detect(str(path), FileSource(path).head())
    assert list(Trec().read(FileSource(path), Report())) == read(Trec(), TREC + TREC)[0]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", COMPRESSORS)
@pytest.mark.parametrize("reader", ["trec", "warc", "tsv", "csv", "text", "smart", "reuters"])
def test_a_compressed_file_that_is_cut_short_is_an_error_that_names_it(tmp_path, suffix, reader):
    path = tmp_path / f"a.txt{suffix}"
    whole = COMPRESSORS[suffix](LONG)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=re.escape(f"{path} is cut short")):
        list(READERS[reader].read(FileSource(path), Report()))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"Cannot read .*/nothing: No such file or directory\."):
        list(Trec().read(FileSource(tmp_path / "nothing"), Report()))


@pytest.mark.slow
@pytest.mark.parametrize("compress", [bytes, *COMPRESSORS.values()])
def test_standard_input_is_detected_and_then_read_whole(monkeypatch, compress):
    data = compress(LONG)
    reading, writing = os.pipe()

    def write() -> None:
        with open(writing, "wb", buffering=0) as pipe:
            for i in range(8):
                pipe.write(data[i : i + 1])
                time.sleep(0.002)
            pipe.write(data[8:])

    writer = threading.Thread(target=write)
    writer.start()
    with open(reading, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        source = FileSource("-")
        head = source.head()
        assert head == LONG[: len(head)] and len(head) == 64 * 1024 and source.head() == head
        assert Trec().detect("-", head)
        docs = list(Trec().read(source, Report()))
        assert len(docs) == 20_000 and docs[-1].docno == "19999"
        assert not stdin.closed
        with pytest.raises(InputError, match="Standard input can be read only once"):
            source.open()
        writer.join()


def test_a_named_pipe_is_detected_and_then_read_whole(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TREC,))
    writer.start()
    source = FileSource(path)
    assert Trec().detect(str(path), source.head())
    assert len(list(Trec().read(source, Report()))) == 2
    writer.join()


STREAMED = ["trec", "trecweb", "warc", "tsv", "csv", "text", "smart", "reuters"]


class Endless(io.RawIOBase):
    """A stream that repeats the same bytes without end."""

    def __init__(self, data: bytes):
        self.data, self.given = data, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        data = (self.data * (len(buffer) // len(self.data) + 1))[: len(buffer)]
        self.data = self.data[len(data) % len(self.data) :] + self.data[: len(data) % len(self.data)]
        self.given += len(data)
        buffer[:] = data
        return len(data)


@pytest.mark.parametrize("name", [name for name in STREAMED if name != "text"])
def test_the_first_documents_come_before_the_end_of_the_stream(name):
    data = {"tsv": b"1\tone\n", "csv": b'1,"one"\n', "warc": WARC}.get(name) or SAMPLES[name][0][1]
    endless = Endless(data)
    source = mock.Mock(path="endless", open=lambda: io.BufferedReader(endless))
    docs = READERS[name].read(source, Report())
    assert len([next(docs) for _ in range(5)]) == 5
    assert endless.given < 4 << 20


# Hostile input, all readers


@pytest.mark.parametrize("name", STREAMED)
def test_an_empty_file_has_no_documents(name):
    docs, report = read(READERS[name], b"", "a.txt")
    assert docs == ([Document("a.txt", "")] if name == "text" else [])
    assert report == Report()


@pytest.mark.parametrize("name", STREAMED)
def test_samples_with_crlf_say_the_same(name):
    data = next(data for path, data in SAMPLES[name] if data and not data.startswith(b"WARC/0.18"))
    if name != "warc":
        data = data.replace(b"\n", b"\r\n")
    plain, crlf = (
        read(READERS[name], data.replace(b"\r\n", b"\n") if name != "warc" else data),
        read(READERS[name], data),
    )
    assert [(doc.docno, doc.title, doc.text.split()) for doc in crlf[0]] == [
        (doc.docno, doc.title, doc.text.split()) for doc in plain[0]
    ]
    assert crlf[1] == plain[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("trec", b"<DOC><DOCNO>1</DOCNO>", b"</DOC>"),
        ("trecweb", b"<DOC><DOCNO>1</DOCNO><DOCHDR></DOCHDR><p>", b"</DOC>"),
        ("tsv", b"1\t", b""),
        ("csv", b'1,"', b'"'),
        ("text", b"", b""),
        ("smart", b".I 1\n.W\n", b""),
        ("reuters", b'<REUTERS NEWID="1"><TEXT><BODY>', b"</BODY></TEXT></REUTERS>"),
    ],
)
@pytest.mark.parametrize("filling", [b"word ", b"<", b"\x00", b"\xff", b"&"])
def test_one_line_of_five_megabytes_is_one_document(name, before, after, filling):
    docs, report = read(READERS[name], before + filling * (5_000_000 // len(filling)) + after, "1.txt")
    assert [doc.docno for doc in docs] == ["1.txt" if name == "text" else "1"]
    assert report.problems == []


@pytest.mark.slow
def test_a_document_of_fifty_megabytes_is_read_in_small_chunks():
    with mock.patch.object(sgml, "CHUNK", 1 << 14):
        docs, _ = read(Trec(), b"<DOC><DOCNO>1</DOCNO>" + b"some < words " * 4_000_000 + b"</DOC>")
    assert len(docs[0].text) == 13 * 4_000_000 - 1


pieces = st.sampled_from(
    [
        b"<DOC>", b"</DOC>", b"<DOCNO>", b"</DOCNO>", b"<DOCHDR>", b"<TEXT>", b'<REUTERS NEWID="1">', b"</REUTERS>",
        b"1", b"\n", b"\r\n", b"\t", b",", b'"', b"id", b"text", b"\x00", b"\xff", b"&#0;", b"<!--", b"<p ",
        b".I 1\n", b".I\n", b".W\n", b"WARC/1.0\r\n", b"HTTP/1.1 200 OK\r\n", b"WARC-Type: response\r\n",
        b"WARC-Record-ID: <x>\r\n", b"WARC-Target-URI: http://a/\r\n", b"Content-Length: 20\r\n",
        b"Content-Type: text/plain\r\n", b"Content-Encoding: gzip\r\n",
    ]
)  # fmt: skip


@pytest.mark.parametrize("name", STREAMED)
@given(data=st.one_of(st.binary(), st.lists(pieces).map(b"".join)))
def test_no_bytes_break_a_reader(name, data):
    try:
        docs, report = read(READERS[name], data, "a.md")
    except InputError as error:
        assert str(error).endswith(".")
        return
    assert all(doc.docno.strip() for doc in docs)
    assert all(1 <= problem.line <= data.count(b"\n") + 1 for problem in report.problems)


# Real collections: how many documents, and of the first, the tenth and the last the docno, the first four words, the
# last three, and how many. Taken from the files with a split at </DOC>, not from the readers.


TREC_COLLECTIONS = {
    "adi": (82, [
        ("1", "the ibm dsd technical", "actual experience .", 186),
        ("10", "accrediting information science programs", "the field .", 46),
        ("82", "machine recognition of linguistic", "transformational grammars .", 50),
    ]),
    "cranfield": (1400, [
        ("1", "experimental investigation of the", "the experiment .", 155),
        ("10", "the theory of the", "continuum relations .", 64),
        ("1400", "the buckling shear stress", "graphical forms .", 117),
    ]),
    "cacm": (3204, [
        ("1", "Preliminary Report-International Algebraic Language", "Report-International Algebraic Language", 8),
        ("10", "Glossary of Computer Engineering", "and Programming Terminology", 14),
        ("3204", "An On-Line Program for", "at Stanford University.", 91),
    ]),
    "medline": (1033, [
        ("1", "correlation between maternal and", "maternal level .", 101),
        ("10", "changes in blood glucose", "first week .", 94),
        ("1033", "hemorrhagic episodes in hemophilia:", "prospective medicosocial studies.", 321),
    ]),
    "vaswani": (11429, [
        ("1", "compact memories have flexible", "access is described", 23),
        ("10", "highspeed microwave switching of", "of semiconductors part", 6),
        ("11429", "pattern detection and recognition", "sansserif alphanumeric characters", 35),
    ]),
}  # fmt: skip


def pin(doc: Document) -> tuple[str, str, str, int]:
    found = doc.contents.split()
    return doc.docno, " ".join(found[:4]), " ".join(found[-3:]), len(found)


@pytest.mark.parametrize("name", TREC_COLLECTIONS)
def test_trec_collections_have_their_documents(collections: Path, name):
    count, pins = TREC_COLLECTIONS[name]
    source, report = FileSource(collections / name / "docs.trec"), Report()
    assert [other for other, reader in READERS.items() if reader.detect(source.path, source.head())] == ["trec"]
    docs = list(Trec().read(source, report))
    assert len(docs) == count and report == Report()
    assert [pin(docs[0]), pin(docs[9]), pin(docs[-1])] == pins


@pytest.mark.parametrize("name", TREC_COLLECTIONS)
def test_trec_collections_say_what_a_plain_split_of_the_file_says(collections: Path, name):
    text = (collections / name / "docs.trec").read_text(encoding="utf-8")
    records = re.findall(r"<DOC>\s*<DOCNO>(.*?)</DOCNO>(.*?)</DOC>", text, re.DOTALL)
    expected = [(docno.strip(), html.unescape(re.sub(r"</?[A-Z]+>", " ", rest)).split()) for docno, rest in records]
    docs = Trec().read(FileSource(collections / name / "docs.trec"), Report())
    assert [(doc.docno, doc.text.split()) for doc in docs] == expected


def test_reuters_has_its_stories(collections: Path, tmp_path):
    with tarfile.open(collections / "reuters21578" / "reuters21578.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    report, docs = Report(), []
    for path in sorted(tmp_path.rglob("*.sgm")):
        source = FileSource(path)
        assert [other for other, reader in READERS.items() if reader.detect(source.path, source.head())] == ["reuters"]
        docs += Reuters().read(source, report)
    assert len(docs) == 21_578 and report == Report()
    assert [doc.docno for doc in docs] == [str(number) for number in range(1, 21_579)]
    first, tenth, last = docs[0], docs[9], docs[-1]
    assert [doc.title for doc in (first, tenth, last)] == [
        "BAHIA COCOA REVIEW",
        "COMPUTER TERMINAL SYSTEMS <CPML> COMPLETES SALE",
        "AMERICAN EXCHANGE INTRODUCES INSTITUTIONAL INDEX",
    ]
    assert [len(doc.text.split()) for doc in (first, tenth, last)] == [491, 213, 161]
    assert first.text.startswith("SALVADOR, Feb 26 -") and first.text.endswith("February 27.\n Reuter")
    assert [doc.fields["topics"] for doc in (first, tenth, last)] == [["cocoa"], ["acq"], []]
    assert last.fields["date"] == "19-OCT-1987 13:30:41.59"
    # The README of the collection gives these sizes for the split that people call ModApte.
    splits = [(doc.fields["lewissplit"], doc.fields["topics_attribute"]) for doc in docs]
    assert (splits.count(("TRAIN", "YES")), splits.count(("TEST", "YES"))) == (9_603, 3_299)
    control = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|&#")
    assert not any(control.search(doc.contents) for doc in docs)


def test_scifact_has_its_abstracts(collections: Path):
    folder = str(collections / "scifact")
    assert [name for name, reader in READERS.items() if reader.detect(folder, b"")] == ["beir"]
    docs = list(Beir().read(FileSource(folder), Report()))
    assert len(docs) == 5_183
    assert docs[0].docno == "4983" and docs[0].title.startswith("Microstructural development of human newborn")


def test_what_a_folder_holds_and_no_document_is_made_of_is_said(tmp_path, monkeypatch):
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "far.txt").write_text("far")
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / "link").symlink_to(tmp_path / "away")
    for name in ("a.txt", "sub/b.txt", "c.dat", "d.dat", ".hidden"):
        (folder / name).write_text("word")
    outcome = build_index(tmp_path / "index", folder)
    assert outcome.indexed == 2 and set(outcome.notes) == {
        f"{folder}/link was left out: it is a link to a folder; name the folder that it points to",
        f"{folder}/c.dat and 1 more were left out: not text, Markdown or HTML by name",
    }
    scandir = os.scandir

    def refusing(path):
        if str(path).endswith("sub"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    for source in (folder, folder / "sub"):
        with pytest.raises(InputError, match=r"Cannot read .*notes/sub: Permission denied\."):
            sublex.build(source, tmp_path / "third")


def test_a_warc_response_without_an_address_is_read():
    record = warc_record("response", page(b"<title>t</title>words"), "WARC-Record-ID: <x>")
    docs, report = read(Warc(), record)
    assert [(d.docno, d.title, d.fields["url"]) for d in docs] == [("x", "t", "")] and not report.problems


def test_fields_of_other_names_are_named_with_the_reader(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"label": "x", "text": "one", "sum": "two", "id": 3}\n{"label": "\\u0079", "sum": "three"}\n{"id": 1, "sum": "no"}\n'
    )
    (tmp_path / "a.tsv").write_text("Label\tsum\nx\ttwo\n")
    (tmp_path / "a.csv").write_text('"label","sum"\n"x","two"\n')
    found = build_index(tmp_path / "one", tmp_path / "a.jsonl", reader="jsonl(id=label, text=sum)")
    assert found.indexed == 2 and found.fields == {"docno=label": 2, "text=sum": 2}
    assert problems(found) == [f"{tmp_path}/a.jsonl:3: no id: the record has none of the fields label"]
    index = sublex.open(tmp_path / "one")
    assert index.document("x") == Document("x", "two", "", {"text": "one", "id": 3}) and "y" in index
    for form in ("tsv", "csv"):
        build_index(tmp_path / form, tmp_path / f"a.{form}", reader=f"{form}(id=label, text=sum)")
        assert sublex.open(tmp_path / form).document("x").text == "two"
    with pytest.raises(InputError, match="names no id: call its column one of name, or name the column"):
        build_index(tmp_path / "none", tmp_path / "a.tsv", reader="tsv(id=name)")
    with pytest.raises(InputError, match="jsonl has no parameter ids; did you mean id"):
        build_index(tmp_path / "none", tmp_path / "a.jsonl", reader="jsonl(ids=label)")


def test_a_download_that_fails_costs_a_sentence(monkeypatch):
    ir_datasets = pytest.importorskip("ir_datasets")
    failed = RuntimeError("All download sources failed", [("mirror", ConnectionError("x")), ("origin", OSError("y"))])
    broken = mock.Mock(has_docs=lambda: True, docs_iter=mock.Mock(side_effect=failed))
    monkeypatch.setattr(ir_datasets, "load", lambda name: broken)
    with pytest.raises(InputError, match="^ir_datasets cannot read x: All download sources failed\\.$"):
        read(Irds(), b"", "irds:x")
