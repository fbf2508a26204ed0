"""Train a pack from actions, resume, stop, and look at the data first."""

from __future__ import annotations

import bpy

from . import common
from . import training_session as session

#: Columns of the data check's tables, by the word their heads begin with.
TABLES = {
    "action": ("action", "minutes", "m/s slow", "m/s usual", "m/s fast", "feet down"),
    "gait": ("gait", "minutes", "m/s", "contacts/s", "phase sure"),
}


class _Idle:
    """Only while nothing is trained."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """See above."""
        if context.scene is None:
            return False
        if session.busy():
            cls.poll_message_set("A training is running")
            return False
        return cls.wanted(context)

    @classmethod
    def wanted(cls, context: bpy.types.Context) -> bool:
        """Needs actions."""
        if session.sources_shown(context):
            return True
        cls.poll_message_set("Choose an armature that has an action, or change From")
        return False


class GAITSMITH_OT_train(_Idle, bpy.types.Operator):
    """Learn a pack from the chosen actions, in the background. You can go on working, cancel, and resume later"""

    bl_idname = "gaitsmith.train"
    bl_label = "Train"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Start it."""
        with common.telling_errors(self, context, "train") as failed:
            common.object_mode(context)
            session.start(context)
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_train_resume(_Idle, bpy.types.Operator):
    """Go on with the training that was stopped or interrupted last"""

    bl_idname = "gaitsmith.train_resume"
    bl_label = "Resume Training"

    @classmethod
    def wanted(cls, context: bpy.types.Context) -> bool:
        """Needs an interrupted training."""
        if session.unfinished(context):
            return True
        cls.poll_message_set("No training was interrupted")
        return False

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Resume it."""
        with common.telling_errors(self, context, "train") as failed:
            session.resume(context)
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_train_cancel(bpy.types.Operator):
    """Stop the training. What it has learnt so far is kept, and it can be resumed"""

    bl_idname = "gaitsmith.train_cancel"
    bl_label = "Stop Training"

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        """Needs a running training."""
        if not session.busy():
            cls.poll_message_set("No training is running")
        return session.busy()

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Ask it to end."""
        session.stop(context)
        return {"FINISHED"}


class GAITSMITH_OT_data_check(_Idle, bpy.types.Operator):
    """See what the chosen actions hold before training: minutes of each gait, contacts, phases, what is doubtful"""

    bl_idname = "gaitsmith.data_check"
    bl_label = "Check Data"

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Read the actions, then show the table."""
        self._lines: list[str] = []
        with common.telling_errors(self, context, "train") as failed:
            self._lines = session.check(context).splitlines()
        return {"CANCELLED"} if failed else context.window_manager.invoke_popup(self, width=620)

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the tables: rows below a head are aligned as long as they have its cells, everything else is text."""
        columns = 0
        for line in self._lines:
            cells = list(TABLES.get(line.partition(" ")[0], line.split()))
            columns = len(cells) if line.partition(" ")[0] in TABLES else columns
            if columns and len(cells) == columns:
                row = self.layout.row()
                for cell in cells:
                    row.label(text=cell.replace("_", " "))
                continue
            columns = 0
            if line:
                self.layout.label(text=line, icon="QUESTION" if ", frames " in line else "NONE")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Say it in the info editor."""
        with common.telling_errors(self, context, "train") as failed:
            self.report({"INFO"}, session.check(context))
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_preferences(bpy.types.Operator):
    """Open the add-on's preferences, where the Python with torch is chosen"""

    bl_idname = "gaitsmith.preferences"
    bl_label = "Open Preferences"

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Show them."""
        from .. import ADDON_ID

        bpy.ops.preferences.addon_show(module=ADDON_ID)
        return {"FINISHED"}


def register() -> None:
    """Nothing to prepare."""


def unregister() -> None:
    """Leave no child behind, and nothing that says it runs."""
    session.end()
    now = getattr(bpy.context.window_manager, "gaitsmith", None)
    if now is not None:
        now.training = False


CLASSES = (
    GAITSMITH_OT_train,
    GAITSMITH_OT_train_resume,
    GAITSMITH_OT_train_cancel,
    GAITSMITH_OT_data_check,
    GAITSMITH_OT_preferences,
)
