"""Retargeting to bodies built otherwise: wide hips, huge feet, several neck bones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from blender_addon.motion import rotations as rot
from blender_addon.motion.retarget import retarget
from blender_addon.motion.skeleton import Skeleton, make_skeleton
from tests.synthetic import biped, walk


def changed(offsets: dict[str, tuple[float, float, float]]) -> Skeleton:
    """The biped with some joints elsewhere in their parents' frames."""
    skeleton = biped()
    places = np.array(skeleton.offsets)
    for name, place in offsets.items():
        places[skeleton.names.index(name)] = place
    return replace(skeleton, offsets=places)


def toe_gap(clip) -> np.ndarray:
    """How far the left toe joint is left of the right one (f,), along the body's own left."""
    toes = [clip.world[0][:, foot.toe] for foot in clip.skeleton.feet]
    left = np.stack([np.cos(clip.root[:, 2]), np.sin(clip.root[:, 2])], axis=-1)
    return np.sum((toes[0] - toes[1])[:, :2] * left, axis=-1)


def test_feet_stand_apart_as_the_hips_are_wide() -> None:
    clip = walk(3.0, turning=0.4)
    wide = changed({"LeftUpLeg": (0.17, 0.0, -0.02), "RightUpLeg": (-0.17, 0.0, -0.02)})
    assert np.allclose(toe_gap(retarget(clip, wide)) - toe_gap(clip), 0.16, atol=0.01)
    assert np.allclose(toe_gap(retarget(clip, biped())), toe_gap(clip), atol=1e-3)


def least_stretch(clip) -> float:
    places = clip.world[0]
    return min(
        float((np.linalg.norm(places[:, foot.hip] - places[:, foot.ankle], axis=1) / clip.skeleton.leg_length).min())
        for foot in clip.skeleton.feet
    )


def test_huge_feet_do_not_fold_the_legs() -> None:
    """Feet three times as long with ankles twice as high, rolling over their toes by 60 degrees."""
    clip = walk(3.0)
    ankle = clip.skeleton.index("left_ankle")
    rotations = np.array(clip.rotations)
    tilt = np.radians(60.0) * np.clip(np.sin(np.linspace(0, 20, len(clip))), 0.0, 1.0)
    rotations[:, ankle] = rot.mul(rotations[:, ankle], rot.exp(tilt[:, None] * np.array([1.0, 0.0, 0.0])))
    clip = replace(clip, rotations=rotations)
    huge = changed({f"{side}Toes": (0.0, -0.36, -0.09) for side in ("Left", "Right")})
    assert least_stretch(retarget(clip, huge)) > 0.5
    # What is only somewhat larger turns as the source does.
    larger = changed({f"{side}Toes": (0.0, -0.15, -0.045) for side in ("Left", "Right")})
    turned = retarget(clip, larger).world[1][:, ankle]
    assert np.abs(np.sum(turned * clip.world[1][:, ankle], axis=-1)).min() > 1.0 - 1e-6


def test_neck_bones_share_the_way_to_the_head() -> None:
    source = biped()
    clip = walk(1.0)
    head = source.index("head")
    rotations = np.array(clip.rotations)
    rotations[:, head] = rot.mul(rotations[:, head], rot.from_axis_angle(np.array([0.0, 0.0, 1.0]), np.radians(60.0)))
    clip = replace(clip, rotations=rotations)
    names, parents, offsets = list(source.names), list(source.parents), [list(place) for place in source.offsets]
    roles = dict(source.roles)
    at = names.index("Head")
    # Neck and Neck1 between Spine1 and Head.
    names += ["Neck", "Neck1", "HeadAgain"]
    parents += [names.index("Spine1"), names.index("Neck"), names.index("Neck1")]
    offsets += [[0.0, 0.0, 0.2], [0.0, 0.0, 0.03], [0.0, 0.0, 0.03]]
    roles |= {"neck": "Neck", "neck_2": "Neck1", "head": "HeadAgain"}
    target = make_skeleton(names, parents, np.array(offsets), roles=roles, ball_height=source.ball_height)
    world = retarget(clip, target).world[1]
    chest = world[:, names.index("Spine1")]
    for name, degrees in (("Neck", 20.0), ("Neck1", 40.0), ("HeadAgain", 60.0)):
        away = rot.inv_mul(chest, world[:, names.index(name)])
        assert np.allclose(np.degrees(rot.log(away)[:, 2]), degrees, atol=1.0), name
    assert at == source.index("head")
