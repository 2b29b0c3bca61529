"""Mine the phrases of a collection.

Frequent sequences of words are found and judged. A segmentation of the text then decides where each is used as a
phrase, and only these occurrences count. Phrases are merged with their abbreviations.

The steps are those of SegPhrase (X. Liu et al. 2015): candidates, quality, segmentation; then quality and segmentation
again, with the counts that segmentation computed. The good examples come from the text itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from sublex.estimators.phrases.phrase_list import MOST_IDF, NAMES, PhraseList
from sublex_phrases.abbreviations import defining_places, definitions, main_definitions
from sublex_phrases.features import count_uses, features
from sublex_phrases.forms import Forms, written_forms
from sublex_phrases.merging import other_names
from sublex_phrases.ngrams import Ngrams, Sequence, check_enough, frequent
from sublex_phrases.quality import ENOUGH, good_examples, judge, judge_words
from sublex_phrases.roles import Roles, learn_names, learn_roles, unknown_roles
from sublex_phrases.segmentation import Segmentation, rectify, segment
from sublex_phrases.text import JoinedTexts, Run

# The number of words of the longest phrase, and the rounds of segmentation before and after the second judgement of
# quality.
MOST_WORDS, ROUNDS = 6, (3, 1)
# The number of steps that are reported as progress.
STEPS = 8


class Mined(NamedTuple):
    """The phrases of a text. `nodes` has the node of each phrase in `ngrams`.

    Phrases of several words come before single words. In both groups the best phrase comes first.

    * For each phrase: `mentions` is the number of places where segmentation finds the phrase under any of its names;
      `forms` are its written forms; and `abbreviations` are its abbreviations with the number of definitions of each.
    * For each node of `ngrams`: `judged` has the quality, `table` the features, and `weights` the weight in
      segmentation.
    * `aliases` has the nodes that are other names of a phrase, each with the index of this phrase in `nodes`.
    * `roles` has for each unit of the text how likely it can begin and end a phrase.
    """

    ngrams: Ngrams
    nodes: np.ndarray
    judged: np.ndarray
    mentions: np.ndarray
    table: np.ndarray
    weights: np.ndarray
    forms: list[Forms]
    abbreviations: list[Forms]
    aliases: dict[int, int]
    roles: Roles

    @property
    def quality(self) -> np.ndarray:
        """The quality of each phrase, from 0 to 1."""
        return self.judged[self.nodes]


def mine(
    text: JoinedTexts,
    support: int = 10,
    quality: float = 0.5,
    good: list[Sequence] | None = None,
    listed: Mapping[Sequence, float] | None = None,
    run: Run = map,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Mined:
    """Return the phrases of a text that occur at least `support` times and have at least the quality `quality`.

    `good` are sequences that are known to be phrases. `listed` maps sequences to their quality; with it,
    only listed sequences are phrases, even if they are rare. `run` calls a function for each of many items, and may use
    threads; the result does not depend on `run`.
    """
    ngrams = frequent(text, support, MOST_WORDS, listed or (), run)
    if listed is None:
        check_enough(text, ngrams, support)
    progress(2, STEPS)
    uses = count_uses(text, ngrams, run)
    progress(3, STEPS)
    spans = defining_places(text, MOST_WORDS)
    defined = definitions(text, spans)
    named = [*(good or ()), *(listed or ()), *(sequence for sequences in defined.values() for sequence in sequences)]
    known = np.unique(np.array(ngrams.nodes(named), np.int64))
    known = known[(known >= 0) & (ngrams.lengths[known] > 1)]
    roles = _roles(text, ngrams, uses, spans, known, run)
    if listed is None:
        judged, done = _judged(text, ngrams, uses, roles, known, support, run, progress)
    else:
        judged = _given(ngrams, listed)
        weighed = np.where(ngrams.lengths == 1, 1.0, judged)
        done = rectify(text, ngrams, weighed, np.flatnonzero(judged), sum(ROUNDS), ngrams.counts, run)
    progress(6, STEPS)
    least = 1 if listed else max(2, support // 2)
    chosen = (judged >= quality if listed is None else judged > 0) & (done.counts >= least)
    final = segment(text, ngrams, np.where(chosen | (ngrams.lengths == 1), done.weights, -np.inf), run)
    progress(7, STEPS)
    table = features(text, ngrams, uses, roles, final)
    examples = known if len(known) >= ENOUGH else np.flatnonzero(chosen & (ngrams.lengths > 1))
    table[:, NAMES.index("named")] = learn_names(text, final, ngrams.lengths, examples, run)
    nodes = np.flatnonzero(chosen & (final.counts >= least))
    mined = _described(text, ngrams, nodes, judged, final, table, main_definitions(text, defined), roles)
    progress(STEPS, STEPS)
    return mined


def _roles(
    text: JoinedTexts, ngrams: Ngrams, uses: np.ndarray, spans: list[tuple[int, int]], known: np.ndarray, run: Run
) -> Roles:
    """Return the roles of the units, which are learned from the phrases that the text defines.

    `spans` is the result of `defining_places`, and `known` has the nodes of phrases that are known to be good. If the
    text defines few phrases, `known` and the sequences with the best features are learned from as well.
    """
    several = np.array([span for span in spans if span[1] - span[0] > 1], np.int64).reshape(-1, 2)
    firsts, lasts = several[:, 0], several[:, 1] - 1
    if len(np.unique(text.units[lasts])) < ENOUGH:
        table = features(text, ngrams, uses, unknown_roles(text))
        first, last = ngrams.places(good_examples(ngrams, table, known))
        firsts, lasts = np.append(firsts, first), np.append(lasts, last)
    return learn_roles(text, firsts, lasts, run).of_units(text)


def _judged(
    text: JoinedTexts,
    ngrams: Ngrams,
    uses: np.ndarray,
    roles: Roles,
    known: np.ndarray,
    support: int,
    run: Run,
    progress: Callable[[int, int], None],
) -> tuple[np.ndarray, Segmentation]:
    """Return the quality of each node, and the segmentation by the quality of the sequences of several words.

    `uses` is the result of `count_uses`, and `roles` of `_roles`. `known` are the nodes that are known to be phrases.
    """
    quality, good = judge(text, ngrams, features(text, ngrams, uses, roles), known, 0, run)
    progress(4, STEPS)
    done = rectify(text, ngrams, quality, good, ROUNDS[0], ngrams.counts, run)
    progress(5, STEPS)
    table = features(text, ngrams, uses, roles, done)
    quality, good = judge(text, ngrams, table, known, 1, run)
    done = rectify(text, ngrams, quality, good, ROUNDS[1], done.counts, run)
    return judge_words(text, ngrams, table, quality, done.counts >= support // 2, run), done


def _given(ngrams: Ngrams, listed: Mapping[Sequence, float]) -> np.ndarray:
    """Return the quality of each node, taken from `listed`; 0 for nodes that are not in `listed`."""
    quality = np.zeros(len(ngrams.parents))
    for node, value in zip(ngrams.nodes(listed), listed.values(), strict=True):
        if node >= 0:
            quality[node] = value
    return quality


def _described(
    text: JoinedTexts,
    ngrams: Ngrams,
    nodes: np.ndarray,
    judged: np.ndarray,
    final: Segmentation,
    table: np.ndarray,
    main: Mapping[int, tuple[Sequence, int]],
    roles: Roles,
) -> Mined:
    """Return the phrases with their forms and abbreviations, in the order that `Mined` describes.

    `nodes` are the nodes of the phrases, `judged` has the quality of each node, and `table` its features. `final` is
    the last segmentation. `main` has the sequence that each abbreviation stands for. A word that is another name of a
    phrase is no phrase itself.
    """
    forms = written_forms(text, ngrams, final.found, nodes)
    names = other_names(text, ngrams, forms, main)
    taken = {alias for known in names.values() for alias in known}
    kept = np.array([node for node in nodes.tolist() if node not in taken], np.int64)
    mentions = np.array([final.counts[[node, *names.get(node, ())]].sum() for node in kept.tolist()], np.int64)
    order = np.lexsort((kept, -mentions, -judged[kept], ngrams.lengths[kept] == 1))
    kept, mentions = kept[order], mentions[order]
    shown = written_forms(text, ngrams, final.found, np.array(sorted(taken), np.int64))
    abbreviations: list[Forms] = []
    aliases: dict[int, int] = {}
    for place, node in enumerate(kept.tolist()):
        aliases |= dict.fromkeys(names.get(node, ()), place)
        told = [(shown[alias][0][0], times) for alias, times in names.get(node, {}).items() if alias in shown]
        abbreviations.append(sorted(told, key=lambda item: (-item[1], item[0])))
    written = [forms[node] for node in kept.tolist()]
    return Mined(ngrams, kept, judged, mentions, table, final.weights, written, abbreviations, aliases, roles)


def phrase_list_of(text: JoinedTexts, mined: Mined) -> PhraseList:
    """Return the phrases that were mined from a text."""
    ngrams, singles, lexicon = mined.ngrams, mined.ngrams.singles, text.lexicon
    units = ngrams.last[:singles]
    terms, stops = int((units < len(lexicon.terms)).sum()), int((units < lexicon.first_stop).sum())
    words = [lexicon.words[unit] for unit in units.tolist()]
    variants = (units[terms:stops] - len(lexicon.terms)).tolist()
    # The nodes of single units are in the order of the units, so they number the units that are kept.
    node_of = np.full(len(text.lexicon) + 1, -1, np.int32)
    node_of[ngrams.last[:singles]] = np.arange(singles)
    word_phrases = np.full(singles, -1, np.int32)
    alone = np.flatnonzero(ngrams.lengths[mined.nodes] == 1)
    word_phrases[mined.nodes[alone]] = alone
    for node, phrase in mined.aliases.items():
        word_phrases[node] = phrase
    variant_terms = node_of[np.array([lexicon.variant_terms[k] for k in variants], np.int64)]
    values = {
        "variants": [lexicon.variants[k] for k in variants], "variant_terms": variant_terms,
        "quality": mined.quality, "counts": ngrams.counts[mined.nodes], "mentions": mined.mentions,
        "features": mined.table[mined.nodes].astype(np.float32), "sequences": node_of[ngrams.sequences()[mined.nodes]],
        "weights": mined.weights[mined.nodes], "word_phrases": word_phrases, "word_weights": mined.weights[:singles],
        "forms": mined.forms, "abbreviations": mined.abbreviations,
    }  # fmt: skip
    facts = (*mined.roles, text.idf, text.residual_idf)
    # The mean of values from 0 to 1 may be rounded to a little more than 1.
    limits = ((0, 1), (0, 1), (0, MOST_IDF), (-MOST_IDF, MOST_IDF))
    values |= {
        name: np.clip(fact[units], *limit).astype(np.float32)
        for name, fact, limit in zip(PhraseList.WORD_FACTS, facts, limits, strict=True)
    }
    return PhraseList(words[:terms], words[stops:], values)
