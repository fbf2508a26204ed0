"""The top of a body: how high it is, standing and in motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import rotations as rot
from .clip import Clip
from .gait_labels import upright_joints
from .rotations import UP, Array
from .skeleton import Skeleton

#: The part of a person's height that is above the head's joint.
_ABOVE_HEAD = 0.13
#: And above an animal's highest joint.
_ABOVE_POLL = 0.05
#: Back and shoulders are so much higher than the joints of the trunk, as a share of the leg's length.
_FLESH = 0.08


@dataclass(frozen=True, eq=False)
class Crown:
    """The head as a ball that its joint carries.

    Attributes:
        joint: the head's.
        centre: of the ball, in the joint's frame (3,), metres.
        radius: metres.
        standing: the top's height over the ground in the rest pose, metres.
        joint_height: that of the joint, metres.
    """

    joint: int
    centre: Array
    radius: float
    standing: float
    joint_height: float

    @classmethod
    def of(cls, skeleton: Skeleton, standing: float | None = None) -> Crown:
        """The crown of a body whose head reaches up to ``standing``, metres; guessed from its joints without."""
        places, turns = skeleton.rest_world
        joints = list(range(len(skeleton))) if skeleton.four_legged else upright_joints(skeleton)
        joint = joints[int(np.argmax(places[joints, 2]))]
        high = float(places[joint, 2])
        share = _ABOVE_POLL if skeleton.four_legged else _ABOVE_HEAD
        top = high / (1.0 - share) if standing is None or standing <= high else standing
        radius = 0.5 * (top - high)
        return cls(joint, rot.inv_rotate(turns[joint], radius * UP), radius, top, high)

    def tops(self, clip: Clip) -> Array:
        """The highest points of head and back in the world (f, k, 3), metres, the head's first."""
        places, turns = clip.world
        ball = places[:, self.joint] + rot.rotate(turns[:, self.joint], self.centre) + self.radius * UP
        back = [joint for joint in upright_joints(clip.skeleton) if joint != self.joint]
        flesh = _FLESH * clip.skeleton.leg_length * UP
        return np.concatenate([ball[:, None], places[:, back] + flesh], axis=1)
