from dataclasses import replace

import numpy as np
import pytest

from blender_addon.motion.clip import Clip
from blender_addon.motion.clip_labels import label_clip
from blender_addon.motion.contact_labels import CONTACT_POINTS, feet_of, flat_contacts, label_contacts, sole_points
from tests.synthetic import walk

FPS = 60.0
STAND, FLY = 30, 24


def hops(count: int, rise: float = 0.0) -> tuple[Clip, np.ndarray]:
    """A rigid body that stands for half a second and hops on by 0.4 m and up by ``rise``; and when it flies (f,)."""
    still = walk(0.0, speed=0.0)
    t = np.linspace(0.0, 1.0, FLY + 1)
    arc = np.stack([0.0 * t, -0.4 * t, 0.6 * t * (1.0 - t) + rise * t], axis=1)
    path, flies = [np.zeros((STAND, 3))], [np.zeros(STAND, dtype=bool)]
    for _ in range(count):
        begin = path[-1][-1]
        path += [begin + arc[1:], np.tile(begin + arc[-1], (STAND, 1))]
        flies += [np.ones(FLY, dtype=bool), np.zeros(STAND, dtype=bool)]
    way, flying = np.concatenate(path), np.concatenate(flies)
    rows = np.zeros(len(way), dtype=int)
    root = np.concatenate([way[:, :2], np.zeros((len(way), 1))], axis=1)
    clip = replace(still, hips=still.hips[rows] + way, rotations=still.rotations[rows], root=root,
                   contacts=np.zeros((len(way), 2), dtype=bool))  # fmt: skip
    return grounded(clip), flying


def grounded(clip: Clip) -> Clip:
    """The clip lifted so that the balls of its first frame are on the ground."""
    return replace(clip, hips=clip.hips - [0.0, 0.0, sole_points(clip)[0, 1, 2]])


@pytest.mark.parametrize("rise", [0.0, 0.2])
def test_heels_and_toes_touch_while_the_body_rests_however_high(rise):
    clip, flies = hops(4, rise)
    contacts = label_contacts(clip, uneven=rise > 0.0)
    assert contacts.shape == (len(clip), len(CONTACT_POINTS))
    for column in contacts.T:
        wrong = np.flatnonzero(column == flies)
        edges = np.flatnonzero(np.diff(flies))
        assert len(wrong) == 0 or np.abs(wrong[:, None] - edges).min(axis=1).max() <= 3


def test_a_slope_shows_in_where_feet_stand():
    assert label_clip(hops(4, 0.2)[0]).uneven and not label_clip(hops(4)[0]).uneven
    assert label_clip(hops(4)[0], ("slope",)).uneven


def test_what_has_rolled_up_stands_no_more():
    clip, flies = hops(3)
    longer = np.repeat(~flies[:, None], 4, axis=1)
    longer[1:] |= ~flies[:-1, None]
    for _ in range(4):
        longer[1:] |= longer[:-1].copy()
    flat = flat_contacts(clip, longer)
    heights = sole_points(clip)[..., 2] - sole_points(clip)[0, :, 2]
    assert np.all(flat <= longer) and np.all(heights[flat] < 0.03)
    assert np.all(flat[~flies])
    assert np.array_equal(feet_of(flat), flat[:, [0, 2]] | flat[:, [1, 3]])
