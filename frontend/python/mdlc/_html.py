"""What notebooks show: tables and drawings as HTML and SVG, without a script and without a network."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

if TYPE_CHECKING:
    from ._errors import Diagnostic
    from ._model import Model
    from ._result import Result

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")
PANELS, CURVES, POINTS = 8, 6, 600


def diagnostics(rows: "Sequence[Diagnostic]") -> str:
    """Messages with marks below what they are about.

    >>> from mdlc import Diagnostic
    >>> "<pre" in diagnostics([Diagnostic("E0301", "error", "units <differ>", "a.mdl", 1, 1, 1, 2, source="x = 1")])
    True
    """
    colours = {"error": "#b00020", "warning": "#9a6700"}
    parts = []
    for row in rows:
        head, _, rest = str(row).partition("\n")
        parts.append(f'<b style="color:{colours.get(row.severity, "inherit")}">{escape(head)}</b>' + ("\n" + escape(rest) if rest else ""))
    return '<pre style="line-height:1.25">' + "\n".join(parts) + "</pre>"


def model(m: "Model") -> str:
    """The parameters of a model, with units and limits.

    >>> import mdlc
    >>> "stiffness" in model(mdlc.example("hello")).lower() or "spring.k" in model(mdlc.example("hello"))
    True
    """
    rows = []
    for variable in [*m.inputs.values(), *m.parameters.values()]:
        value = f"{variable.value:.6g}"
        if variable.type == "Boolean":
            value = "true" if variable.value else "false"
        elif variable.literals and 1 <= variable.value <= len(variable.literals):
            value = variable.literals[int(variable.value) - 1]
        cells = (variable.name, value, variable.unit, "input" if variable.kind == "input" else "", variable.description)
        rows.append("<tr>" + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in cells) + "</tr>")
    head = "<tr>" + "".join(f'<th style="text-align:left">{text}</th>' for text in ("parameter", "value", "unit", "", "description")) + "</tr>"
    return f"<b>{escape(m.name)}</b><table>{head}{''.join(rows)}</table>" + (diagnostics(m.warnings) if m.warnings else "")


def _ticks(low: float, high: float) -> "list[float]":
    span = high - low
    step = 10.0 ** np.floor(np.log10(span / 3)) if span > 0 else 1.0
    step *= next((f for f in (1, 2, 5, 10) if span / (f * step) <= 4), 10)
    first = np.ceil(low / step - 1e-9)
    return [float(k * step) for k in np.arange(first, np.floor(high / step + 1e-9) + 1)]


def _thin(time: Any, values: Any) -> "tuple[Any, Any]":
    """Least and largest value of each part: what sticks out stays."""
    if len(time) <= 2 * POINTS:
        return time, values
    bounds = np.linspace(0, len(time), POINTS + 1).astype(int)
    chosen: "list[int]" = []
    for a, b in zip(bounds[:-1], bounds[1:]):
        chosen += sorted({a + int(np.argmin(values[a:b])), a + int(np.argmax(values[a:b]))})
    return time[chosen], values[chosen]


def _panel(r: "Result", names: "list[str]", unit: str, width: int, height: int) -> str:
    left, right, top, bottom = 64, 8, 8 + 14 * len(names), 24
    time = np.asarray(r.time)
    curves = [np.asarray(r[name], dtype=float) for name in names]
    finite = [c[np.isfinite(c)] for c in curves if np.isfinite(c).any()]
    low, high = (min(map(np.min, finite)), max(map(np.max, finite))) if finite else (0.0, 1.0)
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        low, high = low - (abs(low) or 1) * 0.5, high + (abs(high) or 1) * 0.5
    begin, end = float(time[0]), float(time[-1]) if time[-1] > time[0] else float(time[0]) + 1

    def x(t: Any) -> Any:
        return left + (t - begin) / (end - begin) * (width - left - right)

    def y(v: Any) -> Any:
        return height - bottom - (v - low) / (high - low) * (height - top - bottom)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">']
    parts.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    for tick in _ticks(low, high):
        parts.append(f'<path d="M{left} {y(tick):.1f}H{width - right}" stroke="#ddd"/><text x="{left - 5}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:.4g}</text>')
    for tick in _ticks(begin, end):
        parts.append(f'<path d="M{x(tick):.1f} {top}V{height - bottom}" stroke="#eee"/><text x="{x(tick):.1f}" y="{height - 9}" text-anchor="middle">{tick:.4g}</text>')
    for k, (name, values) in enumerate(zip(names, curves)):
        t, v = _thin(time, values)
        good = np.isfinite(v)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x(t[good]), y(v[good])))
        colour = COLOURS[k % len(COLOURS)]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.3"/>')
        parts.append(f'<text x="{left}" y="{14 + 14 * k}" fill="{colour}">{escape(name)}{" [" + escape(unit) + "]" if unit else ""}</text>')
    return "".join(parts) + "</svg>"


def result(r: "Result") -> str:
    """Small multiples: a panel for each unit, with the first variables that move.

    >>> import mdlc
    >>> mdlc.example("hello").run()._repr_html_().count("<svg") >= 3
    True
    """
    groups: "dict[str, list[str]]" = {}
    seen = set()
    # Variables of components before those of their connectors; of several that are one, the first.
    for variable in sorted(r.variables, key=lambda v: v.name.count(".")):
        values = np.asarray(r[variable.name], dtype=float)
        mark = (variable.unit, values.tobytes())
        if not len(values) or not (values != values[0]).any() or mark in seen:
            continue
        seen.add(mark)
        group = groups.setdefault(variable.unit if variable.type == "Real" else variable.type, [])
        if len(group) < CURVES:
            group.append(variable.name)
    panels = [_panel(r, names, unit if unit not in ("Boolean", "Integer", "enumeration") else "", 420, 190 + 14 * len(names)) for unit, names in list(groups.items())[:PANELS]]
    return f"<div>{escape(repr(r))}</div>" + "".join(f'<span style="display:inline-block">{panel}</span>' for panel in panels)
