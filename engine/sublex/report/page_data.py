"""Collect the data that the script of a report page reads: scores by topic, rankings, grades and texts, as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from sublex.evaluation.comparison import Comparison
from sublex.report.rankings import DEPTH, Rankings

# The highest number of ranked documents in the data, over all topics and systems. With more, the page opens slowly.
LISTED = 100_000
# For each topic and system, at least this number of documents is listed.
LEAST_DEPTH = 10
# A system hurts a topic if its score is below the first system's score by more than this share of it.
HURT = 0.1


def page_data(comparison: Comparison, rankings: Rankings) -> dict[str, Any]:
    """Return the data of the page; `templates/script.js` uses the same keys."""
    systems, topics = len(comparison.systems), len(comparison.qids)
    depth = max(LEAST_DEPTH, min(DEPTH, LISTED // (systems * topics)))
    lists = [[ranked[:depth] for ranked in by_topic] for by_topic in rankings.lists]
    listed = sorted({doc for by_topic in lists for ranked in by_topic for doc in ranked})
    places = {number: place for place, number in enumerate(listed)}
    titles = rankings.titles(comparison.index, listed)
    sentences = zip(comparison.pairs(), comparison.sentences(), strict=True)
    return {
        "systems": comparison.names,
        "measures": comparison.tested,
        "best": int(np.argmax(comparison.mean(comparison.main)[1:])) + 1 if systems > 1 else 0,
        "hurt": HURT,
        "depth": depth,
        "sentences": {f"{pair.a}\n{pair.b}": text for pair, text in sentences},
        "documents": [[rankings.docnos[number], titles.get(number, "")] for number in listed],
        "topics": _topics(comparison, rankings, lists, places),
    }


def embedded_json(data: Any) -> str:
    """Return data as JSON without characters that could end the script element around it."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _topics(
    comparison: Comparison, rankings: Rankings, lists: list[list[list[int]]], places: dict[int, int]
) -> list[dict[str, Any]]:
    """Return the text, scores, rankings and grades of each topic. `places` maps documents to their positions in the data."""
    known = {topic.qid: topic for topic in comparison.topics or ()}
    scores = np.stack([comparison.scores(name) for name in comparison.tested])
    topics = []
    for place, qid in enumerate(comparison.qids):
        topic = known.get(qid)
        fields = {name: text for name, text in topic.fields.items() if text and text != topic.text} if topic else {}
        topics.append(
            {
                "qid": qid,
                "text": topic.text if topic else "",
                "fields": fields,
                "length": _query_length(comparison, topic.text) if topic else None,
                "relevant": sum(grade > 0 for grade in comparison.qrels[qid].values()),
                "scores": np.round(scores[:, :, place], 5).tolist(),
                "lists": [[places[doc] for doc in by_topic[place]] for by_topic in lists],
                "grades": {places[doc]: grade for doc, grade in rankings.grades[place].items() if doc in places},
            }
        )
    return topics


def _query_length(comparison: Comparison, text: str) -> int:
    """Return the number of terms of a query. Without an index to analyze it, return the number of words."""
    return len(comparison.index.analyze(text) if comparison.index is not None else text.split())
