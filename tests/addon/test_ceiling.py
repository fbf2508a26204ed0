"""Ceilings of all sorts over a path, read from meshes, and bakes that crouch under them."""

from __future__ import annotations

import numpy as np
import pytest

from blender_addon.bake_settings import BakeSettings
from blender_addon.baking import solve
from blender_addon.motion.abilities import Abilities, Crouch
from blender_addon.motion.ceiling import low_spans
from blender_addon.motion.errors import TerrainError
from blender_addon.motion.limits import Limits
from blender_addon.motion.proportions import sized_skeleton
from blender_addon.motion.schedule import Schedule
from blender_addon.scene import crowns, rigs
from blender_addon.scene.shot import read_shot
from blender_addon.scene.terrain import read_ground, read_surroundings
from blender_addon.systems.mann_features import PAST
from blender_addon.systems.pfnn import Pfnn
from blender_addon.systems.pfnn_features import SAMPLES, input_layout
from tests.addon.rig_makers import armature_of, empty_scene, poly_curve
from tests.addon.test_terrain import LINE, box, hills, mesh, plane, stairs
from tests.addon.test_terrain_bake import OUTPUTS, Glider
from tests.synthetic import biped

GAITS = ("stand", "walk", "crouch")
INPUTS = input_layout(20, 3)


@pytest.fixture(autouse=True)
def scene():
    empty_scene()


def floor():
    return plane(-2, -3, 8, 3, name="Floor")


def over(parts, path=LINE, at=None):
    """Heights of the ceiling over places along the path."""
    ceiling = read_surroundings(parts, path)[1]
    return ceiling.over(np.array(at)) if at is not None else ceiling


def test_under_the_open_sky_there_is_no_ceiling():
    assert over([hills()]).open
    empty_scene()
    assert over(stairs(open_below=True), np.array([(0.0, 0.0, 0.0), (2.7, 0.0, 0.0)])).open
    empty_scene()
    assert over([floor(), box(0, 0.6, 0, 8, 0.8, 3, "Wall beside")]).open


def test_a_tunnel_is_a_ceiling_from_its_mouth_to_its_end():
    parts = [floor(), box(2, -2, 1.3, 4, 2, 2.5, "Rock"), box(2, -2, 0, 4, -0.5, 1.3), box(2, 0.5, 0, 4, 2, 1.3)]
    ceiling = over(parts)
    inside = (ceiling.arc > 2.06) & (ceiling.arc < 3.94)
    outside = (ceiling.arc < 1.9) | (ceiling.arc > 4.1)
    assert np.allclose(ceiling.height[inside], 1.3) and np.all(np.isinf(ceiling.height[outside]))
    assert ceiling.arc[-1] == pytest.approx(6.0)


def test_a_beam_over_the_hips_is_a_ceiling_and_one_before_them_is_still_refused():
    assert over([floor(), box(3, -1, 1.2, 3.1, 1, 1.4, "Beam")], at=[3.05])[0] == pytest.approx(1.2)
    with pytest.raises(TerrainError, match="upright stands across the path 3.0 m from its start"):
        read_ground([floor(), box(3, -1, 0.65, 3.1, 1, 0.85, "Low beam")], LINE)


@pytest.mark.parametrize("turned", [False, True])
def test_a_sheet_is_a_ceiling_whichever_side_it_shows(turned):
    slab = plane(2, -1, 4, 1, 1.5, "Sheet")
    if turned:
        slab.data.flip_normals()
    assert over([floor(), slab], at=[1.0, 3.0]) == pytest.approx([np.inf, 1.5])


def test_a_room_in_one_mesh_and_a_box_turned_inside_out_are_ceilings():
    room = [(x, y, z) for z in (0.0, 1.6) for x, y in ((-2, -3), (8, -3), (8, 3), (-2, 3))]
    assert over([mesh(room, [(0, 1, 2, 3), (7, 6, 5, 4)], "Room")], at=[3.0])[0] == pytest.approx(1.6)
    beam = box(2, -1, 1.4, 4, 1, 1.7, "Inside out")
    beam.data.flip_normals()
    assert over([floor(), beam], at=[3.0])[0] == pytest.approx(1.4)


