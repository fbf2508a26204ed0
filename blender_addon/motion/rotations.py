"""Rotations as unit quaternions ``wxyz``, angles in radians.

Every function takes arrays of any leading shape and broadcasts over it. The last axis holds the
quaternion (4), the vector (3), the 6D form (6); the last two hold a matrix (3, 3). Nothing here
knows of skeletons or time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

IDENTITY: Array = np.array([1.0, 0.0, 0.0, 0.0])
#: Model space: a character faces -Y and stands along +Z; its left is +X.
FORWARD: Array = np.array([0.0, -1.0, 0.0])
UP: Array = np.array([0.0, 0.0, 1.0])

_TINY = 1e-12


def normalize(q: Array) -> Array:
    """Scale quaternions (..., 4) to unit length; a zero quaternion becomes the identity."""
    q = np.asarray(q, dtype=np.float64)
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(length > _TINY, q / np.maximum(length, _TINY), IDENTITY)


def mul(a: Array, b: Array) -> Array:
    """Hamilton product (..., 4): the rotation that applies ``b`` first, then ``a``."""
    aw, ax, ay, az = np.moveaxis(np.asarray(a), -1, 0)
    bw, bx, by, bz = np.moveaxis(np.asarray(b), -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def inv(q: Array) -> Array:
    """Inverse (conjugate) of unit quaternions (..., 4)."""
    return np.asarray(q) * np.array([1.0, -1.0, -1.0, -1.0])


def inv_mul(a: Array, b: Array) -> Array:
    """``inv(a) * b``: the rotation ``b`` as seen from the frame ``a``."""
    return mul(inv(a), b)


def rotate(q: Array, v: Array) -> Array:
    """Rotate vectors (..., 3) by unit quaternions (..., 4)."""
    q, v = np.asarray(q), np.asarray(v)
    axis = q[..., 1:]
    t = 2.0 * _cross(axis, v)
    return v + q[..., :1] * t + _cross(axis, t)


def inv_rotate(q: Array, v: Array) -> Array:
    """Rotate vectors (..., 3) by the inverse of unit quaternions (..., 4)."""
    return rotate(inv(q), v)


def positive(q: Array) -> Array:
    """The one of ``q`` and ``-q`` (..., 4) with a scalar part that is not negative."""
    q = np.asarray(q)
    return np.where(q[..., :1] < 0.0, -q, q)


def unroll(q: Array, axis: int = 0) -> Array:
    """Choose signs along ``axis`` so that neighbouring quaternions lie in one hemisphere."""
    q = np.moveaxis(np.array(q, dtype=np.float64), axis, 0)
    if len(q) > 1:
        flips = np.sum(q[1:] * q[:-1], axis=-1) < 0.0
        signs = np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)
        q[1:] *= signs[..., None]
    return np.moveaxis(q, 0, axis)


def from_axis_angle(axis: Array, angle: Array | float) -> Array:
    """Rotation about unit vectors (..., 3) by angles (...) in radians."""
    half = 0.5 * np.asarray(angle, dtype=np.float64)[..., None]
    axis = np.asarray(axis, dtype=np.float64)
    scalar, vector = np.broadcast_arrays(np.cos(half), np.sin(half) * axis)
    return np.concatenate([scalar[..., :1], vector], axis=-1)


def from_yaw(yaw: Array | float) -> Array:
    """Rotation about the up axis by ``yaw`` (...), counter-clockwise from above."""
    return from_axis_angle(UP, yaw)


def direction_of_yaw(yaw: Array | float) -> Array:
    """The horizontal facing (..., 2) of a character turned by ``yaw`` (...) from -Y."""
    yaw = np.asarray(yaw, dtype=np.float64)
    return np.stack([np.sin(yaw), -np.cos(yaw)], axis=-1)


def yaw_of_direction(direction: Array) -> Array:
    """The yaw (...) whose facing is the horizontal part of ``direction`` (..., 2 or 3)."""
    direction = np.asarray(direction)
    return np.arctan2(direction[..., 0], -direction[..., 1])


def rotate_2d(yaw: Array | float, v: Array) -> Array:
    """Rotate horizontal vectors (..., 2) by ``yaw`` (...) about the up axis."""
    yaw, v = np.asarray(yaw), np.asarray(v)
    c, s = np.cos(yaw), np.sin(yaw)
    return np.stack([c * v[..., 0] - s * v[..., 1], s * v[..., 0] + c * v[..., 1]], axis=-1)


def wrap_angle(angle: Array | float) -> Array:
    """Bring angles (...) into [-pi, pi)."""
    return (np.asarray(angle) + np.pi) % (2.0 * np.pi) - np.pi


def exp(v: Array) -> Array:
    """Quaternion (..., 4) of a rotation vector (..., 3): axis times angle in radians."""
    v = np.asarray(v, dtype=np.float64)
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    half = 0.5 * angle
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * v], axis=-1)


def log(q: Array) -> Array:
    """Rotation vector (..., 3) of a unit quaternion, the shorter way round (angle <= pi)."""
    q = positive(q)
    length = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(length, q[..., :1])
    scale = np.where(length > 1e-9, angle / np.maximum(length, _TINY), 2.0)
    return scale * q[..., 1:]


def angle_between(a: Array, b: Array) -> Array:
    """Angle (...) in radians between two rotations, in [0, pi]."""
    return np.linalg.norm(log(inv_mul(a, b)), axis=-1)


def between(a: Array, b: Array) -> Array:
    """The shortest rotation (..., 4) that turns vectors ``a`` into the direction of ``b`` (..., 3); any length."""
    a, b = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
    dot = np.sum(a * b, axis=-1, keepdims=True)
    # Not 1 + dot: near opposite directions an error of 1e-7 in the lengths would be all that is left.
    lengths = np.sqrt(np.sum(a * a, axis=-1, keepdims=True) * np.sum(b * b, axis=-1, keepdims=True))
    q = np.concatenate([lengths + dot, _cross(a, b)], axis=-1)
    opposite = dot[..., 0] < (-1.0 + 1e-13) * lengths[..., 0]
    if np.any(opposite):
        q = np.where(
            opposite[..., None],
            np.concatenate([np.zeros_like(dot), perpendicular(a)], axis=-1),
            q,
        )
    return normalize(q)


def perpendicular(v: Array) -> Array:
    """Some unit vector (..., 3) at right angles to ``v`` (..., 3)."""
    v = np.asarray(v, dtype=np.float64)
    helper = np.where(np.abs(v[..., :1]) < 0.8 * np.linalg.norm(v, axis=-1, keepdims=True),
                      np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))  # fmt: skip
    p = _cross(v, helper)
    return p / np.maximum(np.linalg.norm(p, axis=-1, keepdims=True), _TINY)


def slerp(a: Array, b: Array, t: Array | float) -> Array:
    """Spherical interpolation (..., 4) the shorter way; ``t`` (...) in 0..1."""
    t = np.asarray(t, dtype=np.float64)[..., None]
    return mul(a, exp(t * log(inv_mul(a, b))))


def to_matrix(q: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(np.asarray(q), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(m: Array) -> Array:
    """Unit quaternions (..., 4), scalar part not negative, of rotation matrices (..., 3, 3).

    Builds the four candidates and keeps the best conditioned one (Shepperd's method).
    """
    m = np.asarray(m, dtype=np.float64)
    m00, m01, m02 = m[..., 0, 0], m[..., 0, 1], m[..., 0, 2]
    m10, m11, m12 = m[..., 1, 0], m[..., 1, 1], m[..., 1, 2]
    m20, m21, m22 = m[..., 2, 0], m[..., 2, 1], m[..., 2, 2]
    candidates = np.stack(
        [
            np.stack([1 + m00 + m11 + m22, m21 - m12, m02 - m20, m10 - m01], axis=-1),
            np.stack([m21 - m12, 1 + m00 - m11 - m22, m10 + m01, m02 + m20], axis=-1),
            np.stack([m02 - m20, m10 + m01, 1 - m00 + m11 - m22, m21 + m12], axis=-1),
            np.stack([m10 - m01, m02 + m20, m21 + m12, 1 - m00 - m11 + m22], axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(np.linalg.norm(candidates, axis=-1), axis=-1)
    q = np.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :]
    return positive(normalize(q))


def to_6d(q: Array) -> Array:
    """The first two columns of the matrix (..., 6): x axis, then y axis (Zhou et al. 2019)."""
    m = to_matrix(q)
    return np.concatenate([m[..., :, 0], m[..., :, 1]], axis=-1)


def from_6d(r: Array) -> Array:
    """Quaternions (..., 4) of two axes (..., 6), orthonormalised by Gram-Schmidt."""
    r = np.asarray(r, dtype=np.float64)
    x = r[..., :3] / np.maximum(np.linalg.norm(r[..., :3], axis=-1, keepdims=True), _TINY)
    y = r[..., 3:] - np.sum(x * r[..., 3:], axis=-1, keepdims=True) * x
    y = y / np.maximum(np.linalg.norm(y, axis=-1, keepdims=True), _TINY)
    return from_matrix(np.stack([x, y, _cross(x, y)], axis=-1))


def angular_velocity(q: Array, dt: float, axis: int = 0) -> Array:
    """Angular velocity (..., 3), rad/s, of rotations sampled every ``dt`` seconds along ``axis``.

    Expressed in the frame the rotations are given in (world for world rotations): central
    differences inside, one-sided at both ends. A single sample has velocity zero.
    """
    q = np.moveaxis(np.asarray(q, dtype=np.float64), axis, 0)
    out = np.zeros((*q.shape[:-1], 3))
    if len(q) > 1:
        steps = log(mul(q[1:], inv(q[:-1]))) / dt
        out[0], out[-1] = steps[0], steps[-1]
        out[1:-1] = 0.5 * (steps[1:] + steps[:-1])
    return np.moveaxis(out, 0, axis)


def _cross(a: Array, b: Array) -> Array:
    # np.cross is several times slower on small arrays: it validates and moves axes every call.
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)
