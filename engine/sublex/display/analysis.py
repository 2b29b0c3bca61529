"""Show how an analyzer turns a text into terms, stage by stage."""

from __future__ import annotations

from sublex.analysis.tokens import raw_tokens, reads_latex, terms_of
from sublex.analysis.words import split_terms
from sublex.contracts.base import Analyzer
from sublex.forms.lines import Shown, table_lines


def analysis(text: str, analyzer: Analyzer, printed: str) -> Shown:
    """Return the stages of a text as Shown; `printed` is the printed form of the analyzer."""
    tokens = raw_tokens(text, reads_latex(analyzer))
    stages = [("raw tokens", tokens)]
    if hasattr(analyzer, "stages"):
        stages += analyzer.stages(text)
    stages.append(("terms", [term for joined in terms_of(analyzer, tokens) for term in split_terms(joined)]))
    rows = [("analyzer", printed), *((stage, " | ".join(words)) for stage, words in stages)]
    return Shown(lambda: table_lines(rows), lambda: {"analyzer": printed, **dict(stages)})
