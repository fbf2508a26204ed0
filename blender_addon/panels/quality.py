"""Panel Quality: the figures of the last bake, each against what is good."""

from __future__ import annotations

from typing import Any

import bpy

from .. import choices
from ..operators import common
from .common import Sidebar, letters, words

ICONS = {item[0]: item[3] for item in choices.VERDICTS}
#: How many figures are ...
COUNTED = {"GOOD": "good", "LOOK": "to look at", "BAD": "bad"}
#: A line of figures has so much more room than text in a frame.
ICON_LETTERS = 4


class GAITSMITH_PT_quality(Sidebar, bpy.types.Panel):
    """How good the last bake is."""

    bl_idname = "GAITSMITH_PT_quality"
    bl_label = "Quality"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Useful after a bake."""
        return context.scene is not None and len(common.settings(context).report) > 0

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the verdict in a line, then the figures that need a look, then the others on demand."""
        chosen = common.settings(context)
        layout = self.layout
        if chosen.report_title:
            layout.label(text=chosen.report_title)
        if chosen.report_words:
            words(layout, chosen.report_words)
        verdicts = [figure.verdict for figure in chosen.report]
        counts = ", ".join(f"{verdicts.count(v)} {COUNTED[v]}" for v in COUNTED if v in verdicts)
        worst = next((v for v in ("BAD", "LOOK", "GOOD") if v in verdicts), "NONE")
        layout.label(text=counts or "Nothing was judged", icon=ICONS[worst])
        column = layout.column(align=True)
        for verdict in ("BAD", "LOOK", "GOOD", "NONE") if chosen.report_all else ("BAD", "LOOK"):
            for index, figure in enumerate(chosen.report):
                if figure.verdict == verdict:
                    self._figure(column, index, figure)
        layout.prop(chosen, "report_all", toggle=True)

    def _figure(self, column: Any, index: int, figure: Any) -> None:
        """One line: a button to the worst frame, whose tooltip tells the rest. Limits stand where they are missed."""
        row = column.row(align=True)
        row.alignment = "LEFT"
        missed = figure.verdict in {"BAD", "LOOK"}
        word = f"{figure.verdict.lower()}: " if missed else ""
        wanted = f" ({figure.wanted.replace('at most', 'max')})" if missed and figure.wanted else ""
        text = f"{word}{figure.label} {figure.text}"
        if len(text + wanted) <= letters() + ICON_LETTERS:
            text += wanted
        row.operator("gaitsmith.figure_jump", text=text, icon=ICONS[figure.verdict], emboss=False).index = index


CLASSES = (GAITSMITH_PT_quality,)
