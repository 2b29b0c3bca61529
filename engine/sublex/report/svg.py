"""Draw plots as inline SVG: lines, intervals and heat maps.

Plots have classes and no colours; `templates/style.css` gives them colours that fit light and dark pages.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np

# The number of colours in the page's style. System 10 has the same colour as system 0, but another mark.
COLOURS = 10
MARKS = ("circle", "square", "triangle")
# A cell has room for its figure from this width on, in pixels.
LEGIBLE = 32
# The largest width of a name on a narrow page, and the distance between two lines of a name, in pixels.
NARROW, LINE = 330, 16
# Widths of characters in a font of 12 pixels. In the usual fonts, no character is wider.
WIDTHS = dict.fromkeys(" .,:;'()[]|ijl", 5) | dict.fromkeys("<>=+~", 10) | dict.fromkeys("mMwW@%", 12)


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return about `count` round numbers from low to high."""
    if not high > low:
        return [low]
    step = 10 ** math.floor(math.log10((high - low) / count))
    step *= min((1, 2, 5, 10), key=lambda factor: abs((high - low) / (factor * step) - count))
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 10) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def lines(
    series: Sequence[tuple[str, Sequence[float], Sequence[float]]], x_label: str, y_label: str, log: bool = False,
    from_zero: bool = True,
) -> str:  # fmt: skip
    """Return a plot of curves over common axes. Each point shows its values as a tooltip.

    A curve in `series` is (name, x values, y values). `log` makes the x axis logarithmic. Without `from_zero`, the y
    axis begins near the lowest value.
    """
    xs = np.concatenate([np.asarray(x, np.float64) for _, x, _ in series])
    ys = np.concatenate([np.asarray(y, np.float64) for _, _, y in series])
    place = np.log if log else np.asarray
    marks = sorted(set(xs.tolist())) if log else ticks(xs.min(), xs.max())
    room = 0.05 * float(np.ptp(ys)) or 0.05 * abs(float(ys.max())) or 1.0
    if from_zero:
        y_marks = ticks(min(0.0, ys.min()), ys.max() * 1.02 or 1.0)
        heights = min(y_marks[0], ys.min()), max(y_marks[-1], ys.max())
    else:
        heights = float(ys.min()) - room, float(ys.max()) + room
        y_marks = ticks(*heights)
    frame = _Frame((float(place(xs.min())), float(place(xs.max()))), heights)
    parts = [
        frame.axes([(float(place(x)), f"{x:g}") for x in marks], [(y, _short(y)) for y in y_marks], x_label, y_label)
    ]
    for number, (name, x, y) in enumerate(series):
        points = [frame.at(float(place(a)), b) for a, b in zip(x, y, strict=True)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<g class="s{number % COLOURS}"><polyline points="{path}"/>')
        for (a, b), value, height in zip(points, x, y, strict=True):
            title = f"{name}: {x_label} {value:g}, {y_label} {height:.4f}"
            parts.append(_mark(number, a, b, title))
        parts.append("</g>")
    return _svg(frame.width, frame.height, parts, f"{y_label} by {x_label}", "plot")


def _short(value: float) -> str:
    """Return a number as the text of a mark; from 10,000 on in thousands, so that it is short."""
    return f"{value:g}" if abs(value) < 10_000 else f"{value / 1000:g}k"


def intervals(names: Sequence[str], means: Sequence[float], ends: np.ndarray, label: str) -> str:
    """Return a plot with a row for each system: its whole name and, below it, its mean with the interval.

    `ends` has a row with the low and the high end of the interval of each system. `label` names the measure. Horizontal
    positions are percentages of the width, so texts keep their size on a narrow page.
    """
    known = np.asarray([*means, *ends[np.isfinite(ends)]])
    span = (known.max() - known.min()) or abs(known.max()) or 1.0
    low_end, width = known.min() - 0.08 * span, 1.16 * span
    texts = [_broken(name, NARROW) for name in names]
    bottom = sum(LINE * len(lines) + 26 for lines in texts) + 4

    def across(value: float) -> str:
        return f"{100 * (value - low_end) / width:.2f}%"

    parts = [f'<g class="axis"><line x1="0" x2="100%" y1="{bottom}" y2="{bottom}"/>']
    for x in ticks(known.min() - 0.03 * span, known.max() + 0.03 * span):
        parts.append(f'<line x1="{across(x)}" x2="{across(x)}" y1="0" y2="{bottom}" class="grid"/>')
        parts.append(f'<text x="{across(x)}" y="{bottom + 16}" text-anchor="middle">{x:g}</text>')
    parts.append(f'<text x="50%" y="{bottom + 34}" text-anchor="middle">{_text(label)}</text></g>')
    y = 0
    for row, (name, lines, mean, (low, high)) in enumerate(zip(names, texts, means, ends, strict=True)):
        for line in lines:
            y += LINE
            parts.append(f'<text x="0" y="{y}" class="name">{_text(line)}</text>')
        y += 12
        title = f"{name}: {mean:.4f}"
        parts.append(f'<g class="s{row % COLOURS}">')
        if math.isfinite(low) and math.isfinite(high):
            title += f", {low:.4f} to {high:.4f}"
            parts.append(f'<line x1="{across(low)}" x2="{across(high)}" y1="{y}" y2="{y}"/>')
        parts.append(f'<circle cx="{across(mean)}" cy="{y}" r="4"><title>{_text(title)}</title></circle></g>')
        y += 14
    label = _text(f"{label} with its interval, by system")
    style = f"max-width:760px;height:{bottom + 42}px"
    return f'<svg class="plot" role="img" aria-label="{label}" style="{style}">{"".join(parts)}</svg>'


def heat(letters: Sequence[str], names: Sequence[str], values: np.ndarray, label: str) -> str:
    """Return a heat map of `values`, a matrix of systems by systems.

    Colours get darker from 0 to 1; NaN makes an empty cell. `letters` stand at the rows and columns, `names` in the
    tooltips, and `label` describes the values.
    """
    # With more systems, the cells are smaller. The smallest cells show no figures, but the tooltips do.
    size, left = max(20, min(46, 560 // len(letters))), 40
    side = left + size * len(letters) + 8
    parts = []
    for row, letter in enumerate(letters):
        middle = left + size * row + size / 2
        parts.append(f'<text x="{left - 10}" y="{middle + 4:.1f}" text-anchor="end">{letter}</text>')
        parts.append(f'<text x="{middle:.1f}" y="{left - 12}" text-anchor="middle">{letter}</text>')
        for column in range(len(letters)):
            value = float(values[row, column])
            if not math.isfinite(value):
                continue
            share = min(1.0, max(0.0, value))
            x, y = left + size * column, left + size * row
            dark = ' class="on"' if share > 0.75 else ""
            figure = (
                f'<text{dark} x="{x + size / 2 - 1:.1f}" y="{y + size / 2 + 4:.1f}" text-anchor="middle">{value:.2f}</text>'
                if size >= LEGIBLE
                else ""
            )
            parts.append(
                f'<g class="cell"><title>{_text(names[row])} and {_text(names[column])}: {value:.4f}</title>'
                f'<rect x="{x}" y="{y}" width="{size - 2}" height="{size - 2}" rx="3" fill-opacity="{0.08 + 0.92 * share:.3f}"/>'
                f"{figure}</g>"
            )
    return _svg(side, side, parts, label, "heat", fixed=True)


class _Frame:
    """A plotting area with margins, which maps values to positions. `x` and `y` are the values at its edges."""

    width, height = 440, 300
    left, right, top, bottom = 64, width - 16, 12, height - 42

    def __init__(self, x: tuple[float, float], y: tuple[float, float]):
        self.x_low, self.x_span = x[0], (x[1] - x[0]) or 1.0
        self.y_low, self.y_span = y[0], (y[1] - y[0]) or 1.0

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the position of a point."""
        across = self.left + (x - self.x_low) / self.x_span * (self.right - self.left)
        return across, self.bottom - (y - self.y_low) / self.y_span * (self.bottom - self.top)

    def axes(
        self, x_marks: Sequence[tuple[float, str]], y_marks: Sequence[tuple[float, str]], x_label: str, y_label: str
    ) -> str:
        """Return the axes with grid lines, labels and marks, which are pairs (value, text).

        Texts that would overlap are left out.
        """
        parts = [f'<g class="axis"><line x1="{self.left}" x2="{self.right}" y1="{self.bottom}" y2="{self.bottom}"/>']
        last_text = -math.inf
        for x, text in x_marks:
            a = self.at(x, self.y_low)[0]
            parts.append(f'<line x1="{a:.1f}" x2="{a:.1f}" y1="{self.top}" y2="{self.bottom}" class="grid"/>')
            if a - last_text > 7 * len(text) + 6:
                parts.append(f'<text x="{a:.1f}" y="{self.bottom + 16}" text-anchor="middle">{_text(text)}</text>')
                last_text = a
        for y, text in y_marks:
            b = self.at(self.x_low, y)[1]
            parts.append(f'<line x1="{self.left}" x2="{self.right}" y1="{b:.1f}" y2="{b:.1f}" class="grid"/>')
            parts.append(f'<text x="{self.left - 8}" y="{b + 4:.1f}" text-anchor="end">{_text(text)}</text>')
        middle = (self.left + self.right) / 2
        parts.append(f'<text x="{middle:.1f}" y="{self.height - 6}" text-anchor="middle">{_text(x_label)}</text>')
        height = (self.top + self.bottom) / 2
        parts.append(
            f'<text transform="translate(14 {height:.1f}) rotate(-90)" text-anchor="middle">{_text(y_label)}</text>'
        )
        return "".join([*parts, "</g>"])


def _mark(number: int, x: float, y: float, title: str) -> str:
    """Return the SVG element of a data point at (x, y) of the system with a number. `title` is its tooltip.

    Its shape distinguishes systems of the same colour.
    """
    shape = MARKS[number // COLOURS % len(MARKS)]
    title_element = f"<title>{_text(title)}</title>"
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5">{title_element}</circle>'
    if shape == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7">{title_element}</rect>'
    return f'<path d="M{x:.1f} {y - 4.5:.1f}l4.5 8h-9z">{title_element}</path>'


def _svg(width: float, height: float, parts: Sequence[str], label: str, kind: str, fixed: bool = False) -> str:
    size = "width" if fixed else "max-width"
    return (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{_text(label)}" '
        f'style="{size}:{width:g}px">{"".join(parts)}</svg>'
    )


def _text(text: str) -> str:
    return html.escape(text)


def _broken(text: str, width: float) -> list[str]:
    """Break a text into lines of at most `width` pixels, at spaces. A word that is wider than a line is broken, too."""
    lines, line, used = [], "", 0.0
    for char in text:
        taken = _width(char)
        if line and used + taken > width:
            at = line.rfind(" ") + 1 or len(line)
            lines.append(line[:at].rstrip())
            line = line[at:]
            used = sum(map(_width, line))
        line, used = line + char, used + taken
    return [*lines, line]


def _width(char: str) -> float:
    return WIDTHS.get(char, 8.5 if char.isascii() else 13)
