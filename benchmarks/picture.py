"""The picture of scale: what an engine costs against the number of schedules, as a hand-made SVG."""

import math
from collections.abc import Sequence
from typing import NamedTuple

Points = Sequence[Sequence[float]]

_WIDTH, _PANEL, _TOP, _LEFT, _RIGHT, _GAP = 860, 170, 64, 64, 40, 62
_STYLE = """
    text { font: 12px system-ui, sans-serif; fill: #333 }
    .title { font-size: 13px; font-weight: 600 }
    .axis { stroke: #999; fill: none } .grid { stroke: #8884; fill: none }
    .line { fill: none; stroke-width: 2 } .p99 { stroke-dasharray: 6 4 }
    .sqlite { stroke: #1668b8 } .postgresql { stroke: #c2570c }
    circle, rect { stroke: none } circle.sqlite { fill: #1668b8 } rect.postgresql { fill: #c2570c }
    @media (prefers-color-scheme: dark) {
      text { fill: #ddd } .axis { stroke: #777 }
      .sqlite { stroke: #6cb2f7 } .postgresql { stroke: #f2a057 }
      circle.sqlite { fill: #6cb2f7 } rect.postgresql { fill: #f2a057 }
    }
"""


class Line(NamedTuple):
    kind: str
    points: Points
    is_dashed: bool = False


class Panel(NamedTuple):
    title: str
    lines: Sequence[Line]


def draw(panels: Sequence[Panel]) -> str:
    """Panels one below the other, with the number of schedules on a logarithmic axis that all share."""
    sizes = [point[0] for panel in panels for line in panel.lines for point in line.points]
    first, last = math.log10(min(sizes)), math.log10(max(sizes))
    if first == last:
        last += 1
    height = _TOP + len(panels) * (_PANEL + _GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img"'
        ' aria-label="Cost of an engine against the number of schedules">',
        f"<style>{_STYLE}</style>",
        *_legend(),
    ]
    for place, panel in enumerate(panels):
        parts += _panel(panel, _TOP + place * (_PANEL + _GAP), first, last)
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _legend() -> list[str]:
    return [
        _mark("sqlite", _LEFT + 6, 20),
        f'<text x="{_LEFT + 18}" y="24">SQLite</text>',
        _mark("postgresql", _LEFT + 96, 20),
        f'<text x="{_LEFT + 108}" y="24">PostgreSQL</text>',
        f'<path class="axis line p99" d="M{_LEFT + 216} 20 h36"/>',
        f'<text x="{_LEFT + 260}" y="24">p99, else p50 or the whole</text>',
    ]


def _panel(panel: Panel, top: float, first: float, last: float) -> list[str]:
    values = [point[1] for line in panel.lines for point in line.points if not math.isnan(point[1])]
    most = _round_up(max(values, default=1))
    bottom, right = top + _PANEL, _WIDTH - _RIGHT

    def x(size: float) -> float:
        return _LEFT + (math.log10(size) - first) / (last - first) * (right - _LEFT)

    def y(value: float) -> float:
        return bottom - value / most * _PANEL

    parts = [f'<text class="title" x="{_LEFT}" y="{top - 12}">{panel.title}</text>']
    for step in range(5):
        value = most * step / 4
        parts.append(f'<path class="grid" d="M{_LEFT} {y(value):.1f} H{right}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    parts.append(f'<path class="axis" d="M{_LEFT} {top} V{bottom} H{right}"/>')
    for power in range(math.ceil(first), math.floor(last) + 1):
        parts.append(f'<path class="axis" d="M{x(10**power):.1f} {bottom} v5"/>')
        parts.append(f'<text x="{x(10**power):.1f}" y="{bottom + 19}" text-anchor="middle">{10**power:,}</text>')
    parts.append(f'<text x="{right}" y="{bottom + 34}" text-anchor="end">schedules</text>')
    for line in panel.lines:
        seen = [(x(size), y(value)) for size, value in line.points if not math.isnan(value)]
        path = " ".join(f"{across:.1f},{down:.1f}" for across, down in seen)
        dashed = " p99" if line.is_dashed else ""
        parts.append(f'<polyline class="line {line.kind}{dashed}" points="{path}"/>')
        parts += [_mark(line.kind, across, down) for across, down in seen]
    return parts


def _mark(kind: str, x: float, y: float) -> str:
    if kind == "sqlite":
        return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    return f'<rect class="{kind}" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>'


def _round_up(value: float) -> float:
    """The next of a few round numbers times a power of ten, so that a quarter of it reads well."""
    if value <= 0:
        return 1
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.2, 1.6, 2, 3, 4, 6, 8, 10) if step * power >= value)
