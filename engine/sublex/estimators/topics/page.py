"""The topics of a model as one HTML page that needs no network and no other file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sublex.forms.pages import escaped, html_page

if TYPE_CHECKING:
    from sublex.estimators.topics.topics import FittedTopic

# The largest and the smallest size of a word, in rem.
LARGEST, SMALLEST = 1.5, 0.85
NO_NAMES: Mapping[int, str] = {}
STYLE = """
:root { color-scheme: light dark; --line: #8884; --bar: #4a7fb5; }
body { font: 16px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
p.note { max-width: 44rem; }
main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(21rem, 1fr)); }
article { border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; }
h2 { font-size: 1rem; margin: 0; display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; overflow-wrap: anywhere; }
h2 span { font-weight: normal; white-space: nowrap; }
.bar { height: .4rem; background: var(--line); border-radius: .2rem; margin: .4rem 0 .6rem; }
.bar i { display: block; height: 100%; background: var(--bar); border-radius: .2rem; }
.words { margin: 0 0 .6rem; overflow-wrap: anywhere; }
ol { margin: 0; padding: 0; list-style: none; font-size: .85rem; }
li { display: flex; gap: .6rem; }
li b { font-weight: normal; font-variant-numeric: tabular-nums; opacity: .75; }
li span { overflow-wrap: anywhere; }
"""
NOTE = (
    "Topics by falling share of all tokens, those with a label first. A word's size shows its probability in the topic. Coherence is the "
    "mean NPMI of the ten best words: 1 if they always occur together, 0 if they are independent, -1 if they never meet. Documents are "
    "those with the largest share of the topic."
)


def topics_page(
    title: str, topics: Sequence[FittedTopic], names: Mapping[int, str] = NO_NAMES, unlabelled: str = ""
) -> str:
    """Return the page: a card for each topic, with its words and documents.

    `names` maps numbers of topics to their labels. Topics with a label come first; otherwise topics keep their order. A
    topic without a label shows `unlabelled`.
    """
    others = {t.number: f"{t.number} ({unlabelled})" if unlabelled else f"Topic {t.number}" for t in topics}
    topics = sorted(topics, key=lambda topic: topic.number not in names)
    largest = max((topic.share for topic in topics), default=1.0) or 1.0
    cards = "\n".join(_card(topic, names.get(topic.number, others[topic.number]), largest) for topic in topics)
    return html_page(title, STYLE, f'<p class="note">{NOTE}</p>\n<main>\n{cards}\n</main>')


def _card(topic: FittedTopic, name: str, largest: float) -> str:
    """Return a topic as HTML. Its bar shows its share relative to `largest`, the largest share of a topic."""
    highest = max((chance for _, chance in topic.words), default=1.0)
    words = " ".join(
        f'<span style="font-size:{max(SMALLEST, LARGEST * (chance / highest) ** 0.5):.2f}rem" title="{chance:.4f}">'
        f"{escaped(word)}</span>"
        for word, chance in topic.words
    )
    documents = "".join(
        f"<li><b>{theta:.0%}</b><span>{escaped(docno)}{f': {escaped(title)}' if title else ''}</span></li>"
        for docno, title, theta in topic.documents
    )
    return f"""<article id="topic-{topic.number}">
<h2>{escaped(name)}<span>{topic.share:.1%} of tokens · coherence {topic.coherence:.2f}</span></h2>
<div class="bar"><i style="width:{topic.share / largest:.1%}"></i></div>
<p class="words">{words}</p>
<ol>{documents}</ol>
</article>"""
