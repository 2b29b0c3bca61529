"""Draw curves over logarithmic axes as one SVG file, with a panel for each k. It is readable on light and on dark pages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

# The panel: its width and height with margins, and the margins at the left, the right, the top and the bottom.
WIDTH, HEIGHT = 400, 330
LEFT, RIGHT, TOP, BOTTOM = 56, 14, 34, 46
# The height of the legend, and the width of each engine's entry in it.
LEGEND, ENTRY = 34, 142
# Colours on light and on dark pages, and the pattern of the line, of each engine in its turn.
COLOURS = (
    ("#d55e00", "#f5904e"),
    ("#009e73", "#2fc79a"),
    ("#aa4499", "#d98cc8"),
    ("#0072b2", "#56b4e9"),
    ("#555", "#b0b0b0"),
)
DASHES = ("", "", "", "", "5 4")
NAMES = {"adding up": "Sublex, adding up all"}


def style() -> str:
    """Return the colours, for light pages and for dark ones."""

    def rules(number: int) -> str:
        back, text, soft = (("#fff", "#222", "#ddd"), ("#0d1117", "#e6edf3", "#30363d"))[number]
        own = "".join(f".e{n}{{color:{colours[number]}}}" for n, colours in enumerate(COLOURS))
        return f".back{{fill:{back}}}text{{fill:{text}}}.grid{{stroke:{soft}}}{own}"

    fixed = "text{font:12px system-ui,sans-serif}polyline{fill:none;stroke:currentColor;stroke-width:2}circle{fill:currentColor}"
    return f"<style>{fixed}{rules(0)}@media(prefers-color-scheme:dark){{{rules(1)}}}</style>"


def plot(figures: Mapping[tuple[int, str, int], float], depths: Sequence[int], engines: Sequence[str]) -> str:
    """Return the plot of milliseconds by documents, engine and k. Both axes are logarithmic and the same in all panels."""
    sizes = sorted({size for size, _, _ in figures})
    low, high = math.floor(_log(figures.values(), min)), math.ceil(_log(figures.values(), max))
    width, height = WIDTH * len(depths), HEIGHT + LEGEND
    label = f"Milliseconds a query by documents, for k = {' and '.join(f'{k:,}' for k in depths)}"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">']
    parts += [style(), f'<rect class="back" width="{width}" height="{height}"/>']
    for panel, k in enumerate(depths):
        parts.append(f'<g transform="translate({panel * WIDTH} 0)">{_axes(sizes, low, high, k)}')
        for number, name in enumerate(engines):
            points = [(size, figures[size, name, k]) for size in sizes if (size, name, k) in figures]
            parts.append(_curve(number, name, points, sizes, low, high))
        parts.append("</g>")
    for number, name in enumerate(engines):
        x, y = LEFT + number * ENTRY, HEIGHT + 12
        parts.append(
            f'<g class="e{number}"><polyline points="{x},{y} {x + 24},{y}"{_dash(number)}/></g>'
            f'<text x="{x + 30}" y="{y + 4}">{NAMES.get(name, name)}</text>'
        )
    return "".join([*parts, "</svg>\n"])


def _log(values: Iterable[float], best: object) -> float:
    return math.log10(best(values))  # type: ignore[operator]


def _across(size: float, sizes: Sequence[int]) -> float:
    share = math.log(size / sizes[0]) / (math.log(sizes[-1] / sizes[0]) or 1.0)
    return LEFT + 8 + share * (WIDTH - LEFT - RIGHT - 16)


def _down(ms: float, low: int, high: int) -> float:
    return TOP + (high - math.log10(ms)) / (high - low) * (HEIGHT - TOP - BOTTOM)


def _axes(sizes: Sequence[int], low: int, high: int, k: int) -> str:
    """Return the grid of a panel, with its marks and labels."""
    parts = [f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="20" text-anchor="middle">top {k:,}</text>']
    for power in range(low, high + 1):
        y = _down(10.0**power, low, high)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for size in sizes:
        x = _across(size, sizes)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{_short(size)}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">documents</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<text transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">ms a query</text>')
    return "".join(parts)


def _curve(
    number: int, name: str, points: Sequence[tuple[int, float]], sizes: Sequence[int], low: int, high: int
) -> str:
    """Return the curve of an engine. Each point has its values as a title."""
    places = [(_across(size, sizes), _down(ms, low, high)) for size, ms in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    marks = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{NAMES.get(name, name)}: {size:,} documents, {ms:.3g} ms</title></circle>'
        for (x, y), (size, ms) in zip(places, points, strict=True)
    )
    return f'<g class="e{number}"><polyline points="{path}"{_dash(number)}/>{marks}</g>'


def _dash(number: int) -> str:
    return f' stroke-dasharray="{DASHES[number]}"' if DASHES[number] else ""


def _short(size: int) -> str:
    return f"{size / 1e6:g} M" if size >= 1_000_000 else f"{size / 1000:g} k"
