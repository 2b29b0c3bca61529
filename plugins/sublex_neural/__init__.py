"""Neural models as a plugin: the representations `dense`, `late` and `sparse`, the encoders `onnx`, `static` and
`tokens`, the analyzer `wordpiece`, and the reranker `cross`.

A piece is a token of a model's tokenizer: a word or a part of a word.
"""

from typing import Any

from sublex import Expression
from sublex.contracts.base import Folder, Param, Vectors
from sublex.contracts.encoders import Encoder, Reranker
from sublex.contracts.fitted import FIND, Representation
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

FOLDER = Param("folder", Folder, ..., help="the folder of the model")
NORMALISE = Param("normalise", bool, None, help="scale vectors to length 1; by default as the model's files say")
LENGTH = Param(
    "length",
    int,
    None,
    range=(2, 1_000_000),
    help="the most pieces (words and parts of words) that are read of a text; by default as many as the model takes",
)
POOLING = Param(
    "pooling", str, None, range=("cls", "mean", "splade", "tokens", "none"),
    help="how the rows of pieces become vectors; by default as the model's files say",
)  # fmt: skip
PREFIX = Param(
    "prefix",
    tuple,
    None,
    help='texts before queries and documents, as in ["query: ", "passage: "]; by default the prompts of the model',
)
NAME = Param(
    "vectors", Vectors, ..., stage="fit", help="the name under which `sublex vectors add` has read the vectors"
)
ENCODER = [
    Param("encoder", Expression, None, help="the encoder of queries; by default the one named with the vectors"),
    Param(
        "other_encoder",
        bool,
        False,
        help="allow an encoder whose hash differs from that of the one named with the vectors",
    ),
]
DENSE = [
    NAME,
    Param(
        "similarity",
        str,
        "dot",
        range=("dot", "cosine", "l2"),
        help="the score: dot product, cosine, or minus the squared distance",
    ),
    *ENCODER,
    FIND,
]
WEIGHTS = Param("weights", Folder, None, help="the table of weights; by default idf.json of the folder")


def make_dense(**params: Any) -> Representation:
    """Return dense vectors that another program computed, compared with the vector of the query."""
    # NumPy and the model are imported only when the representation is made.
    from sublex_neural.dense import DenseRepresentation

    return DenseRepresentation(**params)


def make_late(**params: Any) -> Representation:
    """Return matrices that another program computed, compared with the matrix of the query by MaxSim.

    MaxSim is the sum over the query's tokens of the largest product with a token of the document. If it is used to find
    documents, it scores all of them, so give it the candidates of another stage: BM25 % 100 >> late(NAME).

    O. Khattab and M. Zaharia, ColBERT: Efficient and effective passage search via contextualized late interaction over
    BERT, SIGIR 2020.
    """
    from sublex_neural.late import LateRepresentation

    return LateRepresentation(**params)


def make_sparse(**params: Any) -> Representation:
    """Return weights of terms that another program computed. A score is the sum of the products over the shared terms.

    T. Formal, B. Piwowarski and S. Clinchant, SPLADE: Sparse lexical and expansion model for first stage ranking, SIGIR
    2021.
    """
    from sublex_neural.sparse import SparseRepresentation

    return SparseRepresentation(**params)


def make_onnx(**params: Any) -> Encoder:
    """Return an encoder that runs a neural model in ONNX; its folder has `model.onnx` and `tokenizer.json`.

    Parameters that are not given are read from the files that Optimum, sentence-transformers and fastembed write. The
    end of a text that is longer than the model reads is left out. The encoder needs the packages onnxruntime and
    tokenizers.
    """
    from sublex_neural.onnx import OnnxEncoder

    return OnnxEncoder(**params)


def make_static(**params: Any) -> Encoder:
    """Return an encoder that takes the mean of stored vectors of words and parts of words, as model2vec stores them.

    S. Tulkens and T. van Dongen, Model2Vec: Fast state-of-the-art static embeddings, 2024.
    """
    from sublex_neural.static import StaticEncoder

    return StaticEncoder(**params)


def make_tokens(**params: Any) -> Encoder:
    """Return an encoder of queries for inference-free SPLADE: each piece of a query has a weight from a table.

    Z. Geng et al., Towards competitive search relevance for inference-free learned sparse retrievers, 2024.
    """
    from sublex_neural.tokens import TokensEncoder

    return TokensEncoder(**params)


def make_wordpiece(**params: Any) -> Any:
    """Return an analyzer whose terms are the pieces of words in the vocabulary of a neural model, such as `##s`.

    The index stores the vocabulary, so it no longer needs the folder. Punctuation marks are no terms, and neither are
    words that the vocabulary cannot make.
    """
    from sublex_neural.analyzer import WordPieceAnalyzer

    return WordPieceAnalyzer(**params)


def make_cross(**params: Any) -> Reranker:
    """Return a reranker that scores the hits before it by a cross-encoder, which reads query and document together.

    R. Nogueira and K. Cho, Passage re-ranking with BERT, 2019, arXiv:1901.04085.
    """
    from sublex_neural.cross import Cross

    return Cross(**params)


@hookimpl
def register_representations(register: Register) -> None:
    """Register `dense`, `late` and `sparse`: similarities of vectors, matrices and weights that another program computed."""
    register("dense", make_dense, DENSE)
    register("late", make_late, [NAME, *ENCODER])
    register("sparse", make_sparse, [NAME, *ENCODER])


@hookimpl
def register_encoders(register: Register) -> None:
    """Register `onnx`, `static` and `tokens`."""
    register("onnx", make_onnx, [FOLDER, POOLING, NORMALISE, PREFIX, LENGTH])
    register("static", make_static, [FOLDER, NORMALISE, LENGTH])
    register("tokens", make_tokens, [FOLDER, WEIGHTS])


@hookimpl
def register_analyzers(register: Register) -> None:
    """Register `wordpiece`."""
    stored = Param("stored", object, None, help="the vocabulary in place of a folder, as an index stores it")
    register("wordpiece", make_wordpiece, [FOLDER, stored])


@hookimpl
def register_rerankers(register: Register) -> None:
    """Register `cross`."""
    register(
        "cross", make_cross,
        [
            Param("encoder", Expression, ..., help="an encoder that scores pairs, such as onnx(FOLDER)"),
            Param("batch", int, 100, range=(1, 100_000), help="the number of documents that one call scores"),
            Param("cache", Folder, None, help="a folder in which scores are kept"),
        ],
    )  # fmt: skip
