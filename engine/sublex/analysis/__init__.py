"""From text to terms: tokenizing, Unicode words, stop words, stemming, and the built-in analyzers.

Texts come from readers (when an index is built) and from queries. A compiled kernel cuts a text into raw tokens, and an
analyzer turns each distinct raw token into terms. The terms go to the index builder, to retrieval and to representations.

This package uses these words: a *raw token* is a run of bytes that the kernel cuts; a *word* is a piece of a raw token
by the rules of Unicode; a *term* is what the index stores, a word after lower-casing, stop words and stemming. A
`sublex.contracts.base.Token` is one word of a text together with its term.
"""

from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3


@hookimpl
def register_analyzers(register: Register) -> None:
    """Register the built-in analyzers."""
    from sublex.analysis import analyzers

    analyzers.register(register)
