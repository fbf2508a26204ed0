"""Fewer keys for a rig's channels: which tracks there are, in which order, and where corners stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..motion.key_reduction import Curve, Reduced, Tolerance, reduce_keys
from ..motion.rotations import Array
from ..motion.runs import runs
from .channels import Channel, ObjectBase
from .ik_channels import IkRig
from .posing import body_of, in_order

if TYPE_CHECKING:
    from .rigs import Rig

#: Share of the tolerance for limbs by IK.
_IK_SHARE = 0.92


def reduce_channels(
    rig: Rig, channels: Sequence[Channel], planted: Array, tolerance: Tolerance, base: ObjectBase | None = None,
    ik: IkRig | None = None,
) -> tuple[list[Channel], Reduced]:  # fmt: skip
    """The channels with fewer keys, and how far joints are off.

    Args:
        rig: the rig.
        channels: of it, one value a frame.
        planted: (f, 2) which foot stands: it stays within the tolerance's ``planted``, and keys stay where it lands
            and lifts.
        tolerance: how far joints may be off.
        base: needed where the object carries the travel.
        ik: limbs that are keyed by their IK controls.
    """
    if ik is None or not ik.both:
        return _reduced(rig, channels, planted, tolerance, base, ik, {})
    # The same body twice over: by its IK controls, then by its FK bones on the trunk as it came out. These can make up
    # for any error of the trunk; IK limbs that are nearly straight cannot.
    idle, names = set(ik.fk), set(ik.names)
    by_ik = [channel for channel in channels if channel.bone not in idle]
    by_fk = [channel for channel in channels if channel.bone not in names]
    first, one = _reduced(rig, by_ik, planted, tolerance, base, ik, {})
    done = {channel.data_path: channel for channel in first}
    shared = {path: channel.curve for path, channel in done.items() if channel.bone not in names}
    second, two = _reduced(rig, by_fk, planted, tolerance, base, None, shared)
    done |= {channel.data_path: channel for channel in second}
    found = [done[channel.data_path] for channel in channels]
    curves = tuple(channel.curve for channel in found if channel.curve is not None)
    return found, Reduced(
        curves, max(one.metres, two.metres), max(one.degrees, two.degrees), max(one.planted, two.planted),
        tuple(dict.fromkeys((*one.notes, *two.notes))),
    )  # fmt: skip


def _reduced(
    rig: Rig, channels: Sequence[Channel], planted: Array, tolerance: Tolerance, base: ObjectBase | None,
    ik: IkRig | None, fixed: dict[str, Curve | None],
) -> tuple[list[Channel], Reduced]:  # fmt: skip
    order = in_order(rig, channels)
    ordered = [channels[number] for number in order]
    tracks, body = body_of(rig, ordered, planted, base, ik)
    if ik is not None:
        # Blender's solver of limbs has errors of its own.
        tolerance = replace(tolerance, metres=_IK_SHARE * tolerance.metres)
    tracks = [
        replace(track, fixed=fixed.get(channel.data_path)) for track, channel in zip(tracks, ordered, strict=True)
    ]
    corners = sorted({frame for side in planted.T for a, b in runs(side) for frame in (a, b - 1)})
    found = reduce_keys(tracks, body, corners, tolerance)
    curves = dict(zip(order, found.curves, strict=True))
    return [replace(channel, curve=curves[number]) for number, channel in enumerate(channels)], found
