"""Rotations against scipy's Rotation, and the promises that the docstrings make."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.transform import Rotation

from blender_addon.motion import rotations as rot

ANGLES = st.floats(-20.0, 20.0)
COMPONENTS = st.floats(-1.0, 1.0).map(lambda x: round(x, 6))


@st.composite
def quaternions(draw: st.DrawFn, count: int = 5) -> np.ndarray:
    raw = draw(hnp.arrays(np.float64, (count, 4), elements=COMPONENTS))
    assume(np.all(np.linalg.norm(raw, axis=-1) > 1e-3))
    return raw / np.linalg.norm(raw, axis=-1, keepdims=True)


@st.composite
def unit_vectors(draw: st.DrawFn, count: int = 5) -> np.ndarray:
    raw = draw(hnp.arrays(np.float64, (count, 3), elements=COMPONENTS))
    assume(np.all(np.linalg.norm(raw, axis=-1) > 1e-3))
    return raw / np.linalg.norm(raw, axis=-1, keepdims=True)


def vectors(count: int = 5, size: float = 10.0) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float64, (count, 3), elements=st.floats(-size, size))


def scipy_of(q: np.ndarray) -> Rotation:
    """Scipy puts the scalar last."""
    return Rotation.from_quat(np.roll(q, -1, axis=-1).reshape(-1, 4))


def assert_same_rotation(a: np.ndarray, b: np.ndarray, atol: float = 1e-9) -> None:
    """Equal up to sign."""
    a, b = np.asarray(a).reshape(-1, 4), np.asarray(b).reshape(-1, 4)
    sign = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    np.testing.assert_allclose(a, b * sign, atol=atol)


@given(quaternions(), quaternions())
def test_mul_applies_the_second_factor_first(a: np.ndarray, b: np.ndarray) -> None:
    want = (scipy_of(a) * scipy_of(b)).as_quat()
    assert_same_rotation(rot.mul(a, b), np.roll(want, 1, axis=-1))


@given(quaternions(), vectors())
def test_rotate_agrees_with_scipy_and_is_undone_by_inv_rotate(q: np.ndarray, v: np.ndarray) -> None:
    turned = rot.rotate(q, v)
    np.testing.assert_allclose(turned, scipy_of(q).apply(v), atol=1e-9)
    np.testing.assert_allclose(rot.inv_rotate(q, turned), v, atol=1e-9)


@given(quaternions(), quaternions())
def test_inv_mul_takes_one_frame_into_another(a: np.ndarray, b: np.ndarray) -> None:
    assert_same_rotation(rot.mul(a, rot.inv_mul(a, b)), b)


@given(quaternions())
def test_matrices_agree_with_scipy_both_ways(q: np.ndarray) -> None:
    matrices = rot.to_matrix(q)
    np.testing.assert_allclose(matrices, scipy_of(q).as_matrix(), atol=1e-12)
    assert_same_rotation(rot.from_matrix(matrices), q)


@pytest.mark.parametrize("axis", np.eye(3).tolist() + [[0.6, 0.8, 0.0], [1 / 3, 2 / 3, 2 / 3]])
@pytest.mark.parametrize("angle", [np.pi, np.pi - 1e-7, -np.pi, 1e-9, 0.0])
def test_from_matrix_is_exact_at_half_turns_and_near_none(axis: list[float], angle: float) -> None:
    q = rot.from_axis_angle(np.array(axis), angle)
    assert_same_rotation(rot.from_matrix(rot.to_matrix(q)), q, atol=1e-12)


@given(quaternions())
def test_six_numbers_are_the_first_two_columns(q: np.ndarray) -> None:
    six = rot.to_6d(q)
    matrices = scipy_of(q).as_matrix()
    np.testing.assert_allclose(six, np.concatenate([matrices[:, :, 0], matrices[:, :, 1]], axis=-1), atol=1e-12)
    assert_same_rotation(rot.from_6d(six), q)


@given(quaternions(), st.floats(0.5, 2.0), st.floats(-0.3, 0.3))
def test_six_numbers_that_a_network_bent_still_make_a_rotation(q: np.ndarray, scale: float, lean: float) -> None:
    six = rot.to_6d(q)
    six = np.concatenate([six[:, :3] * scale, six[:, 3:] + lean * six[:, :3]], axis=-1)
    assert_same_rotation(rot.from_6d(six), q)


@given(vectors(size=3.0))
def test_exp_agrees_with_scipy(v: np.ndarray) -> None:
    assert_same_rotation(rot.exp(v), np.roll(Rotation.from_rotvec(v).as_quat(), 1, axis=-1))


@given(quaternions())
def test_log_goes_the_shorter_way(q: np.ndarray) -> None:
    v = rot.log(q)
    assert np.all(np.linalg.norm(v, axis=-1) <= np.pi + 1e-12)
    assert_same_rotation(rot.exp(v), q)
    np.testing.assert_allclose(np.linalg.norm(v, axis=-1), scipy_of(q).magnitude(), atol=1e-9)


@given(st.floats(1e-14, 1e-4))
def test_log_and_exp_keep_tiny_angles(angle: float) -> None:
    v = np.array([0.0, angle, 0.0])
    np.testing.assert_allclose(rot.log(rot.exp(v)), v, rtol=1e-9)


@given(quaternions(), quaternions())
def test_angle_between_agrees_with_scipy(a: np.ndarray, b: np.ndarray) -> None:
    want = (scipy_of(a).inv() * scipy_of(b)).magnitude()
    np.testing.assert_allclose(rot.angle_between(a, b), want, atol=1e-7)


@given(unit_vectors(), unit_vectors())
def test_between_turns_one_direction_onto_the_other_and_no_further(a: np.ndarray, b: np.ndarray) -> None:
    q = rot.between(a, b)
    np.testing.assert_allclose(rot.rotate(q, a), b, atol=1e-7)
    angle = np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), np.sum(a * b, axis=-1))
    np.testing.assert_allclose(np.linalg.norm(rot.log(q), axis=-1), angle, atol=1e-6)


@given(
    unit_vectors(1), st.sampled_from([0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-3]), st.sampled_from([1.0, 0.9999999, 1.0000001])
)  # fmt: skip
def test_between_knows_opposite_directions(a: np.ndarray, off: float, length: float) -> None:
    b = -a * np.cos(off) + rot.perpendicular(a) * np.sin(off)
    np.testing.assert_allclose(rot.rotate(rot.between(a, b * length), a), b, atol=1e-6)


@given(unit_vectors())
def test_perpendicular_is_a_unit_vector_at_right_angles(v: np.ndarray) -> None:
    p = rot.perpendicular(v)
    np.testing.assert_allclose(np.sum(p * v, axis=-1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(p, axis=-1), 1.0, atol=1e-12)


@given(quaternions(2), st.floats(0.0, 1.0))
def test_slerp_agrees_with_scipy(ends: np.ndarray, t: float) -> None:
    from scipy.spatial.transform import Slerp

    assume(rot.angle_between(ends[0], ends[1]) < np.pi - 1e-3)
    want = Slerp([0.0, 1.0], scipy_of(ends))([t]).as_quat()
    assert_same_rotation(rot.slerp(ends[0], ends[1], t), np.roll(want, 1, axis=-1), atol=1e-7)


@given(ANGLES)
def test_yaw_and_direction_are_each_other_s_inverse(yaw: float) -> None:
    direction = rot.direction_of_yaw(yaw)
    np.testing.assert_allclose(rot.wrap_angle(rot.yaw_of_direction(direction) - yaw), 0.0, atol=1e-9)
    np.testing.assert_allclose(rot.rotate(rot.from_yaw(yaw), rot.FORWARD)[:2], direction, atol=1e-12)


def test_yaw_is_counter_clockwise_from_above_and_zero_faces_minus_y() -> None:
    np.testing.assert_allclose(rot.direction_of_yaw(0.0), [0.0, -1.0], atol=1e-12)
    # A quarter turn to the left ends facing +X, where the character's left was.
    np.testing.assert_allclose(rot.direction_of_yaw(np.pi / 2), [1.0, 0.0], atol=1e-12)


@given(ANGLES, hnp.arrays(np.float64, (4, 2), elements=st.floats(-5, 5)))
def test_rotate_2d_is_the_turn_about_up(yaw: float, v: np.ndarray) -> None:
    deep = np.concatenate([v, np.zeros((4, 1))], axis=-1)
    np.testing.assert_allclose(rot.rotate_2d(yaw, v), rot.rotate(rot.from_yaw(yaw), deep)[:, :2], atol=1e-12)


@given(ANGLES)
def test_wrap_angle_keeps_the_direction_and_stays_in_range(angle: float) -> None:
    wrapped = float(rot.wrap_angle(angle))
    assert -np.pi <= wrapped <= np.pi
    np.testing.assert_allclose([np.cos(wrapped), np.sin(wrapped)], [np.cos(angle), np.sin(angle)], atol=1e-9)


@given(quaternions(8), hnp.arrays(np.bool_, 8))
def test_unroll_keeps_rotations_and_leaves_no_jump_of_sign(q: np.ndarray, flips: np.ndarray) -> None:
    smooth = rot.unroll(np.where(flips[:, None], -q, q))
    assert_same_rotation(smooth, q)
    assert np.all(np.sum(smooth[1:] * smooth[:-1], axis=-1) >= 0.0)


def test_unroll_works_along_any_axis_and_leaves_its_argument_alone() -> None:
    rng = np.random.default_rng(1)
    q = rot.normalize(rng.normal(size=(3, 10, 4)))
    before = q.copy()
    np.testing.assert_array_equal(rot.unroll(q, axis=1), np.stack([rot.unroll(part) for part in q]))
    np.testing.assert_array_equal(q, before)


def test_a_quaternion_of_zeros_becomes_the_identity() -> None:
    np.testing.assert_array_equal(rot.normalize(np.zeros((2, 4))), np.tile(rot.IDENTITY, (2, 1)))


@given(unit_vectors(1), st.floats(-8.0, 8.0))
def test_a_steady_turn_has_its_angular_velocity_everywhere(axis: np.ndarray, speed: float) -> None:
    dt = 1.0 / 60.0
    start = rot.exp(np.array([0.3, -0.2, 0.9]))
    q = rot.mul(rot.exp(np.arange(20)[:, None] * dt * speed * axis[0]), start)
    np.testing.assert_allclose(rot.angular_velocity(q, dt), np.tile(speed * axis[0], (20, 1)), atol=1e-6)


def test_one_sample_has_no_angular_velocity() -> None:
    np.testing.assert_array_equal(rot.angular_velocity(rot.IDENTITY[None], 0.1), np.zeros((1, 3)))


def test_functions_broadcast_over_leading_axes() -> None:
    rng = np.random.default_rng(2)
    a, b = rot.normalize(rng.normal(size=(4, 1, 4))), rot.normalize(rng.normal(size=(6, 4)))
    product = rot.mul(a, b)
    assert product.shape == (4, 6, 4)
    assert_same_rotation(product[2, 3], rot.mul(a[2, 0], b[3]))
    assert rot.rotate(a, np.array([1.0, 0.0, 0.0])).shape == (4, 1, 3)
    assert rot.from_axis_angle(rot.UP, np.zeros((2, 3))).shape == (2, 3, 4)
