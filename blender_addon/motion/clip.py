"""A clip: one piece of motion on one skeleton, in the world, at a fixed frame rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from . import rotations as rot
from .errors import ClipError
from .rotations import Array
from .skeleton import Skeleton

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Clip:
    """Motion in world space, with its root track and foot contacts.

    Only the hips move relative to their parent; every other joint keeps its skeleton's offset.

    Attributes:
        skeleton: the joints.
        fps: frames per second.
        hips: world position of joint 0 (frames, 3), metres.
        rotations: rotation of each joint in its parent's frame (frames, b, 4); joint 0's in the world.
        root: root transform on the ground (frames, 3): x, y in metres, yaw in radians (unwrapped).
        contacts: foot on the ground (frames, feet), columns left, right, or those of `animal.LEGS`.
        name: where the clip comes from.
    """

    skeleton: Skeleton
    fps: float
    hips: Array
    rotations: Array
    root: Array
    contacts: BoolArray
    name: str = ""

    def __post_init__(self) -> None:
        frames = len(self.hips)
        shapes = {
            "hips": (self.hips.shape, (frames, 3)),
            "rotations": (self.rotations.shape, (frames, len(self.skeleton), 4)),
            "root": (self.root.shape, (frames, 3)),
            "contacts": (self.contacts.shape, (frames, (self.contacts.shape[1:] or (2,))[0])),
        }
        for what, (found, wanted) in shapes.items():
            if found != wanted:
                raise ClipError(f"Clip {self.name!r}: {what} has shape {found}, not {wanted}")
        if frames < 1 or not self.fps > 0.0:
            raise ClipError(f"Clip {self.name!r} is empty or has no frame rate")
        if not all(np.all(np.isfinite(track)) for track in (self.hips, self.rotations, self.root)):
            raise ClipError(
                f"Clip {self.name!r} holds values that are not numbers",
                "Delete or repair the broken keys",
            )

    def __len__(self) -> int:
        return len(self.hips)

    @property
    def seconds(self) -> float:
        """Duration from the first to the last frame."""
        return (len(self) - 1) / self.fps

    @cached_property
    def world(self) -> tuple[Array, Array]:
        """World positions (frames, b, 3) and rotations (frames, b, 4) of all joints."""
        return self.skeleton.fk(self.hips, self.rotations)

    def cut(self, first: int, last: int) -> Clip:
        """Frames ``first`` up to, not including, ``last``."""
        part = slice(first, last)
        return replace(
            self, hips=self.hips[part], rotations=self.rotations[part], root=self.root[part],
            contacts=self.contacts[part],
        )  # fmt: skip

    def moved(self, delta: Array) -> Clip:
        """The clip moved rigidly, frame by frame, on the ground.

        Args:
            delta: new root minus old root per frame (frames, 3): x, y, yaw. The body turns about
                its own root.
        """
        turn = rot.from_yaw(delta[:, 2])
        arm = self.hips - _with_height(self.root[:, :2])
        hips = _with_height(self.root[:, :2] + delta[:, :2]) + rot.rotate(turn, arm)
        rotations = np.array(self.rotations)
        rotations[:, 0] = rot.mul(turn, self.rotations[:, 0])
        return replace(self, hips=hips, rotations=rotations, root=self.root + delta)

    def mirrored(self) -> Clip:
        """Left and right swapped: the reflection at the plane x = 0."""
        partner = self.skeleton.mirror_map
        positions_sign = np.array([-1.0, 1.0, 1.0])
        quaternion_sign = np.array([1.0, 1.0, -1.0, -1.0])
        _, world = self.world
        _, rest = self.skeleton.rest_world
        # Reflect the rotation away from rest, so that partners may have different rest frames.
        away = rot.mul(world, rot.inv(rest))[:, partner] * quaternion_sign
        local = self.skeleton.local_rotations(rot.mul(away, rest))
        hips = self.hips * positions_sign
        root = self.root * np.array([-1.0, 1.0, -1.0])
        return replace(
            self, hips=hips, rotations=rot.unroll(local), root=root, contacts=self.contacts[:, self._other_feet],
            name=f"{self.name} (mirrored)",
        )  # fmt: skip

    @property
    def _other_feet(self) -> tuple[int, ...]:
        columns = self.contacts.shape[1]
        return (1, 0, 3, 2) if columns == 4 else tuple(reversed(range(columns)))

    def resampled(self, fps: float) -> Clip:
        """The same motion at another frame rate; first frame at time 0, never past the last.

        Cubic (Catmull-Rom on a uniform grid) in positions and in sign-continuous quaternions:
        linear interpolation from 30 to 60 fps multiplies the jerk several times.
        """
        if abs(fps - self.fps) < 1e-9 or len(self) == 1:
            return replace(self, fps=fps) if len(self) == 1 else self
        count = int(np.floor(self.seconds * fps + 1e-6)) + 1
        times = np.arange(count) * (self.fps / fps)
        nearest = np.clip(np.round(times).astype(int), 0, len(self) - 1)
        return replace(
            self, fps=fps,
            hips=interpolate_cubic(self.hips, times),
            rotations=rot.normalize(interpolate_cubic(rot.unroll(self.rotations), times)),
            root=interpolate_cubic(self.root, times),
            contacts=self.contacts[nearest],
        )  # fmt: skip


def interpolate_cubic(values: Array, at: Array) -> Array:
    """Catmull-Rom interpolation of ``values`` (n, ...) at fractional indices ``at`` (m,).

    End tangents are extrapolated linearly. Passes through the samples; C1.
    """
    n = len(values)
    if n == 1:
        return np.repeat(values, len(at), axis=0)
    i = np.clip(np.floor(at).astype(int), 0, n - 2)
    t = (at - i).reshape(-1, *([1] * (values.ndim - 1)))
    padded = np.concatenate([2 * values[:1] - values[1:2], values, 2 * values[-1:] - values[-2:-1]])
    p0, p1, p2, p3 = (padded[i + k] for k in range(4))
    return p1 + 0.5 * t * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)))


def _with_height(xy: Array) -> Array:
    return np.concatenate([xy, np.zeros((*xy.shape[:-1], 1))], axis=-1)
