"""The three trainings of Learned Motion Matching: batches and losses of Holden et al. 2020."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from blender_addon.systems.features import feature_layout

from .data import Frames
from .neighbours import Neighbours
from .networks import compressor, decompressor, projector, stepper

_LOCAL_RATES = ("hips_position", "rotations")
_CHARACTER_RATES = ("character_positions", "character_rotations")
#: Noise on the queries whose answers the stepper learns to go on from.
_PROJECTED_NOISE = 0.3
#: The stepper first learns single steps, then to live on its own: share of the budget, frames.
_SHORT_SHARE, _SHORT_WINDOW = 0.4, 5
#: Queries the projector learns from at a time, and how often.
_BLOCK, _REPEATS = 4096, 4
#: Queries that mix two frames: noise relative to the plain ones, and how far apart in time the two are.
_MIXED_NOISE, _SHIFT_SECONDS = 0.3, 1.5


class DecompressorTask:
    """C and D, over windows of consecutive frames.

    Attributes:
        compressor, decompressor: the two networks.
    """

    name = "decompressor"
    unit = "cm"

    def __init__(self, frames: Frames, batch: int, window: int = 2, held_out: Frames | None = None) -> None:
        self.frames, self.held_out, self.batch, self.window = frames, held_out, batch, window
        size = frames.pose_size
        self.compressor = compressor(frames.states.shape[1])
        self.decompressor = decompressor(frames.features.shape[1], size)
        self.module: nn.Module = nn.ModuleList([self.compressor, self.decompressor])
        self._starts = frames.windows(window)
        self._offsets = torch.arange(window)[:, None]
        scaling, places = frames.scaling, frames.layout.slices
        # Network output -> physical pose -> states, whose Q part comes from kinematics.
        self._mean, self._deviation = scaling.mean[:size], scaling.pose_scale
        self._scale, self._all_mean = 1.0 / scaling.scale, scaling.mean
        blocks = [block.name for block in frames.layout]
        rates = [*_LOCAL_RATES, *_CHARACTER_RATES]
        self.terms = (
            *blocks, *(f"{name}_rate" for name in rates), "latent_squared", "latent_absolute", "latent_rate",
        )  # fmt: skip
        self._value_means = _averages([places[name] for name in blocks], frames.layout.size)
        self._rate_means = _averages([places[name] for name in rates], frames.layout.size)

    def losses(self, random: torch.Generator, done: float = 1.0) -> Tensor:
        """L1 of Y, of Q = FK(Y) and of their rates; squared L2, L1 and rate of z."""
        first = self._starts[torch.randint(len(self._starts), (self.batch,), generator=random)]
        rows = (first + self._offsets).reshape(-1)  # all first frames, then all second frames ...
        target = self.frames.states[rows]
        latent = self.compressor(target)
        error = self.reconstruct(self.frames.features[rows], latent) - target
        shape = (self.window, self.batch, -1)
        step, latent_step = error.view(shape).diff(dim=0), latent.view(shape).diff(dim=0)
        fps = self.frames.fps
        regular = torch.stack([latent.square().mean(), latent.abs().mean(), latent_step.abs().mean() * fps])
        rates = step.abs().flatten(0, 1).mean(dim=0) * fps
        return torch.cat([error.abs().mean(dim=0) @ self._value_means, rates @ self._rate_means, regular])

    def reconstruct(self, features: Tensor, latent: Tensor) -> Tensor:
        """[Y~, FK(Y~)] normalised as `Frames.states`, of normalised x and z."""
        poses = self.decompressor(torch.cat([features, latent], dim=1)) * self._deviation + self._mean
        states = torch.cat([poses, self.frames.kinematics(poses)], dim=1)
        return (states - self._all_mean) * self._scale

    @torch.no_grad()
    def joint_errors(self, frames: Frames, limit: int = 8192) -> Tensor:
        """Distance of every joint (m, b) in character space, metres, joints in order of depth."""
        rows = torch.linspace(0, len(frames) - 1, min(limit, len(frames))).long()
        target = frames.states[rows]
        error = self.reconstruct(frames.features[rows], self.compressor(target)) - target
        place = frames.layout.slices["character_positions"]
        return (error[:, place] * frames.scaling.scale[place]).reshape(len(rows), -1, 3).norm(dim=-1)

    def validate(self) -> float | None:
        """Mean joint position error on held-out frames, centimetres."""
        if self.held_out is None or len(self.held_out) == 0:
            return None
        return 100.0 * float(self.joint_errors(self.held_out).mean())

    def memory(self) -> list[int]:
        """Nothing: every batch is drawn anew."""
        return []

    def recall(self, memory: list[int]) -> None:
        """Nothing to restore."""

    @torch.no_grad()
    def latents(self, frames: Frames) -> Tensor:
        """The latents z (n, 32) of all frames."""
        return torch.cat([self.compressor(chunk) for chunk in frames.states.split(8192)])


class StepperTask:
    """S, over windows in which it lives on its own predictions; z is frozen.

    Args:
        frames: the data. latents: normalised z (n, 32). noise: deviation of the noise on a window's
            first state, so that it learns to come back from where its own errors lead.
        projector: the trained P, whose answers are the first states of every fourth window: at run
            time the stepper goes on from what P gives, not from captured frames.
        short_share: share of the budget spent on short windows first.
    """

    name = "stepper"
    unit = ""
    terms: tuple[str, ...] = (
        "features", "latents", "features_rate", "latents_rate", "features_pace", "latents_pace",
    )  # fmt: skip

    def __init__(
        self, frames: Frames, latents: Tensor, batch: int, window: int, noise: float = 0.0,
        held_out: tuple[Frames, Tensor] | None = None, projector: nn.Module | None = None,
        short_share: float = _SHORT_SHARE,
    ) -> None:  # fmt: skip
        self._projector, self._short_share = projector, short_share
        self.batch, self.window, self.noise, self.fps = batch, window, noise, frames.fps
        self.network = stepper(frames.features.shape[1])
        self.module: nn.Module = self.network
        self._features = frames.features.shape[1]
        self._states = torch.cat([frames.features, latents], dim=1)
        self._starts = frames.windows(window)
        self._held_out = held_out
        self._offsets = torch.arange(window)[:, None]
        self.scale = _step_scale(self._states, frames.windows(2))

    def losses(self, random: torch.Generator, done: float = 1.0) -> Tensor:
        """L1 of X, Z and of their rates along the window; at first along short windows, of which a batch has more."""
        window, batch = self.window, self.batch
        if done < self._short_share and window > _SHORT_WINDOW:
            window, batch = _SHORT_WINDOW, batch * window // _SHORT_WINDOW
        first = self._starts[torch.randint(len(self._starts), (batch,), generator=random)]
        truth = self._states[first + self._offsets[:window]]
        state = truth[0]
        if self.noise > 0.0:
            state = state + self.noise * torch.randn(state.shape, generator=random)
        if self._projector is not None:
            state = self._projected(state, random)
        found = self.follow(state, window - 1)
        value = _split_mean((found[1:] - truth[1:]).abs(), self._features)
        rate = _split_mean((found - truth).diff(dim=0).abs(), self._features) * self.fps
        # L1 alone favours the median of what may come, which moves less than any of it.
        pace = (found.diff(dim=0).abs().mean(dim=0) - truth.diff(dim=0).abs().mean(dim=0)).abs()
        return torch.cat([value, rate, _split_mean(pace, self._features) * self.fps])

    @torch.no_grad()
    def _projected(self, state: Tensor, random: torch.Generator) -> Tensor:
        """The states, every fourth replaced by what P answers to a query near its features."""
        assert self._projector is not None
        some = max(1, len(state) // 4)
        query = state[:some, : self._features]
        sigma = _PROJECTED_NOISE * torch.rand((some, 1), generator=random)
        answer = self._projector(query + sigma * torch.randn(query.shape, generator=random))
        return torch.cat([answer, state[some:]])

    def follow(self, state: Tensor, steps: int) -> Tensor:
        """The states (1 + steps, n, 59) from ``state`` (n, 59) on, by own predictions."""
        found = [state]
        for _ in range(steps):
            state = torch.addcmul(state, self.network(state), self.scale)
            found.append(state)
        return torch.stack(found)

    @torch.no_grad()
    def validate(self) -> float | None:
        """Mean error of features and latents at the window's end on held-out frames, normalised."""
        if self._held_out is None:
            return None
        frames, latents = self._held_out
        states = torch.cat([frames.features, latents], dim=1)
        starts = frames.windows(self.window)
        if len(starts) == 0:
            return None
        starts = starts[torch.linspace(0, len(starts) - 1, min(512, len(starts))).long()]
        end = self.follow(states[starts], self.window - 1)[-1]
        return float((end - states[starts + self.window - 1]).abs().mean())

    def memory(self) -> list[int]:
        """Nothing: every batch is drawn anew."""
        return []

    def recall(self, memory: list[int]) -> None:
        """Nothing to restore."""



