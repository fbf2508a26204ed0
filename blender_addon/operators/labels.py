"""Set labels of the character's action by hand: gaits, contacts, actions, where the phase is reliable."""

from __future__ import annotations

from collections.abc import Callable

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..motion.errors import ClipError
from ..motion.label_tracks import (
    LabelTracks,
    move_end,
    nearest_end,
    released,
    with_action,
    with_contact,
    with_gait,
    with_reliable,
    words_of,
)
from . import common, label_state

RANGES = (
    ("FIRST", "From here", "The range begins on the current frame"),
    ("LAST", "To here", "The range ends on the current frame"),
    ("SPAN", "This gait", "The range is that of the gait on the current frame"),
    ("ALL", "All", "The range is the whole action"),
)

Change = Callable[[LabelTracks], LabelTracks]


def missing(context: bpy.types.Context) -> str:
    """What labelling still needs, in words; empty when it can begin."""
    if context.scene is None:
        return "Open a scene first"
    if common.chosen_armature(context) is None:
        return "Choose an armature under Character, or select it"
    if label_state.owner(context) is None:
        return "The character has no action to label"
    return "Labels are being detected" if common.state(context).labelling else ""


def change(operator: bpy.types.Operator, context: bpy.types.Context, edit: Change, said: str) -> set[str]:
    """Let ``edit`` change the labels of the character's action, and tell what was done.

    An action without labels gets blank ones first, so that everything can be set by hand.
    """
    from ..scene import labels

    with common.telling_errors(operator, context, "labels") as failed:
        ob = common.chosen_armature(context)
        action = labels.action_of(ob)
        before = labels.read(action, ob) or labels.unlabelled(action, ob)
        labels.write(action, ob, edit(before))
        common.tell(context, said, "labels")
        operator.report({"INFO"}, said)
        common.redraw(context, "DOPESHEET_EDITOR")
    return {"CANCELLED"} if failed else {"FINISHED"}


class _Labels:
    """Only for a character with an action."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """See above."""
        wanted = missing(context)
        if wanted:
            cls.poll_message_set(wanted)  # type: ignore[attr-defined]
        return not wanted


class _Range(_Labels):
    """Over a range of frames: the panel's, unless given."""

    first: IntProperty(name="From", description="First frame of the range")
    last: IntProperty(name="To", description="Last frame of the range")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Take the panel's range."""
        chosen = common.settings(context).labels
        self.first, self.last = chosen.first, chosen.last
        self.take(chosen)
        return self.execute(context)

    def take(self, chosen: object) -> None:
        """Take what else the panel says."""

    @property
    def where(self) -> str:
        """The range in words."""
        return f"frames {min(self.first, self.last)} to {max(self.first, self.last)}"


class GAITSMITH_OT_label_gait(_Range, bpy.types.Operator):
    """Say which gait the frames of the range are. Detecting again leaves them as you set them"""

    bl_idname = "gaitsmith.label_gait"
    bl_label = "Set Gait"

    gait: StringProperty(name="Gait", default="walk", description="Name of the gait")

    def take(self, chosen: object) -> None:
        """The panel's gait."""
        self.gait = chosen.gait  # type: ignore[attr-defined]

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set it."""
        return change(self, context, lambda t: with_gait(t, self.gait, self.first, self.last),
                      f"{self.gait.capitalize()} on {self.where}")  # fmt: skip


class GAITSMITH_OT_label_contact(_Range, bpy.types.Operator):
    """Say that the foot stands on the frames of the range, or that it does not"""

    bl_idname = "gaitsmith.label_contact"
    bl_label = "Set Contact"

    point: StringProperty(name="Foot", default="left_toe", description="The heel, toe or paw")
    down: BoolProperty(name="Stands", default=True, description="Whether it stands; otherwise it is in the air")

    def take(self, chosen: object) -> None:
        """The panel's foot."""
        self.point = chosen.point  # type: ignore[attr-defined]

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set it."""
        said = f"The {words_of(self.point)} {'stands' if self.down else 'is up'} on {self.where}"
        return change(self, context, lambda t: with_contact(t, self.point, self.first, self.last, self.down), said)


class GAITSMITH_OT_label_action(_Range, bpy.types.Operator):
    """Name what is done on the frames of the range, or its style. An empty name takes names away"""

    bl_idname = "gaitsmith.label_action"
    bl_label = "Set Action"

    action: StringProperty(name="Action", description="What is done, in a word of your own")

    def take(self, chosen: object) -> None:
        """The panel's word."""
        self.action = chosen.action  # type: ignore[attr-defined]

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set it."""
        said = f"{self.action.strip().capitalize() or 'No action'} on {self.where}"
        return change(self, context, lambda t: with_action(t, self.action, self.first, self.last), said)


class GAITSMITH_OT_label_phase(_Range, bpy.types.Operator):
    """Say whether the phase of the range is one to learn from: where steps are odd, it is better left out"""

    bl_idname = "gaitsmith.label_phase"
    bl_label = "Set Phase"

    reliable: BoolProperty(name="Reliable", default=False, description="Whether the phase is learned from")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set it."""
        said = f"The phase of {self.where} is {'learned' if self.reliable else 'left out of learning'}"
        return change(self, context, lambda t: with_reliable(t, self.first, self.last, self.reliable), said)


