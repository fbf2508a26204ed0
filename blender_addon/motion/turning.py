"""How the joints of a motion turn away from their rest pose, and how chains of other counts share such turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import rotations as rot
from .clip import Clip
from .root_track import body_yaw
from .rotations import Array
from .skeleton import BIPED_ROLES, QUADRUPED_ROLES, Skeleton

SPINE: tuple[str, ...] = tuple(role for role in BIPED_ROLES if role.startswith("spine_"))
NECK: tuple[str, ...] = tuple(role for role in BIPED_ROLES if role.startswith("neck"))
TAIL: tuple[str, ...] = tuple(role for role in QUADRUPED_ROLES if role.startswith("tail_"))


def forward_rest(skeleton: Skeleton) -> tuple[Array, Array]:
    """Rest positions (b, 3) and world rotations (b, 4), turned to face -Y."""
    positions, rotations = skeleton.rest_world
    back = rot.from_yaw(-body_yaw(skeleton, positions[None])[0])
    return rot.rotate(back, positions), rot.mul(back, rotations)


def turns_away(clip: Clip, source: Skeleton, rest: Array, roles: Sequence[str]) -> dict[str, Array]:
    """World rotation (frames, 4) of each role's joint away from the rest pose with world rotations ``rest`` (b, 4)."""
    _, world = source.fk(clip.hips, clip.rotations)
    return {
        role: rot.mul(world[:, source.index(role)], rot.inv(rest[source.index(role)]))
        for role in roles
        if source.has(role)
    }


def trunk_turns(away: Mapping[str, Array], target: Skeleton) -> dict[str, Array]:
    """What the spine, neck and tail of the target shall do; bones that nothing tells about are left out.

    Args:
        away: what the source's roles do, as from `turns_away`; the hips at least.
    """
    spine = [away["hips"], *(away[role] for role in SPINE if role in away)]
    found = _shared(spine, [role for role in SPINE if target.has(role)])
    necks = [role for role in NECK if target.has(role)]
    known = [away[role] for role in NECK if role in away]
    if necks and (known or "head" in away):
        way = [spine[-1], *known, away["head"] if "head" in away else known[-1]]
        for number, role in enumerate(necks, start=1):
            # The last neck bone turns as the source's last one; without one, all share the way to the head.
            at = number / len(necks) * (len(way) - 2) if len(way) > 2 else number / (len(necks) + 1)
            found[role] = _along(way, at)
    tail = [away[role] for role in TAIL if role in away]
    if tail:
        found |= _shared([away["hips"], *tail], [role for role in TAIL if target.has(role)])
    return found


def _shared(way: Sequence[Array], roles: Sequence[str]) -> dict[str, Array]:
    """A chain's turns, beginning with its base, spread evenly over so many bones; the last one turns as the last."""
    return {
        role: _along(way, number / len(roles) * (len(way) - 1)) for number, role in enumerate(roles, start=1)
    }  # fmt: skip


def _along(way: Sequence[Array], at: float) -> Array:
    low = min(int(at), max(len(way) - 2, 0))
    return rot.slerp(way[low], way[min(low + 1, len(way) - 1)], at - low)
