"""Import and remove packs, show their credits."""

from __future__ import annotations

import textwrap
from pathlib import Path

import bpy
from bpy.props import StringProperty

from .. import library
from . import common

#: Letters a line in the window with the credits, which is 520 pixels wide.
CREDIT_LETTERS = 84


class GAITSMITH_OT_pack_import(bpy.types.Operator):
    """Install a pack from a .zip file, or from the pack.json in its folder. It is checked; nothing in it is run"""

    bl_idname = "gaitsmith.pack_import"
    bl_label = "Import Pack"

    filepath: StringProperty(
        subtype="FILE_PATH", options={"SKIP_SAVE"}, description="The pack's zip file, or its pack.json"
    )
    filter_glob: StringProperty(default="*.zip;*.json", options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Ask for the file."""
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Check it and copy it to the user's folder."""
        with common.telling_errors(self, context, "packs") as failed:
            pack = library.install(Path(bpy.path.abspath(self.filepath)))
            common.settings(context).pack_id = pack.id
            common.tell(context, f"Installed {pack.label}", "packs")
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_pack_remove(bpy.types.Operator):
    """Delete this pack from the disk. Keyframes that were baked with it stay"""

    bl_idname = "gaitsmith.pack_remove"
    bl_label = "Remove Pack"

    pack: StringProperty(options={"HIDDEN", "SKIP_SAVE"}, description="Which pack")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Ask first: this cannot be undone."""
        return context.window_manager.invoke_confirm(self, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Remove it."""
        with common.telling_errors(self, context, "packs") as failed:
            library.remove(self.pack)
            common.tell(context, f"Removed {self.pack}", "packs")
        return {"CANCELLED"} if failed else {"FINISHED"}


class GAITSMITH_OT_pack_credits(bpy.types.Operator):
    """Show whose motion this pack was made from, and on what terms you may use it"""

    bl_idname = "gaitsmith.pack_credits"
    bl_label = "Credits and Licence"

    pack: StringProperty(options={"HIDDEN", "SKIP_SAVE"}, description="Which pack")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Open a window with the text."""
        return context.window_manager.invoke_popup(self, width=520)

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the text."""
        column = self.layout.column(align=True)
        for line in credit_lines(self.pack):
            for part in textwrap.wrap(line, CREDIT_LETTERS) or [""]:
                column.label(text=part)

    def execute(self, _context: bpy.types.Context) -> set[str]:
        """Say it in the info editor."""
        self.report({"INFO"}, "\n".join(credit_lines(self.pack)))
        return {"FINISHED"}


def credit_lines(pack_id: str) -> list[str]:
    """Title, licence and credits of a pack."""
    pack = library.find(pack_id)
    if pack is None:
        return ["This pack is not installed."]
    return [
        pack.label, f"Licence: {pack.licence or 'not stated'}",
        *(pack.credits or ("Nobody is named in this pack.",)), f"Folder: {pack.folder}",
    ]  # fmt: skip


CLASSES = (GAITSMITH_OT_pack_import, GAITSMITH_OT_pack_remove, GAITSMITH_OT_pack_credits)
