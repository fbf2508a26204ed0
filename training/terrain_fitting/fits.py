"""Ground under every clip of a data set: fitted cycle by cycle, felt at the trajectory's samples, kept in a file."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from blender_addon.motion.clip import Clip
from blender_addon.motion.clip_labels import ClipLabels, label_clip
from blender_addon.motion.dataset import Dataset
from blender_addon.motion.errors import DatasetError
from blender_addon.motion.rotations import Array
from blender_addon.systems.pfnn_features import Felt, points_along
from blender_addon.systems.trajectory import SAMPLES

from .bank import Bank
from .grounds import bank_of
from .search import FittedGround, Search
from .settings import FitSettings
from .windows import Footing, cycles

#: Changes when the same settings would give other ground.
_VERSION = 2
_DAMAGE = (KeyError, ValueError, OSError, zipfile.BadZipFile, TypeError)


@dataclass(frozen=True)
class CycleFit:
    """How well one cycle's grounds fit.

    Attributes:
        first, last: its frames, half open.
        kinds: what each ground is, best first.
        errors: how far each was from the feet before it was bent, root of the mean square, metres.
    """

    first: int
    last: int
    kinds: tuple[str, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class ClipFit:
    """The ground under one clip.

    Attributes:
        heights: metres in the world (fits, frames, 3 * samples + 1) float32: under the trajectory's samples, middle,
            left, right, each at all samples; and the reference height that they are counted from.
        cycles: what was fitted, in order.
    """

    heights: npt.NDArray[np.float32]
    cycles: tuple[CycleFit, ...]


@dataclass(frozen=True)
class TerrainFits:
    """The ground under all clips of a data set, in its order.

    Attributes:
        clips: of each clip. settings: with which it was fitted.
    """

    clips: tuple[ClipFit, ...]
    settings: FitSettings

    def felt(self, clip: int) -> list[Felt]:
        """Each ground as it is felt at every frame of a clip."""
        found = np.asarray(self.clips[clip].heights, dtype=np.float64)
        samples, reference = found[..., :-1].reshape(*found.shape[:2], 3, SAMPLES), found[..., -1]
        return [Felt(*fit) for fit in zip(samples - reference[..., None, None], reference, strict=True)]

    def save(self, path: Path, mark: str) -> None:
        """Write the file ``path``; heights to a thousandth part of their distance from the clip's middle height."""
        lines = [[[cycle.first, cycle.last, list(cycle.kinds), list(cycle.errors)] for cycle in clip.cycles]
                 for clip in self.clips]  # fmt: skip
        levels = np.array([float(clip.heights.mean()) for clip in self.clips], dtype=np.float32)
        packed = [(clip.heights - level).astype(np.float16) for clip, level in zip(self.clips, levels, strict=True)]
        text = json.dumps({"mark": mark, "cycles": lines})
        try:
            with path.open("wb") as file:
                np.savez(
                    file, text=np.array(text), levels=levels, counts=np.array([part.shape[1] for part in packed]),
                    heights=np.concatenate(packed, axis=1),
                )  # fmt: skip
        except OSError as error:
            raise DatasetError(f"{path} cannot be written ({error.strerror})", "Free some space") from error

    @classmethod
    def load(cls, path: Path, mark: str, settings: FitSettings) -> TerrainFits | None:
        """What `save` wrote with the same ``mark``; None for anything else, missing or damaged."""
        try:
            with np.load(path, allow_pickle=False) as file:
                data = json.loads(str(file["text"]))
                if data["mark"] != mark:
                    return None
                ends, levels, heights = np.cumsum(file["counts"]), file["levels"], file["heights"]
            clips = []
            for number, (end, lines) in enumerate(zip(ends, data["cycles"], strict=True)):
                part = heights[:, (ends[number - 1] if number else 0) : end].astype(np.float32) + levels[number]
                found = tuple(CycleFit(int(a), int(b), tuple(kinds), tuple(errors)) for a, b, kinds, errors in lines)
                clips.append(ClipFit(part, found))
            return cls(tuple(clips), settings)
        except _DAMAGE:
            return None


