"""Grounds of all sorts as fields of heights, against heights known beforehand."""

from __future__ import annotations

import time

import bpy
import numpy as np
import pytest

from blender_addon.motion.errors import TerrainError
from blender_addon.scene.terrain import height_field, read_ground, read_triangles
from tests.addon.rig_makers import empty_scene

LINE = np.array([(0.0, 0.0, 0.0), (6.0, 0.0, 0.0)])


@pytest.fixture(autouse=True)
def scene():
    empty_scene()


def mesh(vertices, faces, name="Ground"):
    data = bpy.data.meshes.new(name)
    data.from_pydata([tuple(v) for v in vertices], [], [tuple(f) for f in faces])
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def plane(x0, y0, x1, y1, z=0.0, name="Plane"):
    return mesh([(x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)], [(0, 1, 2, 3)], name)


def box(x0, y0, z0, x1, y1, z1, name="Box"):
    low, high = (x0, y0, z0), (x1, y1, z1)
    v = [(x, y, z) for z in (low[2], high[2]) for y in (low[1], high[1]) for x in (low[0], high[0])]
    return mesh(v, [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)], name)


def hills(size=8.0, count=160):
    x = np.linspace(-1, -1 + size, count)
    grid = np.stack(np.meshgrid(x, x - size / 2 + 1, indexing="ij"), axis=-1).reshape(-1, 2)
    z = 0.3 * np.sin(grid[:, 0]) * np.cos(grid[:, 1])
    k = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    faces = np.stack([k, k + count, k + count + 1, k + 1], axis=-1)
    return mesh(np.column_stack([grid, z]), faces, "Hills")


def test_hills_are_met_to_a_millimetre_in_a_third_of_a_second() -> None:
    ground = read_triangles([hills()])
    begin = time.perf_counter()
    field = height_field(ground, LINE)
    took = time.perf_counter() - begin
    at = np.random.default_rng(0).uniform((0, -1), (6, 1), (500, 2))
    assert np.abs(field.height(at) - 0.3 * np.sin(at[:, 0]) * np.cos(at[:, 1])).max() < 1e-3
    print(f"{field.heights.size} heights from {len(ground.faces)} triangles: {took:.3f} s")
    assert took < 2.0


def test_a_slope_is_met_beside_the_path_too() -> None:
    ob = plane(-2, -3, 8, 3)
    ob.rotation_euler.x = np.radians(15)
    field = read_ground(ob, LINE)
    y = np.linspace(-1, 1, 9)
    assert np.allclose(field.height(np.stack([np.full(9, 3.3), y], -1)), np.tan(np.radians(15)) * y, atol=1e-5)


def stairs(open_below: bool):
    """Treads of 18 x 30 cm from x = 1 on, over a floor."""
    parts = [plane(-2, -3, 8, 3)]
    for k in range(6):
        bottom = 0.18 * (k + 1) - 0.04 if open_below else 0.0
        parts.append(box(1 + 0.3 * k, -1, bottom, 1 + 0.3 * (k + 1), 1, 0.18 * (k + 1)))
    return parts


@pytest.mark.parametrize("open_below", [False, True])
def test_stairs_are_climbed_tread_by_tread(open_below) -> None:
    line = np.array([(0.0, 0.0, 0.0), (2.7, 0.0, 0.0)])
    field = read_ground(stairs(open_below), line)
    treads = 1 + 0.3 * np.arange(6) + 0.15
    heights = field.height(np.stack([treads, np.zeros(6)], -1))
    assert np.allclose(heights, 0.18 * np.arange(1, 7), atol=1e-6)


def test_under_a_bridge_and_on_it_are_told_apart_by_where_the_walk_begins() -> None:
    floor, bridge = plane(-2, -3, 8, 3), plane(2, -2, 4, 2, 2.2, "Bridge")
    below = read_ground([floor, bridge], LINE)
    assert np.allclose(below.height(np.array([[3.0, 0.0]])), 0.0)
    above = read_ground([floor, bridge], np.array([(2.2, 0, 2.0), (3.8, 0, 2.0)]))
    assert np.allclose(above.height(np.array([[3.0, 0.0]])), 2.2)


