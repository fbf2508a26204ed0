"""Whole bakes: from a curve in the scene to keys that Blender plays, measured again from the outside."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from blender_addon.bake_settings import BakeSettings
from blender_addon.baking import solve, stands, write
from blender_addon.motion.errors import Cancelled, GaitsmithError, TerrainError
from blender_addon.motion.limits import Limits
from blender_addon.motion.schedule import Schedule
from blender_addon.scene import actions
from blender_addon.scene.character import create_character
from blender_addon.scene.rigs import read_rig
from blender_addon.scene.shot import read_shot
from blender_addon.systems.synthesis import SynthesisSettings
from tests.addon.bakers import make_pack, system_of
from tests.addon.rig_makers import armature_of, empty_scene, poly_curve
from tests.addon.test_terrain import box, hills, plane
from tests.synthetic import biped

LINE = [(0, 0, 0), (4, 0, 0)]
QUICK = Limits(stand_before=0.2, stand_after=0.3)


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    return make_pack(tmp_path_factory.mktemp("packs"))


@pytest.fixture(autouse=True)
def scene():
    empty_scene()


def bake(pack, ob, curve, ground=None, motion="bone", fps=None, follow=None, speed=0.8, **asked):
    info, system = system_of(pack)
    if fps is not None:
        bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = fps
    shot = read_shot(ob, curve, ground, root_motion=motion)
    dials = follow or SynthesisSettings(exact=True)
    settings = BakeSettings(schedule=Schedule.constant(speed), limits=QUICK, synthesis=dials, **asked)
    solved = solve(shot, system, settings, speeds=info.speeds, reference=info.info.reference)
    return write(solved, ob)


def played(ob, names, baked):
    """Places (frames, bones, 3) of bones as Blender plays them."""
    found = []
    for frame in range(baked.written.frame_start, baked.written.frame_end + 1):
        bpy.context.scene.frame_set(frame)
        found.append(actions.evaluated(ob, names)[0])
    return np.array(found)


def test_the_packs_character_walks_the_line_exactly(pack) -> None:
    info, _ = system_of(pack)
    ob = create_character(info.info.skeleton)
    baked = bake(pack, ob, poly_curve(LINE), fps=(60, 1.0))
    track = played(ob, ["Root", "Hips"], baked)
    assert np.abs(track[:, 0, 1:]).max() < 1e-3
    assert abs(track[-1, 0, 0] - 4.0) < 1e-3
    assert np.abs(track[:, 1, 1]).max() < 0.15
    error = baked.report["bake_error"], baked.report["bake_error_angle"]
    assert error[0].value < 1e-5 and error[1].value < 1e-3


@pytest.mark.parametrize("fps", [(24, 1.001), (30, 1.0), (60, 1.0)])
def test_feet_stand_still_as_played_at_any_frame_rate(pack, fps) -> None:
    ob = armature_of(biped(), root=True)
    baked = bake(pack, ob, poly_curve(LINE), fps=fps, frame_start=-5)
    assert np.isclose(baked.solved.shot.fps, fps[0] / fps[1])
    names = ["LeftToes", "RightToes"]
    track = played(ob, names, baked)
    for column, side in enumerate(("left", "right")):
        runs = stands(baked.solved.keys)[side]
        assert len(runs) > 2
        for first, last in runs:
            # The frame at either end of a stand may lie between the model's frames, one foot already lifting.
            inner = track[first + 1 : last, column, :2]
            if len(inner):
                assert np.ptp(inner, axis=0).max() < 0.003


def test_the_walk_rises_with_the_ground(pack) -> None:
    ob = armature_of(biped(), root=True)
    ground = hills()
    baked = bake(pack, ob, poly_curve([(0, 0, 0), (5, 0.4, 0)]), ground)
    track = played(ob, ["LeftToes", "RightToes"], baked)
    for column, side in enumerate(("left", "right")):
        for first, last in stands(baked.solved.keys)[side]:
            x, y, z = track[(first + last) // 2, column]
            rest = baked.solved.shot.rig.skeleton.ball_height
            assert abs(z - rest - 0.3 * np.sin(x) * np.cos(y)) < 0.02


def test_the_floor_without_a_ground_lies_at_the_curves_beginning(pack) -> None:
    ob = armature_of(biped(), root=True)
    baked = bake(pack, ob, poly_curve([(0, 0, 1.5), (3, 0, 1.5)]))
    lowest = played(ob, ["LeftToes", "RightToes"], baked)[..., 2].min()
    assert 1.5 < lowest < 1.53


@pytest.mark.parametrize("size", [0.5, 1.3])
def test_larger_and_smaller_characters_keep_to_the_path(pack, size) -> None:
    ob = armature_of(biped(), root=True)
    ob.scale = (size,) * 3
    baked = bake(pack, ob, poly_curve(LINE), speed=0.7)
    track = played(ob, ["Root", "Hips"], baked)
    assert np.abs(track[:, 0, 1]).max() < 1e-3 and abs(track[-1, 0, 0] - 4.0) < 1e-3
    assert np.isclose(track[0, 1, 2], 0.93 * size, rtol=0.12)


@pytest.mark.parametrize("motion", ["object", "in place", "hips"])
def test_other_ways_to_travel(pack, motion) -> None:
    ob = armature_of(biped(), root=True)
    baked = bake(pack, ob, poly_curve(LINE), motion=motion)
    assert baked.report["bake_error"].value < 1e-5
    bpy.context.scene.frame_set(baked.written.frame_end)
    moved = ob.matrix_world.translation.x > 3.9
    assert moved == (motion == "object")


def test_a_second_bake_after_editing_the_curve_follows_the_new_one(pack) -> None:
    ob = armature_of(biped(), root=True)
    curve = poly_curve(LINE)
    first = bake(pack, ob, curve)
    curve.data.splines[0].points[1].co = (0, 4, 0, 1)
    second = bake(pack, ob, curve, output="replace")
    assert second.written.action == first.written.action
    assert {action.name for action in bpy.data.actions} == {"Walk", "Walk (before)"}
    assert np.allclose(played(ob, ["Root"], second)[-1, 0, :2], [0, 4], atol=1e-3)


def test_markers_and_the_scenes_range_are_set_when_asked(pack) -> None:
    ob = armature_of(biped())
    baked = bake(pack, ob, poly_curve(LINE), markers=True, fit_scene=True, frame_start=11)
    markers = bpy.data.actions[baked.written.action].pose_markers
    assert {marker.name for marker in markers} == {"L foot", "R foot"} and len(markers) > 4
    assert bpy.context.scene.frame_start == 11 and bpy.context.scene.frame_end == baked.written.frame_end


def test_cancel_at_every_stage_leaves_nothing(pack) -> None:
    info, system = system_of(pack)
    ob = armature_of(biped())
    shot = read_shot(ob, poly_curve(LINE))
    stages: list[str] = []
    solve(shot, system, speeds=info.speeds, progress=lambda _, stage: stages.append(stage) or True)
    for stage in dict.fromkeys(stages):
        with pytest.raises(Cancelled):
            solve(shot, system, speeds=info.speeds, progress=lambda _, now, stage=stage: now != stage)
    assert len(bpy.data.actions) == 0 and ob.animation_data is None


def test_a_wall_or_a_hole_under_the_path_is_refused_before_anything_is_written(pack) -> None:
    ob = armature_of(biped())
    info, system = system_of(pack)
    for ground in ([plane(-2, -2, 6, 2), box(2, -1, 0, 2.2, 1, 2)], [plane(-2, -2, 0.5, 2), plane(3, -2, 6, 2)]):
        with pytest.raises(TerrainError) as caught:
            solve(read_shot(ob, poly_curve(LINE), ground), system, speeds=info.speeds)
        assert caught.value.remedy
    assert len(bpy.data.actions) == 0


def test_absurd_speeds_are_refused() -> None:
    for speed in (0.0, -1.0, 400.0, float("nan")):
        with pytest.raises(GaitsmithError):
            Schedule.constant(speed)


def test_the_character_has_a_body_that_stands_on_the_ground_and_moves_with_it(pack) -> None:
    info, _ = system_of(pack)
    for length in (1.0, 0.01):
        empty_scene()
        bpy.context.scene.unit_settings.scale_length = length
        ob = create_character(info.info.skeleton)
        body = next(child for child in ob.children if child.type == "MESH")
        rest = heights(body) * length
        assert abs(rest.min()) < 0.01 and 1.4 < rest.max() < 2.0
        assert {group.name for group in body.vertex_groups} <= set(ob.data.bones.keys())
        assert np.isclose(read_rig(ob).skeleton.leg_length, info.info.skeleton.leg_length, rtol=1e-5)
        baked = bake(pack, ob, poly_curve([(0, 0, 0), (3 / length, 0, 0)]))
        bpy.context.scene.frame_set(baked.written.frame_end)
        assert abs(heights(body).min() * length) < 0.03


def heights(body):
    final = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([(final.matrix_world @ vertex.co).z for vertex in final.data.vertices])
