"""Animals sit and lie down, get up, and leap: what is promised of every frame, measured on the motion itself."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_addon.motion import rotations as rot
from blender_addon.motion.animal import contact_points, girdles, shoulder_height, trunk_ends
from blender_addon.motion.animal_limbs import limbs_of
from blender_addon.motion.bridging import minimum_jerk
from blender_addon.motion.gait_model.actions.postures import drawn, mirrored, variants
from blender_addon.motion.gait_model.actions.windows import rests_of
from blender_addon.motion.gait_model.labels import ACTIONS, frame_actions
from blender_addon.motion.gait_model.perform import perform
from blender_addon.motion.gait_model.settings import GaitSettings
from blender_addon.motion.limb_ik import bends
from blender_addon.motion.limits import Limits
from blender_addon.motion.path import RootPath
from blender_addon.motion.plan import Plan, make_plan
from blender_addon.motion.runs import runs
from blender_addon.motion.schedule import RESTS, Mark, Schedule
from tests.animals import animal

NAMES = ("fox", "horse", "wolf_without_paws")
#: Sideways steps of a foot on the ground between two frames, and its height over the ground: share of the shoulders'.
SLIDE = {"fox": 5e-5, "horse": 0.008, "wolf_without_paws": 0.003}


def sized(skeleton) -> float:
    return shoulder_height(skeleton) / 0.6


def resting(name: str, rest: str, pause: float = 0.0, **changes) -> tuple[Plan, slice, slice]:
    """A walk with a rest in it, the frames of the rest until it is up, and those in which it is down."""
    size = sized(animal(name))
    path = RootPath.from_points(np.array([[0.0, 0.0], [0.0, -3.0 * size]]))
    marks = [Mark(0.0, 1.2 * size**0.5), Mark(1.5 * size, action=rest, pause=pause)]
    plan = make_plan(path, Schedule(marks), limits=Limits.responsive(0.5, True), speeds=(0.2, 9.0), **changes)
    first, end = runs(plan.action == plan.actions.index(rest))[0]
    down, up = (round(seconds * plan.fps) for seconds in RESTS[rest])
    return plan, slice(first, end + up), slice(first + down, end)


def leaping(name: str, speed: float, at: float = 4.0) -> tuple[Plan, slice]:
    """A straight way with one leap at a speed (m/s of 0.6 m), and the frames of the leap."""
    size = sized(animal(name))
    path = RootPath.from_points(np.array([[0.0, 0.0], [0.0, -(at + 3.0 * speed + 0.5 * speed**2 + 2.0) * size]]))
    marks = [Mark(0.0, speed * size**0.5, "auto"), Mark((at + 0.4 * speed**2) * size, action="jump")]
    plan = make_plan(path, Schedule(marks), limits=Limits.responsive(0.5, True), speeds=(0.2, 15.0))
    first, end = runs(plan.action == plan.actions.index("jump"))[0]
    return plan, slice(first, end)


def accelerations(clip) -> np.ndarray:
    """Angular accelerations (f, b) of all joints, degrees/s2."""
    rates = rot.angular_velocity(clip.rotations, 1.0 / clip.fps)
    return np.degrees(np.linalg.norm(np.diff(rates, axis=0), axis=-1)) * clip.fps


def slides(clip) -> float:
    points = contact_points(clip.skeleton, *clip.world)
    both = clip.contacts[1:] & clip.contacts[:-1]
    return float((np.linalg.norm(np.diff(points[..., :2], axis=0), axis=-1) * both).max())


@pytest.mark.parametrize("rest", ["sit", "lie"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_paws_stay_where_they_stand_and_nothing_sinks_into_the_ground(name, rest, seed):
    plan, all_of_it, down = resting(name, rest, pause=7.0)
    clip = perform(animal(name), plan, GaitSettings(seed=seed))
    height = shoulder_height(clip.skeleton)
    part = clip.cut(max(all_of_it.start - 20, 0), all_of_it.stop + 20)
    assert slides(part) <= SLIDE[name] * height
    points = contact_points(clip.skeleton, *part.world)[..., 2]
    assert np.abs(points[part.contacts]).max() <= max(SLIDE[name], 1e-6) * height
    toes = {joint for foot in clip.skeleton.feet for joint in (foot.ankle, foot.toe)}
    others = [joint for joint in range(len(clip.skeleton)) if joint not in toes]
    assert clip.world[0][down][:, others, 2].min() > 0.02 * height
    # Toes of stiff legs in the air may dip a little.
    assert part.world[0][..., 2].min() > (0.01 if name != "horse" else -0.02) * height
    assert clip.contacts[down].all()


@pytest.mark.parametrize("rest", ["sit", "lie"])
@pytest.mark.parametrize("name", NAMES)
def test_rests_begin_and_end_without_a_jerk(name, rest):
    plan, all_of_it, _ = resting(name, rest, pause=7.0)
    clip = perform(animal(name), plan)
    legs = [joint for foot in clip.skeleton.feet for joint in foot.chain]
    found = accelerations(clip)[all_of_it]
    assert np.percentile(found[:, legs], 99) < 6e4
    # From frame to frame no joint's velocity jumps, the tail's too.
    jumps = np.linalg.norm(np.diff(clip.world[0], 2, axis=0), axis=-1)[all_of_it]
    assert jumps.max() < (0.025 if name == "fox" else 0.04) * shoulder_height(clip.skeleton)


@pytest.mark.parametrize("seed", range(6))
def test_a_sitting_fox_has_its_rump_on_the_ground_and_its_chest_up(seed):
    plan, _, down = resting("fox", "sit", pause=6.0)
    clip = perform(animal("fox"), plan, GaitSettings(seed=seed))
    hind, fore = girdles(clip.skeleton, clip.world[0][down])
    stood = girdles(clip.skeleton, clip.skeleton.rest_world[0])
    assert hind[:, 2].max() < 0.45 * stood[0][2] and fore[:, 2].min() > 0.85 * stood[1][2]
    hocks = clip.world[0][down][:, [clip.skeleton.index(f"{side}_hock") for side in ("left", "right")], 2]
    assert hocks.max() < 0.08 * 0.6
    # The body rests over the plan's root.
    assert np.linalg.norm((0.5 * (hind + fore))[:, :2] - plan.root[down, :2], axis=1).max() < 0.12


@pytest.mark.parametrize("seed", range(6))
def test_a_lying_fox_lies_on_elbows_and_hocks(seed):
    plan, _, down = resting("fox", "lie", pause=7.0)
    clip = perform(animal("fox"), plan, GaitSettings(seed=seed))
    low = [clip.skeleton.index(f"{side}_{part}") for side in ("left", "right") for part in ("elbow", "wrist", "hock")]
    assert clip.world[0][down][:, low, 2].max() < 0.12 * 0.6
    hind, fore = girdles(clip.skeleton, clip.world[0][down])
    assert max(hind[:, 2].max(), fore[:, 2].max()) < 0.42 * 0.6


@pytest.mark.parametrize("rest", ["sit", "lie"])
def test_a_resting_animal_is_alive_but_calm(rest):
    plan, _, down = resting("fox", rest, pause=9.0)
    clip = perform(animal("fox"), plan)
    held = clip.world[0][down.start + 10 : down.stop - 5]
    speeds = np.linalg.norm(np.diff(held, axis=0), axis=-1) * clip.fps
    assert speeds.max() < 0.5
    assert np.ptp(held, axis=0).max() > 0.01


@pytest.mark.parametrize("rest", ["sit", "lie"])
@pytest.mark.parametrize("name", NAMES)
def test_stifles_and_elbows_never_bend_to_their_other_side(name, rest):
    plan, all_of_it, _ = resting(name, rest, pause=7.0)
    for seed in range(3):
        clip = perform(animal(name), plan, GaitSettings(seed=seed))
        positions, rotations = (track[all_of_it] for track in clip.world)
        for limb in limbs_of(clip.skeleton):
            angles = np.degrees(bends(limb.points(positions, rotations), limb.hinges(rotations).axes))
            assert angles[:, 0].min() > 0.0 and angles[:, 0].max() < 160.0
            # Hocks fold, they do not break; at the end of a long step back they may be straight.
            assert limb.foot.side.endswith("fore") or angles[:, 1].min() > -10.0


def test_an_animal_goes_down_at_the_label_and_is_up_when_its_root_goes_on():
    plan, all_of_it, _ = resting("fox", "lie", pause=7.0)
    height = girdles(animal("fox"), perform(animal("fox"), plan).world[0])[1][:, 2]
    standing = height[all_of_it.start]
    assert height[all_of_it.start + 90] < 0.75 * standing
    assert height[all_of_it.stop - 1] == pytest.approx(standing, rel=0.05)
    label_ends = all_of_it.stop - round(RESTS["lie"][1] * plan.fps)
    assert height[label_ends - 1] < 0.5 * standing
    assert np.all(plan.speed[label_ends : all_of_it.stop - 1] < 0.03)


def test_at_the_plans_end_it_stays_down_and_at_its_beginning_it_is_down_already():
    path = RootPath.from_points(np.array([[0.0, 0.0], [0.0, -2.0]]))
    schedule = Schedule([Mark(0.0, action="lie", pause=5.0), Mark(0.05, 1.0), Mark(2.0, action="sit", pause=6.0)])
    plan = make_plan(path, schedule, limits=Limits.responsive(0.5, True))
    clip = perform(animal("fox"), plan)
    hind, fore = (middle[:, 2] for middle in girdles(clip.skeleton, clip.world[0]))
    assert fore[0] < 0.25 and hind[0] < 0.25
    assert hind[-1] < 0.25 and fore[-1] > 0.35
    low = [clip.skeleton.index(f"{side}_{part}") for side in ("left", "right") for part in ("elbow", "hock")]
    assert clip.world[0][0, low, 2].max() < 0.12 * 0.6
    assert np.percentile(accelerations(clip), 99.9) < 1e5
    assert slides(clip) < 1e-6


def test_the_motion_outside_a_rest_is_the_gait_models_own():
    plan, all_of_it, _ = resting("fox", "sit", pause=6.0)
    plain = replace(plan, action=np.where(plan.action == plan.actions.index("sit"), 0, plan.action))
    with_rest, without = (perform(animal("fox"), p) for p in (plan, plain))
    outside = [*range(all_of_it.start), *range(all_of_it.stop, len(plan))]
    assert np.abs(with_rest.world[0][outside] - without.world[0][outside]).max() < 1e-9


@pytest.mark.parametrize("rest", ["sit", "lie"])
def test_there_are_three_poses_and_each_has_a_mirror_image(rest):
    assert variants(rest) >= 3
    rng = np.random.default_rng(0)
    poses = [drawn(rest, rng) for _ in range(40)]
    assert len({(round(p.roll[0], 3) != 0.0, p.chin, abs(p.look) > 0.5) for p in poses}) >= 3
    assert all(mirrored(mirrored(p)) == p for p in poses)


def test_too_short_a_rest_is_left_out():
    plan, all_of_it, _ = resting("fox", "lie")
    short = np.zeros(len(plan), np.int64) + plan.action
    short[all_of_it.start + 20 :][short[all_of_it.start + 20 :] == plan.actions.index("lie")] = 0
    assert rests_of(plan) and not rests_of(replace(plan, action=short))


@pytest.mark.parametrize("speed", [0.3, 0.8, 2.0, 4.0, 6.5])
@pytest.mark.parametrize("name", NAMES)
def test_a_leap_flies_and_its_feet_stand_still_before_and_after(name, speed):
    plan, leap = leaping(name, speed)
    clip = perform(animal(name), plan, GaitSettings(seed=1))
    height = shoulder_height(clip.skeleton)
    part = clip.cut(leap.start - 20, leap.stop + 60)
    # The horse's stiff legs, and a fox that lands from 6.5 m/s, fold as far as they can; planting does the rest.
    assert slides(part) <= (0.02 if name == "horse" else 0.01 if speed > 6.0 else 1e-6) * height
    air = ~clip.contacts[leap].any(axis=1)
    longest = max(end - first for first, end in runs(air)) / plan.fps
    assert 0.14 < longest / (height / 0.6) ** 0.5 < 0.6
    legs = [joint for foot in clip.skeleton.feet for joint in foot.chain]
    assert np.percentile(accelerations(part)[:, legs], 99) < 2.5e5
    assert part.world[0][..., 2].min() > (-0.005 if name != "horse" else -0.05) * height


def test_the_body_flies_along_a_parabola():
    plan, leap = leaping("fox", 2.0)
    clip = perform(animal("fox"), plan, GaitSettings(seed=1))
    middle = 0.5 * np.add(*trunk_ends(clip.skeleton, *clip.world))[:, 2]
    air = np.flatnonzero(~clip.contacts[leap].any(axis=1)) + leap.start
    inner = air[6:-6]
    pull = np.diff(middle, 2)[inner - 1] * plan.fps**2
    assert np.median(pull) == pytest.approx(-9.81, rel=0.05)
    flight = (len(air) - 1) / plan.fps
    assert np.ptp(middle[air]) == pytest.approx(9.81 * flight**2 / 8.0, rel=0.5)


def test_fore_feet_leave_first_and_land_first():
    for seed in range(4):
        plan, leap = leaping("fox", 1.5)
        contact = perform(animal("fox"), plan, GaitSettings(seed=seed)).contacts[leap]
        air = ~contact.any(axis=1)
        first, end = max(runs(air), key=lambda run: run[1] - run[0])
        last_down = [int(np.flatnonzero(contact[:first, leg])[-1]) for leg in range(4)]
        next_down = [int(np.flatnonzero(contact[end:, leg])[0]) for leg in range(4)]
        assert max(last_down[2:]) < min(last_down[:2]) and max(next_down[2:]) < min(next_down[:2])


def test_plans_without_leaps_are_as_before_and_a_standing_animal_does_not_leap():
    plan, leap = leaping("fox", 2.0)
    far = np.arange(len(plan)) < leap.start - 90
    plain = replace(plan, action=np.where(plan.action == plan.actions.index("jump"), 1, plan.action))
    with_leap, without = (perform(animal("fox"), p).hips for p in (plan, plain))
    assert np.abs(with_leap[far] - without[far]).max() < 1e-3
    still = Plan(60.0, np.zeros((200, 2)), np.zeros(200), np.zeros(200), np.zeros(200), ("stand", "jump"),
                 np.repeat([0, 1, 0], [80, 66, 54]), np.zeros(200, bool))  # fmt: skip
    assert perform(animal("fox"), still).contacts.all()


def test_labels_name_the_gait_that_is_made_and_the_plans_rests():
    plan, all_of_it, down = resting("fox", "sit", pause=6.0)
    names, found = frame_actions(plan, animal("fox"))
    assert names == ACTIONS
    assert np.all(found[down] == names.index("sit"))
    assert np.all(found[all_of_it.stop - 30 : all_of_it.stop - 2] == names.index("stand"))
    fast, leap = leaping("fox", 5.0)
    names, found = frame_actions(fast, animal("fox"))
    assert np.all(found[leap] == names.index("jump")) and found[leap.start - 2] == names.index("gallop")
    assert {names[k] for k in np.unique(found)} >= {"stand", "walk", "trot", "gallop", "jump"}


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
@settings(max_examples=50, deadline=None)
def test_easing_rises_from_nought_to_one(a, b):
    low, high = min(a, b), max(a, b)
    assert -1e-12 <= minimum_jerk(np.array(low)) <= minimum_jerk(np.array(high)) + 1e-12 <= 1.0 + 2e-12
    assert minimum_jerk(np.array(1.0 - low)) == pytest.approx(1.0 - minimum_jerk(np.array(low)))
