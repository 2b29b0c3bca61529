"""Draw the word graph of a topic: as SVG, as an HTML page, or as GraphML for other programs.

The two pictures of a topic follow the paper. Figure 3 has the most frequent words of the topic with their truncated
neighbourhoods. Figure 4 has the edges with the largest weights and the truncated neighbourhoods of their words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from sublex.forms.pages import PAGE_MARK, escaped, graphml_file, html_page
from sublex.tools.messages import one_line
from sublex_swg.layout import place_words
from sublex_swg.word_senses import WordSenses

# The number of words or edges from which a picture is built, and of neighbours of each word in it.
WORDS, EDGES, NEIGHBOURS = 16, 16, 2
# Pixels: the width of a picture, and the width of a character.
WIDTH, CHARACTER = 1120.0, 8.2
STYLE = """
.words { color-scheme: light dark; font: 15px system-ui, sans-serif; }
.words line { stroke: #8889; stroke-width: 1.5; } .words line.main { stroke: #c2571a; stroke-width: 3.5; }
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

    `main_words` and `main_edges` are the words and edges from which the picture was built.
    """

    title: str
    words: list[int]
    edges: dict[tuple[int, int], float]
    main_words: frozenset[int]
    main_edges: frozenset[tuple[int, int]]


def pictures(graphs: WordSenses, topic: int) -> list[Picture]:
    """Return the two pictures of a topic: one built from its most frequent words, one from its strongest edges."""
    top = [word for word in graphs.top_words(topic, WORDS) if graphs.df[topic, word]]
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
            edges[min(word, neighbour), max(word, neighbour)] = weight
    shown = list(dict.fromkeys([*started, *(word for pair in edges for word in pair)]))
    return Picture(title, shown, edges, frozenset(started), frozenset(main))


def svg(picture: Picture, name: Name) -> str:
    """Return a picture as SVG. The title of each edge shows its weight. `name` returns the written form of a word."""
    labels = [one_line(name(word)) for word in picture.words]
    place = {word: number for number, word in enumerate(picture.words)}
    ends = [(place[i], place[j]) for i, j in picture.edges]
    middles, height = place_words([CHARACTER * len(label) + 6 for label in labels], ends, WIDTH)
    width = max(WIDTH, *(x + CHARACTER * len(label) / 2 + 20 for (x, _), label in zip(middles, labels, strict=True)))
    parts = [
        f'<line{main} x1="{middles[i][0]:.1f}" y1="{middles[i][1]:.1f}" x2="{middles[j][0]:.1f}" y2="{middles[j][1]:.1f}">'
        f"<title>{escaped(labels[i])} – {escaped(labels[j])}: {weight:.1f}</title></line>"
        for (i, j), (pair, weight) in zip(ends, picture.edges.items(), strict=True)
        for main in [' class="main"' if pair in picture.main_edges else ""]
    ]
    parts += [
        f'<text{main} x="{x:.1f}" y="{y + 5:.1f}">{escaped(label)}</text>'
        for word, label, (x, y) in zip(picture.words, labels, middles, strict=True)
        for main in [' class="main"' if word in picture.main_words else ""]
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="words" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{escaped(picture.title)}">'
        f"<!-- {PAGE_MARK} --><style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )


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