def fit_dataset(
    dataset: Dataset,
    labels: Sequence[ClipLabels] | None = None,
    settings: FitSettings | None = None,
    progress: Callable[[float], None] | None = None,
    cache: Path | None = None,
) -> TerrainFits:
    """Ground under every clip of a data set of two legs.

    Args:
        dataset: the motion. labels: of its clips, in order; found when not given.
        settings: how. progress: told the share that is done; may raise `Cancelled`.
        cache: a file that remembers the result (see `cache_path`); read if it belongs to these clips, labels and
            settings.

    Raises:
        DatasetError: labels that are not the clips', or a file that cannot be written.
        TerrainError: ground of the settings that cannot be read.
    """
    settings = settings or FitSettings()
    if labels is None:
        labels = [label_clip(clip, tags) for clip, tags in zip(dataset.clips, dataset.tags, strict=True)]
    if len(labels) != len(dataset):
        raise DatasetError(f"The data set has {len(dataset)} clips but {len(labels)} are labelled")
    mark = fingerprint(dataset, labels, settings)
    known = TerrainFits.load(cache, mark, settings) if cache else None
    if known is not None:
        return known
    bank = bank_of(settings)
    found, done, total = [], 0, max(dataset.frames, 1)
    for number, (clip, label) in enumerate(zip(dataset.clips, labels, strict=True)):
        found.append(fit_clip(clip, label, settings, bank, number))
        done += len(clip)
        if progress:
            progress(done / total)
    fits = TerrainFits(tuple(found), settings)
    if cache:
        fits.save(cache, mark)
    return fits


def fit_clip(
    clip: Clip, labels: ClipLabels, settings: FitSettings | None = None, bank: Bank | None = None, number: int = 0
) -> ClipFit:
    """The ground under one clip; ``number`` makes what is tried differ from clip to clip."""
    settings = settings or FitSettings()
    bank = bank or bank_of(settings)
    random = np.random.default_rng([settings.seed, number])
    search = Search(bank, settings.placements, settings.fits, settings.good)
    footing, points = Footing(clip, labels), points_along(clip.root, clip.fps)
    heights = np.zeros((settings.fits, len(clip), 3 * SAMPLES + 1))
    shares = np.zeros(len(clip))
    half = round(0.5 * settings.blend * clip.fps)
    found = []
    for first, last in cycles(labels.contacts, clip.fps, settings.steps):
        ground = search.fit(footing.window(first, last), random)
        used = usable(ground, settings)
        begin, end = max(first - half, 0), min(last + half, len(clip))
        felt = _felt(ground, points[begin:end])
        share = blend_shares(np.arange(begin, end), first, last, half, len(clip))
        heights[:, begin:end] += share[:, None] * felt[used]
        shares[begin:end] += share
        errors = np.sqrt(ground.errors[used])
        found.append(CycleFit(first, last, tuple(ground.kinds[row] for row in used), tuple(np.round(errors, 4))))
    return ClipFit((heights / shares[:, None]).astype(np.float32), tuple(found))


def _felt(ground: FittedGround, points: Array) -> Array:
    """The columns of `ClipFit.heights` (fits, frames, n) on every ground, at the points of some frames."""
    felt = Felt.of(ground.heights(points.reshape(-1, 2)).reshape(len(ground), *points.shape[:-1]))
    level = felt.reference[..., None]
    return np.concatenate([felt.heights.reshape(*level.shape[:2], -1) + level, level], axis=-1)


def usable(ground: FittedGround, settings: FitSettings) -> npt.NDArray[np.int64]:
    """Which grounds to take (fits,): those that fit, over and over if they are too few; at least the best."""
    rms = np.sqrt(ground.errors)
    good = np.flatnonzero(rms <= max(settings.worst, 1.25 * float(rms[0])))
    return np.asarray(good[np.arange(settings.fits) % len(good)])


def blend_shares(frames: npt.NDArray[np.int64], first: int, last: int, half: int, count: int) -> Array:
    """How much a cycle's ground counts at frames (n,): 1 inside, falling to 0 ``half`` frames beyond its ends.

    At a clip's ends nothing is blended.
    """
    wide = max(2.0 * half, 1.0)
    rising = np.ones(len(frames)) if first == 0 else np.clip((frames - first + half + 0.5) / wide, 0.0, 1.0)
    falling = np.ones(len(frames)) if last == count else np.clip((last - frames + half - 0.5) / wide, 0.0, 1.0)
    return np.minimum(rising, falling)


def cache_path(dataset: Path) -> Path:
    """The file beside a data set's folder that remembers the ground under it."""
    return dataset.with_name(f"{dataset.name}.terrain.npz")


def fingerprint(dataset: Dataset, labels: Sequence[ClipLabels], settings: FitSettings) -> str:
    """What the ground depends on, as a short text."""
    known = hashlib.sha256(json.dumps([_VERSION, asdict(settings)]).encode())
    for path in settings.grounds:
        try:
            known.update(Path(path).read_bytes())
        except OSError:
            # `bank_of` says what is wrong with it.
            known.update(b"?")
    for clip, label in zip(dataset.clips, labels, strict=True):
        for part in (clip.hips, clip.root, label.contacts, label.gaits):
            known.update(np.ascontiguousarray(part).tobytes())
    return known.hexdigest()
