"""The reader NAME. `sublex --help` imports this module, so import heavy packages in functions."""

import re
from collections.abc import Iterator

from sublex.contracts.base import Document, Example, Report, Source
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

# A line of RIS: two letters or digits, two blanks, a dash, and the value.
LINE = re.compile(r"([A-Z][A-Z0-9])  - ?(.*)")
RIS = b"""TY  - JOUR
ID  - fang2005
TI  - An exploration of axiomatic approaches
AB  - Axioms say what a formula should do.
PY  - 2005
ER  -
TY  - BOOK
ID  - salton1971
TI  - The SMART retrieval system
PY  - 1971
ER  -
"""


class Ris:
    """Reads bibliographies in RIS, the format in which reference managers exchange them. Each record is a document.

    Research Information Systems: RIS format specifications. https://en.wikipedia.org/wiki/RIS_(file_format)
    """

    # Small files with the docnos in them. `sublex plugin test` checks the reader by these files.
    examples = (Example("references.ris", RIS, ("fang2005", "salton1971")),)

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the file begins with a record."""
        return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"TY  - ")

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield a document for each record.

        ID is its docno, TI or T1 its title, and AB its text. All other tags are fields.
        """
        record: dict[str, str] = {}
        begin = 0
        with source.open() as stream:
            for number, data in enumerate(stream, 1):
                line = LINE.match(data.decode("utf-8", errors="replace").rstrip())
                if line is None:
                    if data.strip():
                        report.malformed(source.path, number, "the line is not TAG  - value")
                    continue
                tag, value = line[1], line[2].strip()
                if tag == "TY":
                    if record:
                        report.malformed(source.path, begin, "the record has no end, ER")
                    record, begin = {}, number
                if tag != "ER":
                    # A repeated tag, such as AU for each author, adds to the value.
                    record[tag] = f"{record[tag]}; {value}" if tag in record else value
                elif record.get("ID"):
                    report.line = begin
                    yield _document(record)
                    record = {}
                else:
                    report.malformed(source.path, begin or number, "the record has no ID")
                    record = {}
        if record:
            report.malformed(source.path, begin or 1, "the record has no end, ER")


def _document(record: dict[str, str]) -> Document:
    title = record.get("TI", record.get("T1", ""))
    fields = {tag: value for tag, value in record.items() if tag not in ("ID", "TI", "T1", "AB")}
    return Document(record["ID"], record.get("AB", ""), title, fields)


@hookimpl
def register_readers(register: Register) -> None:
    """Register NAME."""
    register("NAME", Ris)