class ProjectorTask:
    """P: from a wished feature vector to the features and latent of the nearest frame.

    Queries are drawn and answered in blocks, and every block is learned several times over: looking
    for the exact nearest frame costs more than learning from it.

    Args:
        frames: the data. latents: normalised z (n, 32). noise: greatest deviation of the noise that
            turns a frame's features into a query.
        stride: every how manieth frame may be found; its neighbours in time are nearly the same.
    """

    name = "projector"
    unit = ""
    terms: tuple[str, ...] = ("features", "latents", "distance", "latents_size")

    def __init__(
        self, frames: Frames, latents: Tensor, batch: int, noise: float = 1.0, stride: int = 3, validation: int = 512
    ) -> None:
        self.batch, self.noise = batch, noise
        self._features = frames.features.shape[1]
        self._trajectory = feature_layout(frames.kinematics.feet).slices["foot_position"].start
        self._reach = round(_SHIFT_SECONDS * frames.fps)
        self.network = projector(self._features)
        self.module: nn.Module = self.network
        self._states = torch.cat([frames.features, latents], dim=1)
        self._candidates = torch.from_numpy(frames.searchable).nonzero()[::stride, 0]
        self._neighbours = Neighbours(frames.features[self._candidates])
        self._check = self._draw(validation, torch.Generator().manual_seed(1))
        self._block: tuple[Tensor, Tensor] | None = None
        self._seed, self._used = 0, 0

    def losses(self, random: torch.Generator, done: float = 1.0) -> Tensor:
        """L1 of x, of z, and of the difference of squared distances to the query."""
        if self._block is None or self._used >= _BLOCK * _REPEATS:
            self._seed, self._used = int(torch.randint(2**31, (1,), generator=random)), 0
            self._fill()
        assert self._block is not None
        self._used += self.batch
        rows = torch.randint(_BLOCK, (self.batch,), generator=random)
        query, target = self._block[0][rows], self._block[1][rows]
        return self._compare(query, target, self.network(query))

    def memory(self) -> list[int]:
        """The seed of the present block, and how much of it was used."""
        return [self._seed, self._used]

    def recall(self, memory: list[int]) -> None:
        """Draw the same block again."""
        self._seed, self._used = memory
        if self._used > 0:
            self._fill()

    def _fill(self) -> None:
        self._block = self._draw(_BLOCK, torch.Generator().manual_seed(self._seed))

    def _draw(self, count: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
        """Queries (m, 27) and the states (m, 59) nearest to them.

        Half of them are frames with noise, of a strength drawn evenly from 0 on (Holden et al. 2020). In the others
        a frame's pose meets the trajectory of another frame, mostly of one nearby in time: such are the questions
        asked at run time.
        """
        rows = torch.randint(len(self._states), (count,), generator=random)
        known = self._states[rows, : self._features]
        other = torch.randint(len(self._states), (count,), generator=random)
        nearby = rows + torch.randint(-self._reach, self._reach + 1, (count,), generator=random)
        choice = torch.rand((count, 1), generator=random)
        other = torch.where(choice[:, 0] < 0.85, nearby.clamp(0, len(self._states) - 1), other)
        mixed = torch.cat([self._states[other, : self._trajectory], known[:, self._trajectory :]], dim=1)
        sigma = self.noise * torch.rand((count, 1), generator=random)
        start = torch.where(choice < 0.5, known, mixed)
        sigma = torch.where(choice < 0.5, sigma, _MIXED_NOISE * sigma)
        query = start + sigma * torch.randn(known.shape, generator=random)
        return query, self._states[self._candidates[self._neighbours.nearest(query)]]

    def _compare(self, query: Tensor, target: Tensor, found: Tensor) -> Tensor:
        x, z = found[:, : self._features], found[:, self._features :]
        true_x, true_z = target[:, : self._features], target[:, self._features :]
        wanted, got = (query - true_x).square().sum(dim=1), (query - x).square().sum(dim=1)
        # L1 alone draws z towards the middle of all manners of walking, which is a lifeless one.
        size = (z.square().mean(dim=1) - true_z.square().mean(dim=1)).abs().mean()
        return torch.stack([(x - true_x).abs().mean(), (z - true_z).abs().mean(), (wanted - got).abs().mean(), size])

    @torch.no_grad()
    def validate(self) -> float | None:
        """Mean error of features and latents on queries of their own, normalised."""
        query, target = self._check
        return float((self.network(query) - target).abs().mean())


def _averages(places: list[slice], size: int) -> Tensor:
    """A matrix (size, blocks) that averages each block."""
    matrix = torch.zeros(size, len(places))
    for column, place in enumerate(places):
        matrix[place, column] = 1.0 / (place.stop - place.start)
    return matrix


def _split_mean(error: Tensor, features: int) -> Tensor:
    """Means (2,) over the features and over the latents of (..., 59)."""
    columns = error.flatten(0, -2).mean(dim=0)
    return torch.stack([columns[:features].mean(), columns[features:].mean()])


def _step_scale(states: Tensor, pairs: Tensor, sample: int = 50_000) -> Tensor:
    """Deviation of each value's change from one frame to the next (59,)."""
    pairs = pairs[torch.linspace(0, len(pairs) - 1, min(sample, len(pairs))).long()]
    return (states[pairs + 1] - states[pairs]).std(dim=0).clamp_min(1e-5)


