"""Draw the word graph of a topic: as SVG, as an HTML page, or as GraphML for other programs.

The two pictures of a topic follow the paper. Figure 3 has the most frequent words of the topic with their truncated
neighbourhoods, which are the strongest neighbours of each word. Figure 4 has the edges with the largest weights and the
truncated neighbourhoods of their words. Unlike in the paper, more edges are added that join the pieces of a picture,
where the graph has such edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from sublex.forms.pages import PAGE_MARK, escaped, graphml_file, html_page
from sublex.tools.messages import one_line
from sublex_swg.layout import place_words
from sublex_swg.word_senses import WordSenses

# The number of words or edges from which a picture is built, and the number of neighbours that it shows of each word.
WORDS, EDGES, NEIGHBOURS = 16, 16, 2
# Pixels: the width of a picture, and the width of a character.
WIDTH, CHARACTER = 1120.0, 8.2
STYLE = """
.words { color-scheme: light dark; font: 15px system-ui, sans-serif; }
.words line { stroke: #8889; stroke-width: 1.5; } .words line.main { stroke: #c2571a; stroke-width: 3.5; }
.words line.joins { stroke-dasharray: 2 5; }
.words .legend text { text-anchor: start; font-size: 13px; }
.words text { fill: CanvasText; stroke: Canvas; stroke-width: 5px; paint-order: stroke; text-anchor: middle; }
.words text.main { font-weight: bold; fill: #2f6fb0; }
"""
PAGE = """
body { color-scheme: light dark; font: 16px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2rem; } svg { width: 100%; height: auto; }
"""
Name = Callable[[int], str]


class Picture(NamedTuple):
    """A picture of a graph: its words, and its edges with weights.

    `main_words` and `main_edges` are the words and edges from which the picture was built. `joins` are the edges that
    join its pieces. `phrases` are edges whose first word comes right before the second in the texts.
    """

    title: str
    words: list[int]
    edges: dict[tuple[int, int], float]
    main_words: frozenset[int]
    main_edges: frozenset[tuple[int, int]]
    joins: frozenset[tuple[int, int]]
    phrases: frozenset[tuple[int, int]]


def pictures(graphs: WordSenses, topic: int) -> list[Picture]:
    """Return the two pictures of a topic: one built from its most frequent words, one from its strongest edges."""
    top = [word for word in graphs.top_words(topic, WORDS) if graphs.df[topic, word] * graphs.says[word]]
    strong = graphs.strongest(topic, EDGES)
    pairs = list(zip(strong.first.tolist(), strong.second.tolist(), strict=True))
    weights = dict(zip(pairs, strong.weights.tolist(), strict=True))
    return [
        _picture(graphs, topic, "The most frequent words and their strongest neighbours", top, {}),
        _picture(
            graphs, topic, "The strongest edges and their neighbours", [w for pair in pairs for w in pair], weights
        ),
    ]


def _picture(
    graphs: WordSenses, topic: int, title: str, words: Iterable[int], main: dict[tuple[int, int], float]
) -> Picture:
    """Return the picture of `words`, of the edges `main`, and of the strongest neighbours of each word."""
    started = list(dict.fromkeys(words))
    edges = dict(main)
    for word in started:
        for neighbour, weight in graphs.neighbours(word, topic, NEIGHBOURS):
            edges.setdefault((min(word, neighbour), max(word, neighbour)), weight)
    shown = list(dict.fromkeys([*started, *(word for pair in edges for word in pair)]))
    joins = _joins(graphs.graph(topic), shown, edges)
    edges |= joins
    shown = list(dict.fromkeys([*shown, *(word for pair in joins for word in pair)]))
    ordered = {graphs.in_order(*pair): weight for pair, weight in edges.items()}

    def turned(pairs: Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
        return frozenset(graphs.in_order(*pair) for pair in pairs)

    phrases = frozenset(pair for pair in ordered if graphs.follows[pair])
    return Picture(title, shown, ordered, frozenset(started), turned(main), turned(joins), phrases)


def _joins(graph: csr_array, words: Iterable[int], edges: Iterable[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """Return edges that join the pieces of a picture, with their weights.

    The largest piece grows: the piece that is nearest to it, by the number of edges between them, is joined to it, and
    so on. A piece that no path of positive edges reaches grows in the same way.
    """
    pairs, shown = list(edges), np.array(list(words), np.int64)
    positive = csr_array(graph * (graph > 0))
    positive.eliminate_zeros()
    # Of paths with equally many edges, the one with larger weights is shorter.
    lengths = positive.copy()
    lengths.data = 1 + 1 / (1e3 * positive.data.astype(np.float64))
    ends = np.array(pairs, np.int64).reshape(-1, 2).T
    drawn = csr_array((np.ones(len(pairs)), (ends[0], ends[1])), shape=graph.shape)
    part = connected_components(drawn, directed=False)[1]
    joins: dict[tuple[int, int], float] = {}
    inside = part == np.bincount(part[shown]).argmax() if len(shown) else part < 0
    while True:
        outside = shown[~inside[shown]]
        if not len(outside):
            return joins
        distances, before, _ = dijkstra(
            lengths, indices=np.flatnonzero(inside), min_only=True, return_predecessors=True
        )
        word = int(outside[distances[outside].argmin()])
        # Without a path, this piece begins another part of the graph, and its predecessor is negative.
        inside |= part == part[word]
        while before[word] >= 0:
            previous = int(before[word])
            joins[min(word, previous), max(word, previous)] = float(positive[previous, word])
            inside[word] = True
            word = previous


def svg(picture: Picture, name: Name) -> str:
    """Return a picture as SVG. The title of each edge shows its weight. `name` returns the written form of a word."""
    labels = [one_line(name(word)) for word in picture.words]
    place = {word: number for number, word in enumerate(picture.words)}
    ends = [(place[i], place[j]) for i, j in picture.edges]
    phrases = [(place[i], place[j]) for i, j in picture.edges if (i, j) in picture.phrases]
    middles, height = place_words([CHARACTER * len(label) + 6 for label in labels], ends, WIDTH, phrases)
    width = max(WIDTH, *(x + CHARACTER * len(label) / 2 + 20 for (x, _), label in zip(middles, labels, strict=True)))
    parts = []
    for (i, j), (pair, weight) in zip(ends, picture.edges.items(), strict=True):
        kind = ' class="main"' if pair in picture.main_edges else ' class="joins"' if pair in picture.joins else ""
        (x, y), (to_x, to_y) = middles[i], middles[j]
        parts.append(
            f'<line{kind} x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}">'
            f"<title>{escaped(labels[i])} – {escaped(labels[j])}: {weight:.2f}</title></line>"
        )
    parts += [
        f'<text{main} x="{x:.1f}" y="{y + 5:.1f}">{escaped(label)}</text>'
        for word, label, (x, y) in zip(picture.words, labels, middles, strict=True)
        for main in [' class="main"' if word in picture.main_words else ""]
    ]
    legend, height = _legend(picture, height)
    parts.append(legend)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="words" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{escaped(picture.title)}">'
        f"<!-- {PAGE_MARK} --><style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _legend(picture: Picture, height: float) -> tuple[str, float]:
    """Return the legend below a picture of the given height, as SVG, and the height of both."""
    plain = picture.edges.keys() - picture.main_edges - picture.joins
    rows = [
        ("", "", "A line: an edge. Point at it to see its weight.") if plain else None,
        (' class="main"', "", "One of the strongest edges.") if picture.main_edges else None,
        (' class="joins"', "", "A further edge that joins parts of the picture.") if picture.joins else None,
        (None, "word", "A word from which the picture was built; the others are neighbours.")
        if picture.main_words
        else None,
    ]
    drawn, y = [], height
    for line, word, meaning in filter(None, rows):
        mark = (
            f'<text class="main" x="20" y="{y + 5:.0f}">{word}</text>'
            if line is None
            else f'<line{line} x1="20" y1="{y:.0f}" x2="54" y2="{y:.0f}"/>'
        )
        drawn.append(f'{mark}<text x="66" y="{y + 5:.0f}">{meaning}</text>')
        y += 22
    if picture.phrases:
        drawn.append(f'<text x="66" y="{y + 5:.0f}">The words of a phrase stand in reading order.</text>')
        y += 22
    return f'<g class="legend">{"".join(drawn)}</g>', y


def page(graphs: WordSenses, topics: Iterable[int], name: Name, title: str) -> str:
    """Return an HTML page with the pictures of some topics. The page needs no other file."""
    sections = []
    for topic in topics:
        words = ", ".join(escaped(name(word)) for word in graphs.top_words(topic, 5))
        sections.append(f'<h2 id="topic-{topic}">Topic {topic}: {words}</h2>\n')
        sections.append(f"<p>{graphs.sizes[topic]:,} documents, {graphs.graph(topic).nnz // 2:,} edges.</p>\n")
        drawn = [picture for picture in pictures(graphs, topic) if picture.words]
        sections += [f"<h3>{picture.title}</h3>\n{svg(picture, name)}" for picture in drawn]
    return html_page(title, PAGE, "".join(sections))


def graphml(graphs: WordSenses, topic: int, name: Name) -> str:
    """Return the whole graph of a topic as GraphML.

    Each word has the number of documents in which it has the topic; each edge has its weight.
    """
    edges = graphs.strongest(topic)
    words = sorted({*edges.first.tolist(), *edges.second.tolist()})
    nodes = ((word, escaped(name(word)), int(graphs.df[topic, word])) for word in words)
    pairs = zip(*(part.tolist() for part in edges), strict=True)
    return graphml_file(f"topic-{topic}", ("word", "weight"), nodes, pairs, directed=False)
