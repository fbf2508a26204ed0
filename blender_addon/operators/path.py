"""Draw the root curve with Blender's own curve drawing, and come back from it."""

from __future__ import annotations

import bpy

from . import common

CURVE_NAME = "Root path"


def new_curve(context: bpy.types.Context) -> bpy.types.Object:
    """An empty curve object at the origin, linked, selected and chosen as the path."""
    data = bpy.data.curves.new(CURVE_NAME, "CURVE")
    data.dimensions = "3D"
    ob = bpy.data.objects.new(CURVE_NAME, data)
    ob.show_in_front = True
    context.collection.objects.link(ob)
    for other in context.view_layer.objects.selected:
        other.select_set(False)
    ob.select_set(True)
    context.view_layer.objects.active = ob
    common.settings(context).curve = ob
    return ob


def prepare_pen(context: bpy.types.Context, on_surface: bool) -> None:
    """Set Blender's curve drawing up for a root path: smooth Bezier curves, on the surface or on the floor."""
    pen = context.scene.tool_settings.curve_paint_settings
    pen.curve_type = "BEZIER"
    pen.depth_mode = "SURFACE" if on_surface else "CURSOR"
    pen.use_pressure_radius = False
    pen.surface_offset = 0.0
    pen.use_stroke_endpoints = False
    if not on_surface:
        context.scene.cursor.location.z = 0.0


class GAITSMITH_OT_curve_draw(bpy.types.Operator):
    """Draw the path with the pen: on the chosen terrain, or on the floor seen from above"""

    bl_idname = "gaitsmith.curve_draw"
    bl_label = "Draw Path"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Needs a 3D view to draw in."""
        if context.scene is None or context.area is None or context.area.type != "VIEW_3D":
            cls.poll_message_set("Open a 3D viewport to draw in")
            return False
        if context.scene.library is not None:
            cls.poll_message_set("This scene is linked from another file: make it local first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Add an empty curve and hand the pen over."""
        common.object_mode(context)
        on_surface = common.settings(context).ground != "NONE"
        new_curve(context)
        prepare_pen(context, on_surface)
        bpy.ops.object.mode_set(mode="EDIT")
        region = next((r for r in context.area.regions if r.type == "WINDOW"), None)
        if region is not None:
            with context.temp_override(area=context.area, region=region):
                if not on_surface and bpy.ops.view3d.view_axis.poll():
                    bpy.ops.view3d.view_axis(type="TOP")
                bpy.ops.wm.tool_set_by_id(name="builtin.draw", space_type="VIEW_3D")
        self.report({"INFO"}, "Draw the path with the left button, then press Done in the panel")
        return {"FINISHED"}


class GAITSMITH_OT_curve_done(bpy.types.Operator):
    """Put the pen away and leave edit mode"""

    bl_idname = "gaitsmith.curve_done"
    bl_label = "Done"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only while a curve is edited."""
        if context.mode != "EDIT_CURVE":
            cls.poll_message_set("No curve is being drawn")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Leave edit mode, take the selection tool."""
        curve = context.view_layer.objects.active
        # Before edit mode is left: each mode has a tool of its own, and who comes back to slide points would draw.
        if context.area is not None and context.area.type == "VIEW_3D":
            region = next((r for r in context.area.regions if r.type == "WINDOW"), None)
            if region is not None:
                with context.temp_override(area=context.area, region=region):
                    bpy.ops.wm.tool_set_by_id(name="builtin.select_box", space_type="VIEW_3D")
        bpy.ops.object.mode_set(mode="OBJECT")
        if curve is not None and not curve.data.splines:
            self.report({"WARNING"}, "Nothing was drawn yet: press Draw again, or choose another curve")
        return {"FINISHED"}


CLASSES = (GAITSMITH_OT_curve_draw, GAITSMITH_OT_curve_done)
