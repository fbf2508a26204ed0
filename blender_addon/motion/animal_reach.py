"""What four legs cannot reach: girdles come down, smoothly; stands that would fold their neighbour are cut short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .animal_limbs import Limb
from .bridging import BoolArray, upper_envelope
from .clip import Clip
from .limb_ik import greatest_reach
from .paws import share_of_swing
from .rotations import Array
from .runs import runs

#: Window of a girdle's drop to each side, seconds.
_DROP_WINDOW = 0.18
#: Part of a girdle's drop that the other one follows, and of its reach that a swinging leg goes without.
_TOGETHER, _SWING_GIVES = 0.4, 0.08
#: A standing leg is folded to this part of its greatest reach, and less only where the ground leaves no choice.
_FOLDED = 0.52
#: A swinging leg is folded to about this part of its greatest reach; softly, over so much of that length; fully so only
#: this far into the swing.
_SWING_FOLD, _SOFT, _RAMP = 0.6, 0.15, 0.3
#: Most of a stand that is cut off at either end, and so many seconds.
_CUT, _LONGEST_CUT = 0.4, 0.3
#: A stand is cut rather than its girdle pulled down by more than this part of the leg's greatest reach.
_PULL = 0.06


def unfolded(body: Clip, limb: Limb, end: Array, contact: BoolArray) -> Array:
    """A leg's end (f, 3) kept off the body in its swings where the leg would be folded flat; smooth in time.

    Args:
        body: as it is carried.
        limb, end: the leg and where it shall end (f, 3).
        contact: when its foot stands (f,).
    """
    positions, rotations = body.world
    points = limb.points(positions, rotations)
    own = np.linalg.norm(points[:, -1] - points[:, 0], axis=1)
    limit = np.minimum(_SWING_FOLD * greatest_reach(points, limb.hinges(rotations)), own)
    line = end - limb.top(body.skeleton, positions, rotations, end)
    length = np.linalg.norm(line, axis=1)
    lack = np.maximum(limit - length, 0.0)
    push = share_of_swing(contact, _RAMP) * lack * lack / (lack + _SOFT * limit)
    return np.asarray(end + (push / np.maximum(length, 1e-6))[:, None] * line)


@dataclass(frozen=True, eq=False)
class Reach:
    """How far each leg's top must come down to reach its foot, how far it may, and the leg's reach (f, 4), metres."""

    needs: Array
    room: Array
    greatest: Array

    @classmethod
    def of(cls, clip: Clip, limbs: Sequence[Limb], ends: Sequence[Array], share: float) -> Reach:
        """Of a body as it is carried.

        Args:
            clip: the body.
            limbs, ends: the legs and where they shall end (f, 3).
            share: of its greatest reach that a leg may be stretched to, or as far as the source's was.
        """
        positions, rotations = clip.world
        needs, room, all_greatest = [], [], []
        for limb, end in zip(limbs, ends, strict=True):
            points = limb.points(positions, rotations)
            greatest = greatest_reach(points, limb.hinges(rotations))
            own = np.linalg.norm(points[:, -1] - points[:, 0], axis=1)
            limit = np.maximum(np.minimum(own, 0.999 * greatest), share * greatest)
            reach = limb.top(clip.skeleton, positions, rotations, end) - end
            level = np.linalg.norm(reach[:, :2], axis=1)
            needs.append(reach[:, 2] - np.sqrt(np.maximum(limit**2 - level**2, (0.3 * greatest) ** 2)))
            room.append(reach[:, 2] - np.sqrt(np.maximum((_FOLDED * greatest) ** 2 - level**2, 0.0)))
            all_greatest.append(greatest)
        return cls(*(np.stack(found, axis=1) for found in (needs, room, all_greatest)))

    def drops(self, contacts: BoolArray, fps: float) -> tuple[Array, Array]:
        """How far hips and shoulders come down (f,) so that no leg is stretched beyond its limit; smooth in time.

        ``contacts``: when the feet stand (f, 4); a swinging foot rather stays a little behind than pulls the body down.
        """
        spare = np.where(contacts, 0.0, _SWING_GIVES * self.greatest)
        needs = np.maximum(self.needs - spare, 0.0)
        hind, fore = needs[:, :2].max(axis=1), needs[:, 2:].max(axis=1)
        # One girdle alone would tip the trunk.
        shared = np.maximum(hind, _TOGETHER * fore), np.maximum(fore, _TOGETHER * hind)
        return upper_envelope(shared[0], fps, _DROP_WINDOW), upper_envelope(shared[1], fps, _DROP_WINDOW)

    def spared(self, contacts: BoolArray, fps: float) -> BoolArray:
        """The contacts (f, 4), stands cut at their ends where their foot is out of reach while the other leg stands.

        Out of reach: where it would pull its girdle down far, or onto the other standing leg. As on stairs: the foot
        behind leaves earlier upwards, the foot ahead lands later downwards; shorter stands and longer swings are what
        animals climb with, too.
        """
        out = np.array(contacts)
        for leg, other in ((0, 1), (1, 0), (2, 3), (3, 2)):
            limit = np.minimum(np.maximum(self.room[:, other], 0.0), _PULL * self.greatest[:, leg])
            tight = contacts[:, leg] & out[:, other] & (self.needs[:, leg] > limit)
            for first, last in runs(contacts[:, leg]):
                most = round(min(_CUT * (last - first), _LONGEST_CUT * fps))
                late, early = np.flatnonzero(tight[last - most : last]), np.flatnonzero(tight[first : first + most])
                if len(late) and last < len(out):
                    out[last - most + int(late[0]) : last, leg] = False
                if len(early) and first > 0:
                    out[first : first + int(early[-1]) + 1, leg] = False
        return out


def ended(contacts: BoolArray, slips: BoolArray) -> BoolArray:
    """The contacts (f, 4), stands ended where their foot would slip (f, 4): later or earlier, whichever is nearer.

    Stands that the clip's ends cut off keep those frames.
    """
    out = np.array(contacts)
    for leg in range(contacts.shape[1]):
        for first, last in runs(contacts[:, leg]):
            at = np.flatnonzero(slips[first:last, leg])
            early, late = at[at < 0.5 * (last - first)], at[at >= 0.5 * (last - first)]
            if len(early) and first > 0:
                out[first : first + int(early[-1]) + 1, leg] = False
            if len(late) and last < len(out):
                out[first + int(late[0]) : last, leg] = False
    return out
