"""Make the HTML pages of models, escape their texts, and write graphs as GraphML.

A page needs no other file and no network.
"""

from __future__ import annotations

from collections.abc import Iterable

from sublex.tools.messages import one_line

# The mark in the head of every page that Sublex writes.
PAGE_MARK = '<meta name="generator" content="Sublex">'


def escaped(text: str) -> str:
    """Return a text for an HTML page or SVG: on one line, without control characters, with special characters escaped."""
    import html

    return html.escape(one_line(text))


def html_page(title: str, style: str, body: str) -> str:
    """Return an HTML page with a heading.

    `title` is any text, `style` is CSS, and `body` is HTML. The caller has escaped the texts in `body`.
    """
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{PAGE_MARK}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escaped(title)}</title>
<style>{style}</style>
</head>
<body>
<h1>{escaped(title)}</h1>
{body}
</body>
</html>
"""


def graphml_file(
    name: str, labels: tuple[str, str], nodes: Iterable[tuple[int, str, int]], edges: Iterable[tuple[int, int, float]],
    directed: bool,
) -> str:  # fmt: skip
    """Return a graph as GraphML, with the mark of pages. The caller has escaped `name` and the texts of nodes.

    A node is (its number, its text, its number of documents). An edge is (the number of one node, the number of the
    other, a value). `labels` are the names of the texts of nodes and of the values of edges.
    """
    text, value = labels
    kind = "directed" if directed else "undirected"
    drawn = "".join(
        f'<node id="n{node}"><data key="{text}">{own}</data><data key="documents">{documents}</data></node>\n'
        for node, own, documents in nodes
    ) + "".join(
        f'<edge source="n{one}" target="n{other}"><data key="{value}">{number:.6g}</data></edge>\n'
        for one, other, number in edges
    )
    keys = "".join(
        f'<key id="{key}" for="{of}" attr.name="{key}" attr.type="{sort}"/>\n'
        for key, of, sort in ((text, "node", "string"), ("documents", "node", "int"), (value, "edge", "double"))
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {PAGE_MARK} -->\n'
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n{keys}'
        f'<graph id="{name}" edgedefault="{kind}">\n{drawn}</graph>\n</graphml>\n'
    )