def test_solids_are_stood_upon_even_when_the_curve_lies_below() -> None:
    field = read_ground(box(-2, -3, -1, 8, 3, 0.4), LINE - [0, 0, 1.0])
    assert np.allclose(field.height(np.array([[3.0, 0.0]])), 0.4)


def test_planes_seen_from_their_back_and_mirrored_ones_are_ground_too() -> None:
    ob = plane(-2, -3, 8, 3, 0.1)
    ob.data.flip_normals()
    assert np.allclose(read_ground(ob, LINE).height(np.array([[3.0, 0.0]])), 0.1)
    ob.scale = (1, -1, 1)
    assert np.allclose(read_ground(ob, LINE).height(np.array([[3.0, 0.0]])), 0.1)


def test_modifiers_collections_and_scene_units_count_and_the_character_does_not() -> None:
    from tests.addon.rig_makers import armature_of
    from tests.synthetic import biped

    hero = armature_of(biped())
    body = box(-0.3, -0.3, 0, 0.3, 0.3, 0.3, "Body")
    body.parent = hero
    ob = plane(-2, -3, 8, 3)
    lift = ob.modifiers.new("Lift", "DISPLACE")
    lift.strength, lift.direction, lift.mid_level = 1.0, "Z", 0.0
    collection = bpy.data.collections.new("Set")
    for part in (ob, body, hero):
        collection.objects.link(part)
    bpy.context.scene.unit_settings.scale_length = 0.5
    field = read_ground(collection, LINE / 2, hero)
    assert np.allclose(field.height(np.array([[0.0, 0.0], [1.5, 0.0]])), 0.5)


def test_instances_are_stood_upon() -> None:
    part = plane(-2, -3, 8, 3, 0.25)
    inner = bpy.data.collections.new("Inner")
    inner.objects.link(part)
    bpy.context.scene.collection.objects.unlink(part)
    holder = bpy.data.objects.new("Holder", None)
    holder.instance_type, holder.instance_collection = "COLLECTION", inner
    holder.location.z = 0.5
    bpy.context.scene.collection.objects.link(holder)
    assert np.allclose(read_ground(holder, LINE).height(np.array([[3.0, 0.0]])), 0.75)


def test_holes_are_flagged() -> None:
    field = read_ground([plane(-2, -3, 2, 3), plane(2.5, -3, 8, 3)], LINE)
    assert list(field.has_ground(np.array([[1.0, 0.0], [2.25, 0.0], [3.0, 0.0]]))) == [True, False, True]


@pytest.mark.parametrize("top", [0.9, 4.0])
def test_a_wall_across_the_path_is_refused_with_its_place(top) -> None:
    with pytest.raises(TerrainError, match="3.0 m from its start"):
        read_ground([plane(-2, -3, 8, 3), box(3, -1, 0, 3.2, 1, top)], LINE)


def test_a_wall_beside_the_path_and_a_kerb_under_it_are_not_walls_across() -> None:
    field = read_ground([plane(-2, -3, 8, 3), box(0, 0.6, 0, 8, 0.8, 3), box(3, -1, 0, 8, 1, 0.15, "Kerb")], LINE)
    assert np.allclose(field.height(np.array([[2.0, 0.0], [4.0, 0.0]])), [0.0, 0.15])


def test_no_ground_and_no_faces_are_refused() -> None:
    with pytest.raises(TerrainError, match="no ground under the path"):
        read_ground(plane(20, 20, 21, 21), LINE)
    with pytest.raises(TerrainError, match="no faces"):
        read_ground(mesh([(0, 0, 0)], []), LINE)
    with pytest.raises(TerrainError, match="nothing to stand on"):
        read_ground(bpy.data.collections.new("Nothing"), LINE)


def test_the_same_ground_is_not_drawn_twice_and_a_changed_one_is() -> None:
    ob = plane(-2, -3, 8, 3)
    first = read_ground(ob, LINE)
    assert read_ground(ob, LINE) is first
    ob.location.z = 0.3
    assert np.allclose(read_ground(ob, LINE).height(np.array([[1.0, 0.0]])), 0.3)
