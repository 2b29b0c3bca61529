"""HTML pages of models: the frame around a page, and the escaping of texts in it.

A page needs no other file and no network, and bears the mark by which Sublex knows a page of its own.
"""

from __future__ import annotations

from html import escape

from sublex.tools.messages import one_line

# Stands at the head of every page that Sublex writes. A file that holds it may be replaced by another page.
PAGE_MARK = '<meta name="generator" content="Sublex">'


def escaped(text: str) -> str:
    """Return a text for an HTML page or SVG: on one line, without control characters, and with special characters escaped."""
    return escape(one_line(text))


def html_page(title: str, style: str, body: str) -> str:
    """Return an HTML page with a heading. `title` is any text; `style` is CSS and `body` HTML, whose texts have to be escaped."""
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
