"""Curve objects of every kind as polylines in metres."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from blender_addon.motion.errors import PathError
from blender_addon.motion.path import RootPath
from blender_addon.scene.curves import SPACING, polyline, read_curve
from tests.addon.rig_makers import empty_scene, poly_curve


@pytest.fixture(autouse=True)
def scene():
    empty_scene()


def root_path(ob) -> RootPath:
    return RootPath.from_points(*polyline(ob))


def bezier(points, handles="AUTO", cyclic=False):
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("BEZIER")
    spline.bezier_points.add(len(points) - 1)
    for point, place in zip(spline.bezier_points, points, strict=True):
        point.co = place
        point.handle_left_type = point.handle_right_type = handles
    spline.use_cyclic_u = cyclic
    ob = bpy.data.objects.new("Path", data)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.update()
    return ob


def circle():
    """A unit circle of four Bezier points."""
    ob = bezier([(1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0)], "FREE", cyclic=True)
    reach = 0.5522847
    for point in ob.data.splines[0].bezier_points:
        x, y, _ = point.co
        point.handle_left = (x + y * reach, y - x * reach, 0)
        point.handle_right = (x - y * reach, y + x * reach, 0)
    return ob


def test_poly_corners_stay_where_they_are() -> None:
    corners = [(0, 0, 0), (0, -3, 0), (3, -3, 0)]
    points, cyclic = polyline(poly_curve(corners))
    assert np.allclose(points, corners) and not cyclic


def test_a_bezier_circle_is_round_dense_and_closed() -> None:
    points, cyclic = polyline(circle())
    assert cyclic
    radius = np.linalg.norm(points[:, :2], axis=1)
    assert np.abs(radius - 1).max() < 3e-4
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert steps.max() <= SPACING * 1.05 and steps.min() > 0.5 * SPACING
    assert np.isclose(root_path(circle()).length, 2 * np.pi, rtol=3e-4)


def test_vector_handles_make_sharp_corners_without_points_between() -> None:
    points, _ = polyline(bezier([(0, 0, 0), (2, 0, 0), (2, 2, 0)], "VECTOR"))
    assert np.allclose(points, [(0, 0, 0), (2, 0, 0), (2, 2, 0)], atol=1e-6)


def test_free_handles_that_break_keep_their_vertex() -> None:
    ob = bezier([(0, 0, 0), (2, 0, 0), (4, 0, 0)], "FREE")
    middle = ob.data.splines[0].bezier_points[1]
    middle.handle_left, middle.handle_right = (2, 1, 0), (2, 1, 0)
    points, _ = polyline(ob)
    assert np.linalg.norm(points - [2, 0, 0], axis=1).min() < 1e-6


def test_nurbs_with_a_bevel_are_read_as_a_line_and_the_scene_is_left_alone() -> None:
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions, data.bevel_depth = "3D", 0.2
    spline = data.splines.new("NURBS")
    spline.points.add(5)
    for k, point in enumerate(spline.points):
        point.co = (2 * k, (k % 2), 0, 1)
    spline.order_u, spline.use_endpoint_u = 4, True
    ob = bpy.data.objects.new("Path", data)
    bpy.context.scene.collection.objects.link(ob)
    points, _ = polyline(ob)
    assert np.allclose(points[0], [0, 0, 0], atol=1e-5) and np.allclose(points[-1], [10, 1, 0], atol=1e-5)
    assert np.abs(points[:, 1]).max() <= 1.0 and np.ptp(points[:, 2]) < 1e-6
    assert np.linalg.norm(np.diff(points, axis=0), axis=1).max() < 0.1
    assert len(bpy.data.objects) == 1 and len(bpy.data.curves) == 1 and data.bevel_depth > 0


def test_scale_parent_and_scene_units_count() -> None:
    ob = poly_curve([(0, 0, 0), (1, 0, 0)])
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location, parent.rotation_euler.z, parent.scale = (5, 0, 1), np.pi / 2, (2, 2, 2)
    ob.parent, ob.scale = parent, (3, 3, 3)
    bpy.context.scene.unit_settings.scale_length = 0.1
    points, _ = polyline(ob)
    assert np.allclose(points, [(0.5, 0, 0.1), (0.5, 0.6, 0.1)], atol=1e-5)


def test_modifiers_are_applied() -> None:
    ob = poly_curve([(0, 0, 0), (1, 0, 0), (2, 0, 0)])
    hook = ob.modifiers.new("Lift", "SIMPLE_DEFORM")
    hook.deform_method, hook.deform_axis, hook.factor = "STRETCH", "X", 1.0
    points, _ = polyline(ob)
    assert np.ptp(points[:, 0]) > 2.5


def test_of_several_splines_the_longest_is_taken_with_a_note() -> None:
    ob = poly_curve([(0, 0, 0), (1, 0, 0)])
    other = ob.data.splines.new("POLY")
    other.points.add(1)
    other.points[1].co = (0, 5, 0, 1)
    found = read_curve(ob)
    assert np.isclose(np.ptp(found.points[:, 1]), 5) and "2 splines" in found.notes[0]


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: None, "no root curve"),
        (lambda: bpy.data.objects.new("Empty", None), "no curve"),
        (lambda: bpy.data.objects.new("Bare", bpy.data.curves.new("Bare", "CURVE")), "no points"),
        (lambda: poly_curve([(1, 1, 0), (1, 1, 0)]), "no length"),
        (lambda: poly_curve([(1, 1, 0), (1, 1, 5)]), "no length"),
        (lambda: poly_curve([(1, 1, 0)]), "one point|no length"),
        (lambda: poly_curve([(0, 0, 0), (float("nan"), 0, 0)]), "not finite"),
        (lambda: poly_curve([(0, 0, 0), (float("inf"), 0, 0)]), "not finite|km long"),
    ],
)
def test_what_nobody_can_walk_along_is_refused_with_a_remedy(make, said) -> None:
    with pytest.raises(PathError, match=said) as caught:
        root_path(make())
    assert caught.value.remedy


def test_doubled_points_do_no_harm() -> None:
    path = root_path(poly_curve([(0, 0, 0), (0, 0, 0), (1, 0, 0), (1, 0, 0), (1, 1, 0)]))
    assert np.isclose(path.length, 2.0)
