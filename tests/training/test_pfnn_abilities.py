"""What is measured of crouching, leaps and slopes, on motion made up so that the right values are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from blender_addon.motion import rotations as rot
from blender_addon.motion.abilities import Abilities
from blender_addon.motion.clip import Clip
from blender_addon.motion.clip_labels import ClipLabels
from blender_addon.motion.gait_labels import BIPED_GAITS, LOWEST, UPRIGHT
from blender_addon.motion.phases import Phase
from blender_addon.systems.pfnn_features import felt_along
from blender_addon.systems.trajectory import SAMPLE_SECONDS
from tests.synthetic import walk
from training.pfnn.abilities import measured, steepness
from training.pfnn.data import Take

FPS = 60
ACROSS = np.array([1.0, 0.0, 0.0])


def level(xy):
    return np.zeros(xy.shape[:-1])


def gliding(speed: np.ndarray) -> Clip:
    """Stands stiff on both feet and is carried straight on, facing -Y, at a speed (f,) from frame to frame, m/s."""
    clip = walk((len(speed) - 1) / FPS, 0.0)
    way = np.concatenate([[0.0], np.cumsum(speed[:-1])]) / FPS
    hips, root = np.array(clip.hips), np.array(clip.root)
    hips[:, 1], root[:, 1] = -way, -way
    return replace(clip, hips=hips, root=root)


def shown(clip: Clip, gaits: np.ndarray, phase: np.ndarray | None = None, grounds=(level,), left_out=None):
    """The take of a clip and its labels; ``gaits``: names (f,)."""
    track = np.array([BIPED_GAITS.index(name) for name in gaits])
    angle = Phase(np.arange(len(clip)) * 0.1 if phase is None else phase, np.ones(len(clip), bool))
    contacts = np.repeat(clip.contacts, 2, axis=1)
    felt = [felt_along(clip.root, clip.fps, ground) for ground in grounds]
    take = Take(clip, angle, np.eye(5)[track], contacts, felt, left_out)
    return take, ClipLabels(contacts, angle, track)


def measure(*pairs) -> Abilities:
    return measured([take for take, _ in pairs], [label for _, label in pairs])


def bowed(clip: Clip, angle: np.ndarray) -> Clip:
    """Bends the trunk forward by an angle (f,) at its root."""
    spine, turned = clip.skeleton.index("spine_1"), np.array(clip.rotations)
    turned[:, spine] = rot.mul(rot.from_axis_angle(ACROSS, angle), turned[:, spine])
    return replace(clip, rotations=turned)


def depth_of(clip: Clip, angle: float) -> float:
    """The depth of a trunk bent so far, by the made-up body's lengths: 0.12 up to the spine, 0.45 on to the head."""
    toe = clip.skeleton.index("left_toe")
    over = clip.hips[0, 2] + 0.12 + 0.45 * np.cos(angle) - clip.world[0][0, toe, 2]
    top = over / (1.5 - clip.skeleton.rest_world[0][toe, 2])
    return (UPRIGHT - top) / (UPRIGHT - LOWEST)