class GAITSMITH_OT_label_release(_Range, bpy.types.Operator):
    """Let detecting again change the frames of the range, as if they had not been set by hand"""

    bl_idname = "gaitsmith.label_release"
    bl_label = "Forget Edits"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Forget."""
        said = f"What was set by hand on {self.where} may be found anew"
        return change(self, context, lambda t: released(t, self.first, self.last), said)


class GAITSMITH_OT_label_end(_Labels, bpy.types.Operator):
    """Move the nearest end of the foot's contact to the current frame: its landing, or where it leaves the ground"""

    bl_idname = "gaitsmith.label_end"
    bl_label = "Move End Here"

    point: StringProperty(
        name="Foot", default="", options={"SKIP_SAVE"}, description="The heel, toe or paw; empty takes the panel's",
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Move it."""
        point, frame = self.point or common.settings(context).labels.point, context.scene.frame_current
        said = f"The {words_of(point)} on frame {frame}"

        def edit(tracks: LabelTracks) -> LabelTracks:
            if tracks.at(frame) is None:
                raise ClipError(f"Frame {frame} lies outside the action", "Go to a frame of the action")
            span, end = nearest_end(tracks, point, frame)
            # A foot that leaves here still stands on the frame before.
            return move_end(tracks, point, span, end, frame if end == "first" else frame - 1)[0]

        return change(self, context, edit, f"{said}: its contact's nearest end was moved there")


class GAITSMITH_OT_label_range(_Labels, bpy.types.Operator):
    """Take the range to label from the current frame"""

    bl_idname = "gaitsmith.label_range"
    bl_label = "Set Range"

    end: EnumProperty(name="End", items=RANGES, description="Which end, or which range")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Set it."""
        chosen, frame = common.settings(context).labels, context.scene.frame_current
        found = label_state.shown(context)
        if self.end in ("SPAN", "ALL") and found is None:
            self.report({"WARNING"}, "Nothing is labelled yet")
            return {"CANCELLED"}
        if self.end == "FIRST":
            chosen.first, chosen.last = frame, max(frame, chosen.last)
        elif self.end == "LAST":
            chosen.first, chosen.last = min(frame, chosen.first), frame
        elif self.end == "ALL":
            chosen.first, chosen.last = found.tracks.first, found.tracks.last
        else:
            spans = found.tracks.spans("gait")
            span = next((s for s in spans if s.first <= frame <= s.last), spans[0])
            chosen.first, chosen.last = span.first, span.last
        return {"FINISHED"}


class GAITSMITH_OT_label_go(bpy.types.Operator):
    """Go to the frame where the labels are doubtful"""

    bl_idname = "gaitsmith.label_go"
    bl_label = "Go to Frame"

    frame: IntProperty(name="Frame", description="The frame to go to")

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Go there."""
        context.scene.frame_set(self.frame)
        return {"FINISHED"}


class GAITSMITH_OT_labels_clear(_Labels, bpy.types.Operator):
    """Take all labels off the action, also what was set by hand"""

    bl_idname = "gaitsmith.labels_clear"
    bl_label = "Clear Labels"

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Clear."""
        from ..scene import labels

        with common.telling_errors(self, context, "labels") as failed:
            ob = common.chosen_armature(context)
            action = labels.action_of(ob)
            done = labels.clear(action, ob)
            said = f"{action.name} has no labels any more" if done else f"{action.name} had no labels"
            common.tell(context, said, "labels")
            self.report({"INFO"}, said)
            common.redraw(context, "DOPESHEET_EDITOR")
        return {"CANCELLED"} if failed else {"FINISHED"}


def unregister() -> None:
    """Forget what was shown."""
    label_state.forget()


def register() -> None:
    """Nothing to prepare."""


CLASSES = (
    GAITSMITH_OT_label_gait,
    GAITSMITH_OT_label_contact,
    GAITSMITH_OT_label_action,
    GAITSMITH_OT_label_phase,
    GAITSMITH_OT_label_release,
    GAITSMITH_OT_label_end,
    GAITSMITH_OT_label_range,
    GAITSMITH_OT_label_go,
    GAITSMITH_OT_labels_clear,
)
