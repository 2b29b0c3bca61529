"""The records of an index's JSON files: the manifest with its entries, and the folder of components that each entry names.

`docs/format.md` describes the files. A change of an index makes new records; none is ever edited.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from sublex.contracts.base import Statistics
from sublex.contracts.columns import KINDS
from sublex.contracts.fields import is_name
from sublex.contracts.stored import is_text
from sublex.errors import InputError
from sublex.index.directory import is_plain
from sublex.index.schema import ABSENT, Rule
from sublex.language.expression import GIVEN_NAME

# Counts of documents, and of postings of one term, fit into 32 bits. Sums of such counts fit into 53 bits.
MOST_DOCS = 2**31 - 1
MOST = 2**53
# The largest number of characters of a label's name, and of the text by which a model knows a label.
NAME_LETTERS, MOST_LETTERS = 80, 10_000


def _is_expression(text: str) -> bool:
    from sublex.language.parser import parse

    try:
        parse(text)
    except InputError:
        return False
    return True


def fault_of_name(name: str) -> str:
    """Return the fault of a name that a person gives to a label, as the end of a sentence; "" if the name has no fault.

    Control characters, half characters and marks of direction are refused: they could change the rest of a line.
    """
    if not 0 < len(name) <= NAME_LETTERS:
        return f"has {len(name):,} characters; give it 1 to {NAME_LETTERS}"
    if not name.isprintable() or name != " ".join(name.split()):
        return "holds characters that cannot be seen, or blanks at its ends; leave them out"
    if name.isdecimal():
        return "is a number, which names a topic by its place; write a word too"
    return ""


def _matching(what: str, pattern: str) -> Rule:
    return Rule(what, lambda text: re.fullmatch(pattern, text) is not None)


Count = Annotated[int, Rule("a whole number", lambda value: 0 <= value <= MOST)]
Docs = Annotated[int, Rule("a number of documents", lambda value: 0 <= value <= MOST_DOCS)]
ExpressionText = Annotated[str, Rule("an expression", _is_expression)]
ExpressionName = Annotated[str, Rule("a name for an expression", lambda text: GIVEN_NAME.fullmatch(text) is not None)]
Name = Annotated[str, Rule("the name of a file or folder within the index", is_plain)]
ShardName = Annotated[str, _matching("the name of a shard, such as 001", r"[0-9]{3,9}")]
Word = Annotated[str, _matching("a short word", r"[A-Za-z0-9._-]{1,200}")]
FieldName = Annotated[str, Rule("the name of a field", is_name)]
IdText = Annotated[str, _matching("32 hexadecimal digits", r"[0-9a-f]{32}")]
Text = Annotated[str, Rule("text", lambda text: text == "text")]
ColumnName = Annotated[str, Rule("the name of a column", is_name)]
ColumnKind = Annotated[str, Rule(f"one of {', '.join(KINDS)}", KINDS.__contains__)]
# Types of values in decisions of people about labels: the action, the name of a label, and the text that a model has for it.
ACTIONS = ("accept", "rename", "merge", "reject")
Action = Annotated[str, Rule(f"one of {', '.join(ACTIONS)}", lambda text: text in ACTIONS)]
LabelName = Annotated[str, Rule("the name of a label", lambda text: not fault_of_name(text))]
LabelText = Annotated[str, Rule("the text of a label", lambda text: is_text(text) and len(text) <= MOST_LETTERS)]


class FolderEntry(NamedTuple):
    """The components of a folder: the size of each file by its name, and one checksum over all of them."""

    components: Mapping[Name, Count]
    checksum: Name


class DeletedEntry(NamedTuple):
    """The tombstones of a segment: their folder, and the totals of the deleted documents."""

    name: Name
    docs: Docs
    tokens: Count
    postings: Count
    data: FolderEntry


class SegmentEntry(NamedTuple):
    """A segment and its tombstones. The totals count deleted documents too.

    `stated` is true if another engine gave the lengths or the number of tokens, which may then differ from the sums of
    frequencies. In the manifest of a cluster, `shard` is the name of the shard whose folder holds the segment.
    """

    name: Name
    docs: Docs
    tokens: Count
    terms: Docs
    postings: Count
    data: FolderEntry
    deleted: DeletedEntry | None = None
    stated: bool = False
    shard: ShardName = ""

    @property
    def live(self) -> Statistics:
        """The numbers of documents, tokens and postings without the deleted documents."""
        if not self.deleted:
            return Statistics(self.docs, self.tokens, self.postings)
        gone = self.deleted
        return Statistics(self.docs - gone.docs, self.tokens - gone.tokens, self.postings - gone.postings)


class SegmentRows(NamedTuple):
    """The rows of one segment."""

    data: FolderEntry


class RowsEntry(NamedTuple):
    """The rows that a model gives to documents.

    The model of `expression` encodes the documents. `segments` maps the name of a segment to the folder of its rows.
    """

    expression: ExpressionText
    segments: Mapping[Name, SegmentRows]


class TokenCounts(NamedTuple):
    """The number of tokens that a model read, and the number of unknown tokens among them."""

    tokens: Count
    unknown: Count


class SeenEntry(NamedTuple):
    """The number of tokens of a segment that a model read, and the number of unknown tokens among them.

    `added` has the same two numbers for tokens that were added to the index after the fit.
    """

    tokens: Count
    unknown: Count
    added: TokenCounts


class ModelEntry(NamedTuple):
    """A fitted model.

    `expression` and `version` say how the model was made, and `model` describes its folder. `depends` has the names of
    the models that it depends on. `resources` maps the name or path of each file that it read to the file's hash. `origin`
    is the fingerprint of the index that it was fitted to. `rows` has its rows by the names of their folders. `seen` maps
    each segment to the numbers of tokens that the model read there.
    """

    expression: ExpressionText
    version: object
    depends: tuple[str, ...]
    resources: Mapping[str, str]
    origin: str
    model: FolderEntry
    rows: Mapping[Name, RowsEntry]
    seen: Mapping[str, SeenEntry]


class LabelRef(NamedTuple):
    """A label of a model, at the time of a decision: its number, and the text by which the model knew it."""

    number: Docs
    text: LabelText


class LabelDecision(NamedTuple):
    """The decision of a person about a label of a fitted model.

    `action` is "accept", "rename", "merge" or "reject". `name` is the new name of an accepted or renamed label. A merged
    label becomes a part of the label `into`.
    """

    action: Action
    label: LabelRef
    name: LabelName | None = None
    into: LabelRef | None = None


class ResourceEntry(NamedTuple):
    """A resource: the file's name, and the hash and size of its content."""

    file: Name
    hash: str
    bytes: Count