def test_what_stands_or_rises_beside_the_path_is_no_ceiling():
    standing = box(1, 0.15, 0, 5, 0.3, 1.0, "Low wall"), box(1, -0.3, -0.2, 5, -0.15, 1.2, "Sunk into the floor")
    assert over([floor(), *standing]).open
    empty_scene()
    # A ditch with steep banks, one sheet: nothing of it is over anybody.
    y = np.array([-3.0, -0.2, -0.15, 0.15, 0.2, 3.0])
    banks = [(x, b, 1.2 * (abs(b) > 0.18)) for x in (-2.0, 8.0) for b in y]
    assert over([mesh(banks, [(k, k + 6, k + 7, k + 1) for k in range(5)], "Ditch")]).open


def test_what_reaches_over_a_shoulder_is_a_ceiling():
    assert over([floor(), box(3, 0.15, 1.4, 4, 1, 1.6, "Ledge")], at=[3.5])[0] == pytest.approx(1.4)
    assert over([floor(), box(3, 0.4, 1.4, 4, 1, 1.6, "Farther ledge")]).open


def test_upper_floors_do_not_matter_and_nor_does_the_floor_below():
    storeys = [floor(), plane(-2, -3, 8, 3, 2.6, "First"), plane(-2, -3, 8, 3, 5.2, "Second")]
    ceiling = over(storeys)
    assert np.allclose(ceiling.height, 2.6), "the lowest"
    assert low_spans(ceiling, np.zeros(len(ceiling.arc)), 1.9) == ()
    assert np.allclose(over(storeys, LINE + [0, 0, 2.6]).height, 5.2)
    assert over(storeys, LINE + [0, 0, 5.2]).open


def test_a_bridge_is_overhead_below_it_and_not_on_it():
    ramp = mesh([(2, -3, 0), (2, 3, 0), (5, -3, 1.9), (5, 3, 1.9)], [(0, 2, 3, 1)], "Ramp")
    deck = box(5, -3, 1.7, 8, 3, 1.9, "Deck")
    parts = [plane(-2, -3, 12, 3), ramp, deck]
    below = over(parts, np.array([(9.0, 0.0, 0.0), (6.0, 0.0, 0.0)]), at=[0.5, 2.5])
    assert below == pytest.approx([np.inf, 1.7])
    assert over(parts, np.array([(0.0, 0.0, 0.0), (7.0, 0.0, 0.0), (7.0, 2.5, 0.0)])).open, "up the ramp, on the deck"


def test_the_same_ceiling_is_not_looked_for_twice():
    parts = [floor(), box(2, -1, 1.3, 4, 1, 1.5)]
    assert read_surroundings(parts, LINE)[1] is read_surroundings(parts, LINE)[1]


def test_the_crown_is_the_heads_own_mesh_with_its_hat():
    ob = armature_of(biped(), root=True)
    assert crowns.crown_of(ob, rigs.read_rig(ob)).standing == pytest.approx(1.5 / 0.87, abs=1e-3)
    hat = mesh([(0.1 * np.cos(z), 0.1 * np.sin(z), z) for z in np.linspace(1.5, 1.95, 20)], [], "Hat")
    hat.vertex_groups.new(name="Head").add(range(20), 1.0, "REPLACE")
    hat.modifiers.new("Armature", "ARMATURE").object = ob
    assert crowns.crown_of(ob, rigs.read_rig(ob)).standing == pytest.approx(1.95, abs=1e-3)
    ob.scale = (2.0, 2.0, 2.0)
    hat.parent = ob
    assert crowns.crown_of(ob, rigs.read_rig(ob)).standing == pytest.approx(3.9, abs=2e-3)


def test_reversed_and_closed_curves_meet_the_ceiling_where_it_is():
    ob = armature_of(biped(), root=True)
    parts = [floor(), box(1, -2, 1.3, 2, 2, 1.5)]
    line = poly_curve([(0, 0, 0), (6, 0, 0)])
    assert read_shot(ob, line, parts).ceiling.over(np.array([1.5, 4.5])) == pytest.approx([1.3, np.inf])
    back = read_shot(ob, line, parts, reverse=True)
    assert back.ceiling.over(np.array([1.5, 4.5])) == pytest.approx([np.inf, 1.3])
    ring = poly_curve([(1.5, -1, 0), (6, -1, 0), (6, 1, 0), (1.5, 1, 0)], "Ring", cyclic=True)
    closed = read_shot(ob, ring, parts)
    assert closed.ceiling.cyclic and closed.path.length == pytest.approx(13.0)
    assert closed.ceiling.over(np.array([0.2, 5.0, 12.0, 13.1])) == pytest.approx([1.3, np.inf, 1.3, 1.3])
    assert read_shot(ob, line, [floor()]).overhead is None
    assert read_shot(ob, line).overhead is None


