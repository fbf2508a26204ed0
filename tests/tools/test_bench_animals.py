"""The bench of four legs runs any performer over its cases and judges it, also on another animal's legs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from blender_addon.motion import courses
from blender_addon.motion.clip import Clip
from blender_addon.motion.gait_model.perform import perform
from blender_addon.motion.plan import Plan
from blender_addon.motion.skeleton import Skeleton
from tests.animals import animal
from tools.bench_animals import COLUMNS, COURSES, Runner, cases, share_right
from tools.bench_courses import marked_table


@dataclass(frozen=True)
class Model:
    skeleton: Skeleton
    fps: float = 60.0
    actions: tuple[str, ...] = ("auto", "walk", "trot", "gallop", "stand")

    def perform(self, plan: Plan) -> Clip:
        return perform(self.skeleton, plan)


def runner(onto: str | None = None) -> Runner:
    return Runner(Model(animal("fox")), (0.3, 5.0), None, animal(onto) if onto else None)


def test_cases_keep_to_what_the_system_covers_and_give_fast_gaits_room() -> None:
    found = list(cases(runner(), COURSES, ("flat", "stairs"), ("walk", "pace", "gallop", "auto")))
    assert {gait for _, _, gait, _ in found} == {"walk", "gallop", "auto"}
    assert max(speed for *_, speed in found) <= 5.0
    assert not any(ground == "stairs" and gait == "gallop" for _, ground, gait, _ in found)
    fast = next(course for course, _, gait, speed in found if course.name == "circle" and gait == "gallop")
    slow = next(course for course, _, gait, speed in found if course.name == "circle" and gait == "walk")
    assert slow.length == pytest.approx(courses.circle().length) and fast.length > 3.0 * slow.length


def test_larger_animals_are_asked_for_more() -> None:
    pace = {gait: speed for _, _, gait, speed in cases(runner("horse"), ("straight",), ("flat",), ("walk",))}
    own = {gait: speed for _, _, gait, speed in cases(runner(), ("straight",), ("flat",), ("walk",))}
    assert pace["walk"] == pytest.approx(own["walk"] * (1.6 / 0.6) ** 0.5)


@pytest.mark.parametrize("onto", [None, "horse"])
def test_a_case_is_judged_by_every_figure_of_four_legs(onto: str | None) -> None:
    chosen = runner(onto)
    report = chosen.run(courses.straight(5.0 if onto is None else 14.0), "flat", "walk", 0.8 if onto is None else 1.3)
    assert report["gait_wrong"].value == 0.0
    assert report["slide_max"].mark == "good" and report["penetration_p95"].mark == "good"
    assert report["path_hips_mean"].mark == "good"
    assert report["skate_before"].measured
    assert share_right([report]).startswith(f"{report['gait_strides'].value:.0f} of")
    text = marked_table([report], COLUMNS)
    assert "straight flat walk" in text and text.splitlines()[-1].startswith(tuple("0123456789"))