class VectorsEntry(NamedTuple):
    """Vectors of documents that another program computed.

    `kind` is the name of the component that scores documents by the vectors, such as "dense" or "late". `hash` is the hash
    of their values. `read` is the number of vectors in the files that were added last. `matched` is the number of these
    vectors whose document is in the index. `encoder` is the hash of the encoder of queries, "" if the user named no encoder.
    """

    kind: Word
    hash: Annotated[str, _matching("64 hexadecimal digits", r"[0-9a-f]{64}")]
    read: Count
    matched: Count
    encoder: Annotated[str, _matching("up to 128 hexadecimal digits", r"[0-9a-f]{0,128}")] = ""


class AttachedEntry(NamedTuple):
    """The foreign index that an attached index mirrors. Its path is never in the manifest.

    `gapless` says that words without a term, such as stop words, take no position in the foreign index.
    """

    backend: Word
    state: Word
    id: IdText
    stores: tuple[Text, ...]
    options: Mapping[str, str]
    gapless: bool = False


class ShardEntry(NamedTuple):
    """A shard of a cluster: its name, and the generation of the cluster that changed it last, which is its own generation.

    `before` is the identity of the shard's manifest before that change, "" if it had none. A writer that was killed may
    have left that manifest in place. The shard's present manifest follows from the cluster's: see `sublex.index.shards`.
    """

    name: ShardName
    generation: Count
    before: Annotated[str, _matching("up to 32 hexadecimal digits", r"[0-9a-f]{0,32}")] = ""


class AnalyzerSettings(NamedTuple):
    """The name and the parameters of an analyzer, from which it is made again."""

    name: str
    params: dict[str, Any]


class AnalyzerEntry(NamedTuple):
    """An analyzer, and the versions of the libraries that shape its terms."""

    settings: AnalyzerSettings
    versions: Mapping[str, object]


class Manifest(NamedTuple):
    """The manifest: one generation of an index. `commit` computes the statistics and the fingerprint.

    `labels` has the decisions of people about the labels of models, by the expressions of the models. `names` has the
    expressions to which a user gave names. `columns` has the types of the columns by their names, and `fields` the named
    fields. `vectors` has the vectors that other programs computed, by their names. `shards` has the shards of a cluster, in
    their order.
    """

    format: int
    generation: Count
    profile: str
    store: tuple[str, ...]
    analyzer: AnalyzerEntry
    segments: tuple[SegmentEntry, ...]
    statistics: Statistics
    fingerprint: str
    fitted: Mapping[Name, ModelEntry] = ABSENT
    resources: Mapping[Name, ResourceEntry] = ABSENT
    labels: Mapping[ExpressionText, tuple[LabelDecision, ...]] = ABSENT
    attached: AttachedEntry | None = None
    names: Mapping[ExpressionName, ExpressionText] = ABSENT
    columns: Mapping[ColumnName, ColumnKind] = ABSENT
    fields: tuple[FieldName, ...] = ()
    vectors: Mapping[Name, VectorsEntry] = ABSENT
    shards: tuple[ShardEntry, ...] = ()

    def next(self, **changes: Any) -> Manifest:
        """Return the manifest of the next generation; `changes` has the new values of fields."""
        return self._replace(generation=self.generation + 1, **changes)
