"""Translate options of trec_eval, Anserini, Pyserini and PyTerrier that Sublex does not have."""

from __future__ import annotations

import re
import sys

import click

# Options of Sublex, each with names that other tools give it.
OPTIONS = {
    "-k": "k topk top-k top hits num-hits num-results numresults max-results results limit depth cutoff n size number",
    "-r": "model wmodel rankers retriever similarity scorer weighting expression expr pipeline method system systems",
    "-m": "metric metrics measures eval-metrics eval",
    "-o": "out outfile output-file output-path output-dir outdir dest destination save-dir report html run-file",
    "-q": "per-query per-topic perquery query-wise by-query topicwise",
    "--workers": "threads thread num-threads jobs n-jobs cores cpus processes parallel",
    "--fields": "topicfield topic-field topicfields topic-fields field",
    "--reader": "collection-type collection input-format type parser generator",
    "--analyzer": "analyser stemmer stopwords tokenizer tokeniser tokenization lang",
    "--store": "store-raw store-contents store-docvectors store-positions storeraw storecontents storedocvectors storepositions",
    "--tag": "runtag run-tag runid run-id",
    "--overwrite": "f force replace overwrite-index update-existing",
    "--seed": "random-state random-seed",
    "--memory": "mem memory-limit max-memory memory-buffer memorybuffer",
    "--format": "json csv tsv latex markdown output-format",
    "--verbose": "debug log loglevel",
    "--test": "significance ttest t-test",
    "--correction": "adjust multiple-testing",
    "--folds": "cv cross-validation kfold",
}
# Arguments without option names, by their names in usage lines.
ARGUMENTS = {
    "INDEX": "index idx index-path indexref index-dir",
    "TOPICS": "topics topic queries topics-file topic-file query-file",
    "QRELS": "qrels qrel judgements judgments relevance",
    "RUN": "run runs",
    "QUERY": "query q text",
    "SOURCE": "input inputs files documents docs corpus collection",
    "EXPR": "expr expression model component",
}
# Explanations for other options of those tools. In Sublex, they are part of an expression or a measure, or are always
# on.
EXPLAINED = {
    "bm25 rm3 rocchio qld qljm ql impact prf bo1 kl": "a ranker is an expression, such as -r 'BM25 >> RM3 >> BM25'",
    "k1 b mu bm25.k1 bm25.b rm3.fb-terms rm3.fb-docs fb-terms fb-docs": "parameters stand in the expression, as in "
    "-r 'BM25(k1=0.9, b=0.4)'",
    "c complete": "figures are always means over all judged topics, as with -c of trec_eval",
    "l level relevance-level rel": "a measure names the least grade that is relevant, as in -m 'AP(rel=2)'",
}
_METAVAR = re.compile(r"[^A-Z]+")


def meant(error: click.NoSuchOption) -> str:
    """Return a sentence about the likely meaning of an option that a command does not have; "" if the meaning is unknown."""
    context = error.ctx
    if context is None:
        return ""
    written = _as_written(error.option_name)
    name = written.lstrip("-").partition("=")[0].replace("_", "-").lower()
    has = {flag: each for each in context.command.params if isinstance(each, click.Option) for flag in each.opts}
    for names, explanation in EXPLAINED.items():
        if name in names.split() and {"-r", "-m"} & set(has):
            return f"No option {written}: {explanation}"
    for flag, names in OPTIONS.items():
        if flag in has and name in names.split():
            metavar = "" if has[flag].is_flag else f" {has[flag].make_metavar(context)}"
            return f"No option {written}; write {flag}{metavar}"
    for metavar, names in ARGUMENTS.items():
        usage = " ".join(context.command.collect_usage_pieces(context))
        if name in names.split() and metavar in _METAVAR.split(usage):
            return f"No option {written}; {metavar} stands without a name: {context.command_path} {usage}"
    return ""


def _as_written(option: str) -> str:
    """Return an option as the user wrote it, because click reads `-topics` as -t, and `-hits` as -h and -i."""
    joined = re.compile(rf"-\w*{re.escape(option[1:])}[\w.-]*")
    return next((word for word in sys.argv[1:] if not option.startswith("--") and joined.fullmatch(word)), option)
