"""The matching and animation databases: features to search in, poses to play (Holden et al. 2020)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..motion.clip import Clip
from ..motion.errors import DatasetError
from ..motion.rotations import Array
from ..motion.skeleton import Skeleton
from .features import DEFAULT_WEIGHTS, Normalizer, clip_features, feature_layout
from .layout import Layout
from .poses import Poses, clip_poses
from .search import Index

Float32 = npt.NDArray[np.float32]

#: Frames at a clip's end that are not searched: what is found there would run out at once.
TAIL_SECONDS = 1 / 3


@dataclass(frozen=True)
class Database:
    """All clips of a data set, one after another.

    Attributes:
        skeleton: the clips' skeleton. fps: their frame rate.
        raw: features in metres, metres a second (n, 27). normalizer: how they are normalised.
        hips, rotations, root_step, contacts: poses in root space, as in `Poses`; (n, ...) float32.
        ranges: first and one-past-last frame of each clip (r, 2).
        names: each range's clip name.
    """

    skeleton: Skeleton
    fps: float
    raw: Float32
    normalizer: Normalizer
    hips: Float32
    rotations: Float32
    root_step: Float32
    contacts: Float32
    ranges: npt.NDArray[np.int64]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.raw)

    @classmethod
    def build(
        cls, clips: Sequence[Clip], weights: Mapping[str, float] = DEFAULT_WEIGHTS, mirror: bool = True
    ) -> Database:
        """Index clips of one skeleton and frame rate; ``mirror`` adds each one's mirror image.

        Raises:
            DatasetError: no clip, or no clip longer than the part at its end that is not searched.
        """
        clips = [clip for clip in clips if len(clip) > round(TAIL_SECONDS * clip.fps) + 2]
        if not clips:
            raise DatasetError(
                "There is no clip to match against",
                "Select actions of at least a second each",
            )
        if mirror:
            clips = [image for clip in clips for image in (clip, clip.mirrored())]
        features = [clip_features(clip).astype(np.float32) for clip in clips]
        poses = [clip_poses(clip) for clip in clips]
        ends = np.cumsum([len(clip) for clip in clips])
        raw = np.concatenate(features)
        layout = feature_layout(len(clips[0].skeleton.feet))
        return cls(
            skeleton=clips[0].skeleton,
            fps=clips[0].fps,
            raw=raw,
            normalizer=Normalizer.fit(raw.astype(np.float64), layout, weights),
            hips=_join(pose.hips for pose in poses),
            rotations=_join(pose.rotations for pose in poses),
            root_step=_join(pose.root_step for pose in poses),
            contacts=_join(pose.contacts for pose in poses),
            ranges=np.stack([ends - [len(clip) for clip in clips], ends], axis=1).astype(np.int64),
            names=tuple(clip.name for clip in clips),
        )

    @cached_property
    def layout(self) -> Layout:
        """The layout of the features."""
        return feature_layout(self.contacts.shape[1])

    @cached_property
    def features(self) -> Float32:
        """Normalised features (n, 27)."""
        return self.normalizer.apply(self.raw)

    @cached_property
    def searchable(self) -> npt.NDArray[np.bool_]:
        """Frames (n,) that may be found: all but the end of each clip."""
        mask = np.zeros(len(self), dtype=np.bool_)
        tail = round(TAIL_SECONDS * self.fps)
        for first, last in self.ranges:
            mask[first : max(first + 1, last - tail)] = True
        return mask

    @cached_property
    def index(self) -> Index:
        """The search index over the searchable frames."""
        return Index(self.features, self.searchable)

    @cached_property
    def range_of(self) -> npt.NDArray[np.int64]:
        """Which range each frame belongs to (n,)."""
        return np.repeat(np.arange(len(self.ranges)), self.ranges[:, 1] - self.ranges[:, 0])

    def poses(self, frames: npt.NDArray[np.int64]) -> Poses:
        """Poses at frame indices (...,), in double precision."""
        return Poses(
            self.hips[frames].astype(np.float64),
            self.rotations[frames].astype(np.float64),
            self.root_step[frames].astype(np.float64),
            self.contacts[frames].astype(np.float64),
        )

    def remaining(self, frame: int) -> int:
        """Frames after ``frame`` before its clip ends."""
        return int(self.ranges[self.range_of[frame], 1]) - 1 - frame


def _join(parts: Iterator[Array]) -> Float32:
    return np.concatenate([part.astype(np.float32) for part in parts])