class Croucher(Glider):
    """A glider that sinks as far as it is asked to crouch: the head's joint, 1.5 m high, down to 0.9 to 0.4 of that."""

    def __call__(self, inputs, phase):
        parts = {block.name: INPUTS.get(inputs, block.name) for block in INPUTS.blocks}
        gaits = parts["gaits"].reshape(-1, SAMPLES, 3)
        found = super().__call__(input_layout(20, 2).join(**parts | {"gaits": gaits[..., :2].reshape(-1, 24)}), phase)
        crouch = gaits[:, PAST, 2:]
        OUTPUTS.get(found, "joint_positions")[:, 2::3] -= 1.5 * (0.5 * crouch + np.minimum(0.1, crouch))
        return found


def croucher(able: Abilities) -> Pfnn:
    start = np.zeros((1, INPUTS.size), np.float32)
    INPUTS.get(start, "trajectory_directions")[:, 1::2] = -1.0
    return Pfnn(biped(), 60.0, GAITS, Croucher(), start, np.zeros(1, np.float32), abilities=able)


@pytest.mark.parametrize("size", [0.7, 1.0])
def test_a_body_of_any_size_crouches_under_a_tunnel_and_its_report_says_how_much_room_is_left(size):
    ob = armature_of(sized_skeleton(biped(), size), root=True)
    parts = [floor(), box(2.5, -2, 1.3 * size, 4, 2, 3)]
    shot = read_shot(ob, poly_curve([(0, 0, 0), (6, 0, 0)]), parts)
    settings = BakeSettings(schedule=Schedule.constant(0.8), limits=Limits(stand_before=0.2, stand_after=0.3))
    low = solve(shot, croucher(Abilities(Crouch(0.8, 1.0, 0.6))), settings, speeds=(0.3, 2.0))
    room = low.report["headroom"]
    assert room.mark == "good" and room.value < 15.0 * size
    assert any(note.startswith("Crouches from 2.5") for note in low.notes)
    assert any(f"{0.6 * size:.2f} m/s is used" in note for note in low.notes)
    inside = (low.plan.distance > 2.2) & (low.plan.distance < 4.0)
    assert low.plan.speed[inside].max() < 0.6 * size + 0.01
    upright = solve(shot, croucher(Abilities()), settings, speeds=(0.3, 2.0))
    assert upright.report["headroom"].mark == "bad" and upright.report["headroom"].value < -25.0 * size
    assert any("does not crouch" in note for note in upright.notes)
    tops = [solved.clip.hips[[0, -1], 2] for solved in (low, upright)]
    assert np.allclose(tops[0], tops[1], atol=0.02), "upright again at both ends"


def test_a_bake_under_the_open_sky_says_nothing_of_ceilings():
    ob = armature_of(biped(), root=True)
    shot = read_shot(ob, poly_curve([(0, 0, 0), (4, 0, 0)]), [floor()])
    settings = BakeSettings(schedule=Schedule.constant(0.8), limits=Limits(stand_before=0.2, stand_after=0.3))
    solved = solve(shot, croucher(Abilities(Crouch(0.8, 1.0, 0.6))), settings, speeds=(0.3, 2.0))
    assert solved.report.get("headroom") is None and not np.any(solved.plan.depth)
    assert not any("ceiling" in note for note in solved.notes)


def test_a_closed_room_that_is_walked_on_by_its_roof_is_told_and_flipped_it_is_walked_in():
    ob, line = armature_of(biped(), root=True), poly_curve([(0, 0, 0), (6, 0, 0)])
    room = box(-2, -3, 0, 8, 3, 2.6, "Room")
    on_the_roof = read_shot(ob, line, room)
    assert on_the_roof.ground.height(np.array([[3.0, 0.0]]))[0] == pytest.approx(2.6)
    (note,) = on_the_roof.notes
    assert "2.6 m above" in note and "flip its normals" in note
    room.data.flip_normals()
    inside = read_shot(ob, line, room)
    assert inside.ground.height(np.array([[3.0, 0.0]]))[0] == pytest.approx(0.0)
    assert inside.notes == () and inside.ceiling.over(np.array([3.0]))[0] == pytest.approx(2.6)
