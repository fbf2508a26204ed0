"""Clips: moving, mirroring, resampling, cutting, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_addon.motion import rotations as rot
from blender_addon.motion.clip import Clip, interpolate_cubic
from blender_addon.motion.errors import ClipError
from tests.motion.test_skeleton import walker


def clip_of(seed: int, frames: int = 12, rest_seed: int | None = 3, fps: float = 30.0) -> Clip:
    """Smooth random motion: every joint swings about a random axis at a random rate."""
    rng = np.random.default_rng(seed)
    skeleton = walker(rest_seed)
    t = np.arange(frames)[:, None, None] / fps
    swing = rng.normal(size=(1, len(skeleton), 3)) * np.sin(t * rng.uniform(1, 6, (1, len(skeleton), 1)) + rng.normal())
    root = np.cumsum(rng.normal(scale=0.02, size=(frames, 3)), axis=0)
    sway = 0.05 * np.sin(t[:, :, 0] * 5.0 + rng.normal(size=3))
    hips = np.concatenate([root[:, :2], np.ones((frames, 1))], axis=-1) + sway
    return Clip(
        skeleton=skeleton, fps=fps, hips=hips, rotations=rot.mul(skeleton.rest_rotations, rot.exp(swing)), root=root,
        contacts=rng.random((frames, 2)) > 0.5, name="random",
    )  # fmt: skip


@given(st.integers(0, 10_000))
def test_moved_is_rigid_about_the_root(seed: int) -> None:
    clip = clip_of(seed)
    delta = np.random.default_rng(seed + 1).normal(size=(len(clip), 3))
    moved = clip.moved(delta)
    for before, after, root, change in zip(clip.world[0], moved.world[0], clip.root, delta, strict=True):
        c, s = np.cos(change[2]), np.sin(change[2])
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        pivot = np.array([root[0], root[1], 0.0])
        want = (before - pivot) @ turn.T + pivot + [change[0], change[1], 0.0]
        np.testing.assert_allclose(after, want, atol=1e-9)
    np.testing.assert_allclose(moved.root, clip.root + delta)
    np.testing.assert_allclose(moved.rotations[:, 1:], clip.rotations[:, 1:])


@pytest.mark.parametrize("rest_seed", [None, 3])
@given(seed=st.integers(0, 10_000))
def test_mirrored_positions_are_the_partners_reflections(rest_seed: int | None, seed: int) -> None:
    clip = clip_of(seed, rest_seed=rest_seed)
    mirrored = clip.mirrored()
    want = clip.world[0][:, clip.skeleton.mirror_map] * [-1.0, 1.0, 1.0]
    np.testing.assert_allclose(mirrored.world[0], want, atol=1e-9)
    np.testing.assert_array_equal(mirrored.contacts, clip.contacts[:, [1, 0]])
    facing = rot.direction_of_yaw(clip.root[:, 2]) * [-1.0, 1.0]
    np.testing.assert_allclose(rot.direction_of_yaw(mirrored.root[:, 2]), facing, atol=1e-12)


@given(st.integers(0, 10_000))
def test_mirrored_twice_is_the_clip_again(seed: int) -> None:
    clip = clip_of(seed)
    back = clip.mirrored().mirrored()
    np.testing.assert_allclose(back.hips, clip.hips, atol=1e-12)
    np.testing.assert_allclose(back.root, clip.root, atol=1e-12)
    np.testing.assert_allclose(rot.angle_between(back.rotations, clip.rotations), 0.0, atol=1e-7)
    np.testing.assert_array_equal(back.contacts, clip.contacts)


@given(st.integers(0, 10_000), st.sampled_from([2, 3, 4]))
def test_resampling_passes_through_the_samples(seed: int, times: int) -> None:
    clip = clip_of(seed)
    finer = clip.resampled(clip.fps * times)
    assert len(finer) == (len(clip) - 1) * times + 1 and finer.seconds == pytest.approx(clip.seconds)
    np.testing.assert_allclose(finer.hips[::times], clip.hips, atol=1e-9)
    np.testing.assert_allclose(finer.root[::times], clip.root, atol=1e-9)
    np.testing.assert_allclose(rot.angle_between(finer.rotations[::times], clip.rotations), 0.0, atol=1e-7)
    np.testing.assert_array_equal(finer.contacts[::times], clip.contacts)
    np.testing.assert_allclose(np.linalg.norm(finer.rotations, axis=-1), 1.0, atol=1e-12)


@pytest.mark.parametrize("fps", [23.976, 24.0, 25.0, 59.94, 120.0])
def test_resampling_follows_a_smooth_motion_and_never_runs_past_its_end(fps: float) -> None:
    clip = clip_of(1, frames=61)
    time = np.arange(61) / 30.0
    smooth = replace(clip, hips=np.stack([time, np.sin(3.0 * time), np.cos(2.0 * time)], axis=-1))
    other = smooth.resampled(fps)
    at = np.arange(len(other)) / fps
    assert at[-1] <= smooth.seconds + 1e-9 < at[-1] + 1.0 / fps + 1e-6
    inside = slice(2, -2)
    want = np.stack([at, np.sin(3.0 * at), np.cos(2.0 * at)], axis=-1)
    np.testing.assert_allclose(other.hips[inside], want[inside], atol=5e-4)


def test_resampling_is_not_disturbed_by_quaternions_of_either_sign() -> None:
    clip = clip_of(2, frames=30)
    signs = np.where(np.random.default_rng(0).random((30, len(clip.skeleton), 1)) > 0.5, 1.0, -1.0)
    flipped = replace(clip, rotations=clip.rotations * signs)
    np.testing.assert_allclose(
        rot.angle_between(flipped.resampled(60).rotations, clip.resampled(60).rotations), 0.0, atol=1e-7
    )


def test_one_frame_can_be_resampled() -> None:
    still = clip_of(3, frames=1).resampled(60.0)
    assert len(still) == 1 and still.fps == 60.0 and still.seconds == 0.0


def test_cubic_interpolation_reproduces_a_straight_line_and_a_parabola() -> None:
    at = np.linspace(1.0, 8.0, 29)
    np.testing.assert_allclose(interpolate_cubic(2.0 * np.arange(10.0)[:, None], at)[:, 0], 2.0 * at)
    np.testing.assert_allclose(interpolate_cubic(np.arange(10.0)[:, None] ** 2, at)[:, 0], at**2)


def test_cut_keeps_all_tracks_together() -> None:
    clip = clip_of(4)
    part = clip.cut(3, 7)
    assert len(part) == 4
    np.testing.assert_array_equal(part.root, clip.root[3:7])
    np.testing.assert_array_equal(part.world[0], clip.world[0][3:7])


@pytest.mark.parametrize("track", ["hips", "rotations", "root"])
def test_values_that_are_not_numbers_are_refused_with_a_remedy(track: str) -> None:
    clip = clip_of(5)
    broken = np.array(getattr(clip, track))
    broken[3] = np.nan
    with pytest.raises(ClipError) as caught:
        replace(clip, **{track: broken})
    assert caught.value.remedy


@pytest.mark.parametrize(
    "change",
    [
        {"fps": 0.0}, {"fps": float("nan")}, {"root": np.zeros((12, 2))}, {"rotations": np.zeros((12, 3, 4))},
        {"contacts": np.zeros((11, 2), bool)}, {"contacts": np.zeros(12, bool)},
    ],
)  # fmt: skip
def test_shapes_and_rates_that_do_not_fit_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ClipError):
        replace(clip_of(6), **change)


def test_an_empty_clip_is_refused() -> None:
    with pytest.raises(ClipError):
        clip_of(7).cut(3, 3)


def test_clips_can_be_compared() -> None:
    assert clip_of(8) != clip_of(8)