def test_crouching_is_as_deep_and_as_fast_as_it_was_shown():
    frames = np.arange(1200)
    low, lower = (frames >= 300) & (frames < 900), (frames >= 800) & (frames < 900)
    clip = bowed(gliding(np.where(frames < 600, 0.6, 0.9)), np.where(lower, 1.5, np.where(low, 1.1, 0.0)))
    gaits = np.where(low, "crouch", "walk")
    found = measure(shown(clip, gaits)).crouch
    assert 0.1 < depth_of(clip, 1.1) < depth_of(clip, 1.5)
    assert found.usual == pytest.approx(depth_of(clip, 1.1), abs=0.01)
    assert found.deepest == pytest.approx(depth_of(clip, 1.5), abs=0.01)
    assert found.fastest == pytest.approx(0.9, abs=0.01)
    assert measure(shown(clip, np.where(frames // 100 == 4, "crouch", "walk"))).crouch is None, "1.7 s is too little"
    assert measure(shown(clip, gaits, left_out=low)).crouch is None


class Leaps:
    """A walk of 1.2 m/s with flights of 0.4 s: speeds of the root in the air, and the feet that take off and land."""

    LONG = 24

    def __init__(self, speeds, feet, first: int = 120, every: int = 180, phase: float = 0.5) -> None:
        count = first + every * len(speeds)
        self.off = [first + every * number - 1 for number in range(len(speeds))]
        speed, down = np.full(count, 1.2), np.ones((count, 2), bool)
        raised, angle = np.zeros(count), np.zeros(count)
        thighs = np.zeros((count, 2))
        for off, fast, (start, end) in zip(self.off, speeds, feet, strict=True):
            air = slice(off + 1, off + self.LONG)
            speed[off : off + self.LONG] = fast
            down[air] = False
            raised[air] = 0.2
            # A third of a second before and after only the foot that takes off, or lands, is on the ground.
            for foot in (0, 1):
                down[off - 20 : off + 1, foot] = foot in start
                down[off + self.LONG : off + self.LONG + 20, foot] = foot in end
            thighs[off, start[0]], thighs[off + self.LONG, end[0]] = 0.3, -0.5
            angle[off] = phase + np.pi * (start[0] + 2 * len(speeds))
        clip = gliding(speed)
        hips, turned = np.array(clip.hips), np.array(clip.rotations)
        hips[:, 2] += raised
        for foot, name in enumerate(("left_hip", "right_hip")):
            joint = clip.skeleton.index(name)
            turned[:, joint] = rot.mul(rot.from_axis_angle(ACROSS, thighs[:, foot]), turned[:, joint])
        self.clip = replace(clip, hips=hips, rotations=turned, contacts=down)
        self.angle, self.feet = angle, feet

    def pair(self, name: str = "jump"):
        gaits = np.full(len(self.clip), "walk")
        for off in self.off:
            gaits[off - 20 : off + self.LONG + 20] = name
        return shown(self.clip, gaits, self.angle)

    def ahead(self, number: int, foot: int, landing: bool) -> float:
        """How far before the root the ball of a foot is at a take-off or a landing."""
        frame = self.off[number] + (self.LONG if landing else 0)
        toe = self.clip.skeleton.index(("left_toe", "right_toe")[foot])
        return float(self.clip.root[frame, 1] - self.clip.world[0][frame, toe, 1])


LEFT, RIGHT, BOTH = (0,), (1,), (0, 1)


def test_leaps_from_foot_to_foot_are_measured_as_they_were_made():
    made = Leaps([2.0, 2.4, 2.2], [(LEFT, RIGHT), (RIGHT, LEFT), (LEFT, RIGHT)])
    found = measure(made.pair()).leap
    behind, ahead = -made.ahead(0, 0, False), made.ahead(0, 1, True)
    assert behind > 0.05 and ahead > 0.3
    assert found.speed == pytest.approx(1.2, abs=1e-6)
    assert found.flight == pytest.approx(0.4) and found.flight_speed == pytest.approx(2.2)
    assert found.behind == pytest.approx(behind) and found.ahead == pytest.approx(ahead)
    assert found.phase == pytest.approx(0.5), "the right foot takes off half a turn later"
    between = [0.4 * speed + behind + ahead for speed in (2.0, 2.2, 2.4)]
    assert found.nearest == pytest.approx(between[0]) and found.furthest == pytest.approx(between[2])
    assert found.speed_for(between[1]) == pytest.approx(2.2) and found.slow == pytest.approx(2.0)


def test_phases_around_a_whole_turn_have_their_mean_there():
    pairs = [Leaps([2.0], [(LEFT, RIGHT)], phase=phase).pair() for phase in (0.1, -0.1, np.pi + 0.03)]
    found = measure(*pairs).leap
    assert found.phase == pytest.approx(0.01, abs=1e-3)
    assert found.slow == found.fast == pytest.approx(2.0)


@pytest.mark.parametrize(
    "feet", [(BOTH, BOTH), (LEFT, LEFT), (BOTH, LEFT), (LEFT, BOTH)], ids=["two", "hop", "off two", "onto two"]
)
def test_other_jumps_are_no_leaps(feet):
    leaps = [(LEFT, RIGHT), (RIGHT, LEFT)]
    assert measure(Leaps([2.0] * 3, [*leaps, feet]).pair()).leap is None
    assert measure(Leaps([2.0] * 4, [*leaps, feet, (LEFT, RIGHT)]).pair()).leap.flight == pytest.approx(0.4)


def test_two_leaps_flights_of_a_run_and_such_without_a_run_up_teach_no_leap():
    feet = [(LEFT, RIGHT)] * 3
    assert measure(Leaps([2.0] * 2, feet[:2]).pair()).leap is None
    assert measure(Leaps([2.0] * 3, feet).pair("run")).leap is None
    assert measure(Leaps([2.0] * 3, feet, first=30).pair()).leap is None
    take, label = Leaps([2.0] * 3, feet).pair()
    assert measure((replace(take, left_out=np.ones(len(take.clip), bool)), label)).leap is None


def test_the_steepest_ground_is_that_which_moving_frames_have_felt():
    def slope(xy):
        return -0.4 * xy[..., 1]

    clip = gliding(np.full(900, 1.0))
    found = measure(shown(clip, np.full(900, "walk"), grounds=(level, slope)))
    assert found.steepest == pytest.approx(0.4, abs=1e-6)
    assert measure(shown(clip, np.full(900, "walk"))).steepest == 0.0
    still = shown(gliding(np.zeros(300)), np.full(300, "stand"), grounds=(slope,))
    assert measure(still).steepest is None


@pytest.mark.parametrize(("frames", "steep"), [(30, True), (4, False)])
def test_a_slope_counts_however_level_the_rest_is_but_not_a_handful_of_frames(frames, steep):
    """Of 6000 moving frames: 30 are one in two hundred, 4 less than one in a thousand."""
    take, label = shown(gliding(np.full(6000, 1.0)), np.full(6000, "walk"))
    heights = np.array(take.grounds[0].heights)
    rising = 0.25 * SAMPLE_SECONDS * np.arange(heights.shape[-1])
    heights[3000 : 3000 + frames, :] = rising
    felt = replace(take.grounds[0], heights=heights)
    found = measure((replace(take, grounds=[felt]), label)).steepest
    assert (found == pytest.approx(0.25, abs=1e-6)) if steep else found == 0.0


def test_steps_count_by_their_rise_over_the_way_around_the_body():
    def step(xy):
        return np.where(xy[..., 1] < -5.0, 0.18, 0.0)

    take, _ = shown(gliding(np.full(700, 1.2)), np.full(700, "walk"), grounds=(step,))
    steep = steepness(take)[0]
    # Where both ends of 0.6 m lie on different sides, and samples 0.2 m apart do not blur it.
    assert steep.max() == pytest.approx(0.18 / 0.6) and np.median(steep) == 0.0
    assert np.count_nonzero(steep > 0.0) == pytest.approx(0.7 * 60 / 1.2, abs=8)
