"""What is doubtful about a whole clip: no steps to learn, ground that its feet are not on."""

from __future__ import annotations

import numpy as np

from blender_addon.motion.clip import Clip
from blender_addon.motion.clip_labels import ClipLabels
from blender_addon.motion.contact_labels import feet_of, flat_contacts, sole_points
from blender_addon.motion.label_detection import belt_velocity
from blender_addon.motion.runs import runs
from blender_addon.motion.skeleton import SIDES

#: Heels and balls that stand may be so far from the level ground, metres, in the median of a clip.
OFF_GROUND_M = 0.02
#: And no foot goes deeper under it than this, metres, but for one frame in fifty.
UNDER_GROUND_M = 0.04
#: A clip of which less than this share has a reliable phase teaches little of steps.
LEAST_SURE = 0.1


def clip_doubts(clip: Clip, labels: ClipLabels) -> tuple[str, ...]:
    """What is doubtful about a clip as a whole, in an animator's words; empty if nothing is."""
    feet, belt = feet_of(labels.contacts), belt_velocity(clip)
    if belt is not None:
        return (
            f"it goes on the spot, as on a treadmill of {np.linalg.norm(belt):.1f} m/s: nothing of its travel can be "
            "learned. Give it root motion, or leave it out",
        )
    if not feet.any():
        return ("no foot ever stands: no contact was found. See that its scale and the map of its bones are right",)
    found = list(_steps(clip, labels))
    missing = [side for side, stands in zip(SIDES, feet.any(axis=0), strict=True) if not stands]
    if missing:
        found.append(f"only one foot ever stands: the {missing[0]} one never does. Steps of one foot are no gait")
    if not labels.uneven:
        found += _ground(clip, labels)
    return tuple(found)


def _steps(clip: Clip, labels: ClipLabels) -> list[str]:
    """Whether there are steps at all."""
    sure = float(labels.phase.reliable.mean())
    if sure >= LEAST_SURE:
        return []
    stands = float(np.mean(np.array(labels.gait_names)[labels.gaits] == "stand"))
    landings = sum(first > 0 for column in feet_of(labels.contacts).T for first, _ in runs(column))
    words = f"{landings} step{'s' * (landings != 1)} in {clip.seconds:.1f} s: its phase creeps on and is not learned"
    return [f"it stands, with {words}" if stands > 0.5 else f"there are only {words}"]


def _ground(clip: Clip, labels: ClipLabels) -> list[str]:
    """Whether the feet are on the level ground that is taken to be under them."""
    heights = sole_points(clip)[..., 2]
    stands = heights[flat_contacts(clip, labels.contacts)]
    found = []
    if len(stands):
        usual = float(np.median(stands))
        if abs(usual) > OFF_GROUND_M:
            where = "over" if usual > 0.0 else "under"
            found.append(f"its feet stand {100 * abs(usual):.0f} cm {where} the ground. Level it, or lift it")
    lowest = -float(np.percentile(heights.min(axis=1), 2))
    if lowest > UNDER_GROUND_M and not found:
        found.append(f"its feet go {100 * lowest:.0f} cm under the ground")
    return found
