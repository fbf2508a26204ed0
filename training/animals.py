"""The data set from which the shipped animal is trained: seeded random ways, performed by the gait model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from blender_addon.motion.animal import shoulder_height
from blender_addon.motion.clip import Clip
from blender_addon.motion.dataset import Dataset, Source
from blender_addon.motion.errors import DatasetError, RigError
from blender_addon.motion.gait_model.body import Body
from blender_addon.motion.gait_model.labels import ACTIONS, frame_actions
from blender_addon.motion.gait_model.perform import perform_body
from blender_addon.motion.gait_model.settings import GaitSettings
from blender_addon.motion.plan import Plan
from blender_addon.motion.skeleton import Skeleton

from .animal_scenes import SCENES, Draw, Kind
from .progress import Progress, Reporter, Silent

#: Shoulder heights of animals, metres: from a mouse's to a dragon's.
SMALLEST, LARGEST = 0.01, 20.0
#: Every so manieth clip is kept for evaluation.
HELD_OUT = 12
#: What the clips say of themselves.
SOURCE = Source(
    path="gait model", licence="CC0-1.0",
    credit="Generated from Gaitsmith's gait model and keyed poses, not captured from an animal",
)  # fmt: skip
#: The skeleton of the shipped pack.
FOX = Path(__file__).parents[1] / "blender_addon" / "animals" / "fox.json"
#: Shorter than this (seconds) in a clip, an action is not worth a tag.
_TAGGED = 0.5


@dataclass(frozen=True)
class AnimalSettings:
    """What to generate.

    Attributes:
        minutes: of motion. seed: the same seed gives the same data set. fps: frames per second.
        variation: of the gait model's strides.
    """

    minutes: float = 75.0
    seed: int = 1
    fps: float = 60.0
    variation: float = 0.04

    def __post_init__(self) -> None:
        if not 0.1 <= self.minutes <= 1000.0:
            raise DatasetError(f"{self.minutes:g} minutes cannot be generated", "Ask for 0.1 to 1000 minutes")
        if not 10.0 <= self.fps <= 240.0:
            raise DatasetError(f"{self.fps:g} frames a second cannot be generated", "Ask for 10 to 240")


def read_skeleton(path: Path | None = None) -> Skeleton:
    """The skeleton described by a JSON file, the fox's without one.

    Raises:
        DatasetError: no such file, or no skeleton in it. RigError: its description is malformed.
    """
    try:
        return Skeleton.from_json(json.loads((path or FOX).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} does not describe a skeleton ({error})", "Choose a skeleton's JSON file") from error


def generate(skeleton: Skeleton, settings: AnimalSettings | None = None, reporter: Reporter | None = None) -> Dataset:
    """Perform random ways until there is enough motion of every kind; every frame is labelled with its action.

    Raises:
        RigError: the skeleton is not four-legged, lacks a leg or is no size for an animal.
    """
    settings, reporter = settings or AnimalSettings(), reporter or Silent()
    if not skeleton.four_legged:
        raise RigError("This skeleton goes on two legs, the gait model on four", "Choose an animal's skeleton")
    height = shoulder_height(skeleton)
    if not SMALLEST <= height <= LARGEST:
        raise RigError(
            f"This animal's shoulders stand {height:.3g} m high",
            f"Give its lengths in metres: from {SMALLEST} to {LARGEST} m",
        )
    body = Body.of(skeleton)
    clips: list[Clip] = []
    tags: list[tuple[str, ...]] = []
    labels: list[npt.NDArray[np.int64]] = []
    done = 0.0
    for kind, plan, seed in _scenes(settings, body.height):
        clip = perform_body(body, plan, GaitSettings(seed=seed, variation=settings.variation))
        found = frame_actions(plan, skeleton)[1]
        clips.append(replace(clip, name=f"{kind.name} {len(clips) + 1}"))
        labels.append(found)
        tags.append(_tags(kind, clip, found))
        done += len(clip) / settings.fps / 60.0
        share = min(done / settings.minutes, 1.0)
        reporter.progress(Progress("gaits", len(clips), round(len(clips) / share), share, 0.0))
    held = [number % HELD_OUT == HELD_OUT // 2 for number in range(len(clips))]
    return Dataset(
        skeleton, clips, tags, held, (SOURCE.credit,), [SOURCE] * len(clips), ACTIONS, labels,
    )  # fmt: skip


def minutes_of(dataset: Dataset) -> dict[str, float]:
    """Minutes of each action that occurs, by name."""
    counts = Counter(np.concatenate(dataset.actions).tolist())
    return {
        name: round(counts[number] / dataset.fps / 60.0, 2)
        for number, name in enumerate(dataset.action_names) if counts[number]
    }  # fmt: skip


def _scenes(settings: AnimalSettings, height: float) -> Iterator[tuple[Kind, Plan, int]]:
    """Plans, with their kinds and seeds, of each kind for its share of the minutes."""
    total = sum(kind.share for kind in SCENES)
    for number, kind in enumerate(SCENES):
        draw = Draw(np.random.default_rng([settings.seed, number]), height, settings.fps)
        left = settings.minutes * kind.share / total * 60.0
        while left > 0.0:
            plan = kind.make(draw)
            left -= plan.seconds
            yield kind, plan, int(draw.rng.integers(2**31))


def _tags(kind: Kind, clip: Clip, labels: npt.NDArray[np.int64]) -> tuple[str, ...]:
    """Actions that last, the kind of scene, and whether it turns."""
    counts = np.bincount(labels, minlength=len(ACTIONS))
    turns = ("turn",) if np.ptp(clip.root[:, 2]) > np.radians(60.0) else ()
    long = [name for name, count in zip(ACTIONS, counts, strict=True) if count >= _TAGGED * clip.fps]
    return tuple(dict.fromkeys([*long, kind.name, *turns]))
