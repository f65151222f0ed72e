"""Sliders for the one or two parameters that matter of a setting."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QSlider, QWidget

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.look.buttons import emptied
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.theme import GRID

STOPS = 25
"""Places of a slider over real numbers."""

SPAN = 8
"""How many times its default a parameter without a near bound goes up and down."""


def stops(parameter: Parameter[object]) -> list[float]:
    """The values that a slider goes through, lowest first: every one up to the bounds, or a span
    around the default where these are far."""
    default = parameter.default
    assert isinstance(default, (int, float))
    # Two shares of one whole move together: each takes half of it at most.
    high = 0.5 if parameter.shares is not None else parameter.high
    if parameter.kind == "integer":
        top = int(min(high, max(4 * default, 10)))
        return [float(n) for n in range(int(parameter.low), top + 1)]
    if high <= 2 * SPAN * default:
        return [float(n) for n in np.linspace(parameter.low, high, STOPS)]
    low = max(parameter.low, default / SPAN)
    return [float(n) for n in np.geomspace(low, min(high, default * SPAN), STOPS)]


class Levers(QWidget):
    """``turned`` carries the text of the setting as it was and as it is to be."""

    turned = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.sliders: dict[str, QSlider] = {}
        self._run = ""
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 1)

    def show_run(self, run: str) -> None:
        """Show the sliders of a setting; none for an empty text."""
        if run == self._run and self.sliders:
            return
        self._run = run
        emptied(self._grid)
        self.sliders = {}
        if not run:
            return
        from tabprotect.engine.assessment.comparing.run_spec import parse_spec

        try:
            (spec,) = parse_spec(run)
        except (TabprotectError, ValueError):
            return
        method = methods()[spec.method]
        declared = {p.name: p for p in method.parameters}
        for row, name in enumerate(method.levers):
            self._add(row, declared[name], spec.given.get(name, declared[name].default))

    def _add(self, row: int, parameter: Parameter[object], value: object) -> None:
        values = stops(parameter)
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(0, len(values) - 1)
        number = float(value) if isinstance(value, (int, float, str)) else math.nan
        slider.setValue(int(np.argmin(np.abs(np.array(values) - number))))
        slider.setAccessibleName(parameter.label)
        slider.setToolTip(tip(parameter.help))
        label = Label(parameter.label)
        label.setBuddy(slider)
        shown = Label(f"{number:g}")
        shown.setAlignment(Qt.AlignmentFlag.AlignRight)
        slider.valueChanged.connect(lambda at: shown.setText(f"{values[at]:.4g}"))
        slider.valueChanged.connect(partial(self._moved, slider, parameter, values))
        slider.sliderReleased.connect(partial(self._turn, slider, parameter, values))
        self.sliders[parameter.name] = slider
        self._grid.addWidget(label, 2 * row, 0)
        self._grid.addWidget(shown, 2 * row, 1)
        self._grid.addWidget(slider, 2 * row + 1, 0, 1, 2)

    def _moved(
        self, slider: QSlider, parameter: Parameter[object], values: list[float], at: int
    ) -> None:
        """Keys say at once what they mean, the mouse when it lets go."""
        if not slider.isSliderDown():
            self._turn(slider, parameter, values)

    def _turn(self, slider: QSlider, parameter: Parameter[object], values: list[float]) -> None:
        from tabprotect.engine.assessment.comparing.run_spec import RunSpec, parse_spec

        (spec,) = parse_spec(self._run)
        method = methods()[spec.method]
        value: object = float(f"{values[slider.value()]:.4g}")
        if parameter.kind == "integer":
            value = int(values[slider.value()])
        same = [
            p.name
            for p in method.parameters
            if p.name == parameter.name
            or (parameter.shares is not None and p.shares == parameter.shares)
        ]
        text = RunSpec(spec.method, {**spec.given, **dict.fromkeys(same, value)}).text
        if text != self._run:
            before, self._run = self._run, text
            self.turned.emit(before, text)
