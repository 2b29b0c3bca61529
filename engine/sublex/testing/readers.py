"""The checks of readers.

They read each document once, claim no other format, and report damaged files in a sentence. A plugin's reader has files
of its format as `examples`. The examples of Sublex's own readers are in `formats.py`.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np

import sublex
from sublex.contracts.base import Document, Example, Report
from sublex.errors import InputError, SublexError
from sublex.language.plugins import BUILT_IN_KINDS
from sublex.readers.source import HEAD, FileSource
from sublex.testing.formats import EXAMPLES, OTHERS
from sublex.testing.subject import Subject, called
from sublex.tools.messages import cut, in_short

# The number of random files, and the number of damaged copies of an example for each kind of damage.
RANDOM, DAMAGED = 100, 30
# The plugin of Sublex's own readers.
OWN = next(module.rpartition(".")[2] for module, kinds in BUILT_IN_KINDS.items() if "reader" in kinds)


def examples_of(subject: Subject) -> list[Example]:
    """Return the examples of the reader. Raise SkipTest if it has none."""
    examples = list(getattr(subject.made, "examples", ()))
    if subject.registration.plugin == OWN and subject.registration.name in EXAMPLES:
        examples.append(EXAMPLES[subject.registration.name])
    if not examples:
        raise SkipTest(
            "the reader has no examples; give it a small file: examples = [Example(name, data, docnos)], by sublex.contracts.base.Example"
        )
    odd = [each for each in examples if not isinstance(each, Example) or isinstance(each.docnos, str)]
    assert not odd, (
        f"examples has {cut(repr(odd[0]))}; make it of sublex.contracts.base.Example, with docnos as a tuple"
    )
    return examples


def _write(folder: Path, example: Example, data: bytes | Mapping[str, bytes] | None = None) -> FileSource:
    """Write the file or folder of an example, or `data` in its place. Return it as a source."""
    path, data = folder / example.name, example.data if data is None else data
    if isinstance(data, bytes):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    else:
        for name, inside in data.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(inside)
    return FileSource(path)


def _detects(reader: Any, path: str, head: bytes) -> bool:
    found = called("detect", reader.detect, path, head, about=f"for the file {os.path.basename(path)}")
    assert isinstance(found, (bool, np.bool_)), (
        f"detect returned {cut(repr(found))} for the file {os.path.basename(path)}; return True or False"
    )
    return bool(found)


def detects_its_own_files(subject: Subject) -> None:
    """`detect` recognises the examples, and no reader of Sublex claims them too."""
    own = [name for name in subject.registry.names("reader") if subject.registry.find("reader", name).plugin == OWN]
    for example in examples_of(subject):
        source = _write(subject.folder, example)
        assert _detects(subject.made, source.path, source.head()), (
            f"detect does not recognise the example {example.name}; return True for its path or its first bytes"
        )
        for name in own if subject.registration.plugin != OWN else set(own) - {subject.registration.name}:
            assert not subject.registry.make("reader", name).detect(source.path, source.head()), (
                f"detect claims the example {example.name}, which the reader {name} claims too, so users have to write --reader; "
                "recognise other files, or give them another ending"
            )


def claims_no_other_format(subject: Subject) -> None:
    """`detect` claims no file of another format, whatever its name, and raises no error for any bytes."""
    reader, name = subject.made, subject.registration.name
    others = {
        each.name: each.data for own, each in EXAMPLES.items() if own != name or subject.registration.plugin != OWN
    }
    for file, data in {**others, **OTHERS}.items():
        head = data[:HEAD] if isinstance(data, bytes) else b""
        assert not _detects(reader, str(subject.folder / file), head), (
            f"detect claims the file {file}, which is of another format; look for what only the reader's own format has"
        )
    for data in _random_files():
        _detects(reader, str(subject.folder / "random"), data[:HEAD])


def reads_every_document_once(subject: Subject) -> None:
    """`read` yields the documents of each example once and in order, compressed or not, and so does a build."""
    for number, example in enumerate(examples_of(subject)):
        folder = subject.folder / str(number)
        sources = [_write(folder, example)]
        if isinstance(example.data, bytes):
            sources.append(_write(folder, example._replace(name=f"{example.name}.gz"), gzip.compress(example.data)))
        for source in sources:
            report = Report()
            file = os.path.basename(source.path)
            found = [document.docno for document in _read(subject.made, source, report, f"the example {file}")]
            assert found == list(example.docnos), (
                f"read yields the documents {cut(str(found))} of the example {file}, which has {list(example.docnos)}; "
                "yield each document once, and take the bytes from source.open()"
            )
            assert not report.problems, (
                f"read reports the example {file} as malformed: {report.problems[0].reason!s:.300}"
            )
        try:
            index = sublex.build(sources[0].path, folder / "index", reader=str(subject.component), overwrite=True)
        except SublexError as error:
            raise AssertionError(f"a build of the example {example.name}: {error}") from error
        assert {index.snapshot.docno(doc) for doc in range(len(index))} == set(example.docnos), (
            f"an index of the example {example.name} has other documents than read yields"
        )


def _read(reader: Any, source: FileSource, report: Report, about: str) -> Iterator[Document]:
    """Yield the documents of `read`. Raise AssertionError for a document that breaks the contract."""
    try:
        with np.errstate(all="ignore"):
            for document in reader.read(source, report):
                assert isinstance(document, Document), (
                    f"read yields {type(document).__name__} for {about}; yield sublex.contracts.base.Document"
                )
                for name in ("docno", "text", "title"):
                    value = getattr(document, name)
                    assert isinstance(value, str), (
                        f"read yields the {name} {cut(repr(value))} for {about}; make it a text"
                    )
                assert document.docno.strip(), (
                    f"read yields an empty docno for {about}; report the record by report.malformed"
                )
                called("json.dumps of the fields", json.dumps, dict(document.fields), about=f"for {about}")
                yield document
    except (SublexError, AssertionError):
        raise
    except (Exception, SystemExit) as error:
        raise AssertionError(
            f"read raised {in_short(error)} for {about}; report the record by report.malformed, or raise InputError"
        ) from error
    for problem in report.problems:
        assert isinstance(problem.line, int) and problem.line >= 1 and problem.reason, (
            f"read reports {str(problem)!r} for {about}; give report.malformed the line, from 1, and a reason"
        )


def damaged_files_cost_a_sentence(subject: Subject) -> None:
    """`read` reports damaged records by `report.malformed` or raises InputError, and a strict build stops at them."""
    for example in examples_of(subject):
        for damage, data in _damaged(example):
            _read_damaged(subject, _write(subject.folder, example, data), f"the example {example.name} {damage}")


def random_bytes_do_no_harm(subject: Subject) -> None:
    """`read` raises nothing but InputError for files of random bytes."""
    example = Example("random", b"", ())
    for number, data in enumerate(_random_files()):
        given = {"random": data} if getattr(subject.made, "folders", False) else data
        _read_damaged(subject, _write(subject.folder, example, given), f"random bytes ({number})")


def _read_damaged(subject: Subject, source: FileSource, about: str) -> None:
    """Read a damaged file twice, leniently and strictly.

    Raise AssertionError if `read` fails, or does not stop when strict.
    """
    report = Report()
    try:
        for _ in _read(subject.made, source, report, about):
            pass
    except SublexError:
        return
    if report.problems:
        try:
            for _ in _read(subject.made, source, Report(strict=True), about):
                pass
        except InputError:
            return
        raise AssertionError(
            f"read goes on after {about} where it has to be strict; let the error that report.malformed raises pass"
        )


def _damaged(example: Example) -> Iterator[tuple[str, bytes | Mapping[str, bytes]]]:
    """Yield damaged copies of an example, each with a description of the damage."""
    random = np.random.Generator(np.random.Philox(3))
    files = {"": example.data} if isinstance(example.data, bytes) else dict(example.data)
    for name, data in files.items():

        def whole(changed: bytes, name: str = name) -> bytes | Mapping[str, bytes]:
            return changed if name == "" else {**files, name: changed}

        lines = data.splitlines(keepends=True)
        for place in sorted({int(at) for at in np.linspace(0, len(data), DAMAGED)}):
            yield f"cut at byte {place}", whole(data[:place])
        for number in range(min(len(lines), DAMAGED)):
            yield f"without line {number + 1}", whole(b"".join(lines[:number] + lines[number + 1 :]))
        for kind, bad in (("NUL", b"\0"), ("the byte FF", b"\xff"), ("a newline", b"\n"), ("a quotation mark", b'"')):
            for place in sorted({int(at) for at in random.integers(0, len(data) + 1, DAMAGED // 3)}):
                yield f"with {kind} at byte {place}", whole(data[:place] + bad + data[place + 1 :])


def _random_files() -> Iterator[bytes]:
    """Yield files of random bytes. Some have any bytes, others only characters that formats use."""
    random = np.random.Generator(np.random.Philox(4))
    for number in range(RANDOM):
        some = np.arange(256) if number % 2 else np.frombuffer(b'<>/[]{}:,.;-"\t\n\r =AITY0129aeit\xff\0', np.uint8)
        yield random.choice(some, size=int(4 ** random.uniform(0, 6))).astype(np.uint8).tobytes()


CHECKS: tuple[Callable[[Subject], None], ...] = (
    detects_its_own_files,
    claims_no_other_format,
    reads_every_document_once,
    damaged_files_cost_a_sentence,
    random_bytes_do_no_harm,
)
