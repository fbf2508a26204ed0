"""The two trainings of the network: single frames first, then windows in which it lives on its own answers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from blender_addon.systems.pfnn_features import RestBody
from blender_addon.systems.trajectory import FUTURE, PAST, SAMPLES

from ..roots import carried, onward, turned
from .data import BONE_SCALE, PfnnData
from .networks import PfnnNetwork, phase_shares

#: The own root stands up to so far from the true one when a window begins: metres, radians (deviations).
_ASTRAY_M, _ASTRAY_RAD = 0.12, 0.08
#: The own phase is up to so far from the true one then, radians (deviation).
_ASTRAY_PHASE = 0.2
#: Errors of the feet's speed count by this many metres a second; of feet in the air so much less.
_SLIP, _SWINGING = 0.3, 0.1
#: Windows grow from this many frames to their full length during the first share of their stage.
_SHORTEST, _GROWING = 3, 0.5


class StepTask:
    """One frame from the one before: mean squared error of all outputs, normalised, and the weights' size.

    Args:
        data: the frames. network: what learns. batch: frames in a batch.
        noise: deviation of the noise on the pose that goes in: the answer is then also the way back from where the
            network's own errors lead.
        sparse: factor of the mean absolute weight in the loss.
        held_out: frames to measure on.
    """

    name = "steps"
    unit = "cm"
    terms: tuple[str, ...] = ("error",)

    def __init__(
        self, data: PfnnData, network: PfnnNetwork, batch: int, noise: float = 0.0, sparse: float = 0.01,
        held_out: PfnnData | None = None,
    ) -> None:  # fmt: skip
        self.data, self.network, self.batch, self.noise, self.held_out = data, network, batch, noise, held_out
        self.module: nn.Module = network
        self.sparse = sparse
        self._rows = Drawn(data, 1)
        self._pose = data.inputs.size - 6 * len(data.skeleton)

    def losses(self, random: torch.Generator, done: float = 1.0) -> Tensor:
        """Draw frames and compare."""
        rows = self._rows.draw(self.batch, random)
        variant = self.data.draw_variants(self.batch, random)
        inputs = self.data.inputs_of(rows, variant)
        inputs[:, self._pose :] += pose_noise(self.data, self.batch, self.noise, random)
        answer = self.network(inputs, phase_shares(self.data.phase[rows]))
        error = (answer - self.data.targets_of(rows, variant)).square().mean()
        return (error + self.sparse * self.network.size())[None]

    @torch.no_grad()
    def validate(self) -> float | None:
        """Mean joint position error of one frame on held-out frames, centimetres."""
        if self.held_out is None:
            return None
        rows = self.held_out.windows(1)
        rows = rows[torch.linspace(0, len(rows) - 1, min(2048, len(rows))).long()]
        variant = torch.zeros_like(rows)
        self.network.eval()
        answer = self.network(self.held_out.inputs_of(rows, variant), phase_shares(self.held_out.phase[rows]))
        self.network.train()
        return 100.0 * float(joint_errors(self.data, answer - self.held_out.targets_of(rows, variant)).mean())

    def memory(self) -> list[int]:
        """Nothing: every batch is drawn anew."""
        return []

    def recall(self, memory: list[int]) -> None:
        """Nothing to restore."""


class Drawn:
    """Frames drawn by their weights, only such as have ``length`` frames of their clip from them on.

    Args:
        data: the frames. length: how many.
    """

    def __init__(self, data: PfnnData, length: int) -> None:
        self._rows = data.windows(length)
        # The middle says what a window is about.
        self._sums = torch.cumsum(data.weights[self._rows + length // 2].double(), dim=0)

    def __len__(self) -> int:
        return len(self._rows)

    def draw(self, count: int, random: torch.Generator) -> Tensor:
        """So many frames (count,)."""
        at = torch.rand(count, generator=random, dtype=torch.float64) * self._sums[-1]
        return self._rows[torch.searchsorted(self._sums, at).clamp_max(len(self._rows) - 1)]


@dataclass(frozen=True)
class Walked:
    """Where a window's characters are before a frame.

    Attributes:
        pose: their last pose as it goes in (n, 6 b). astray: the own root as seen from the true one (n, 3).
        ahead: the own phase less the true one (n,), radians.
        own: the own prediction of the trajectory, positions and directions (n, 2, 6, 2), metres; None at first.
        feet: ankles and toes of the last frame in its root space (n, 4, 3), metres; None at first.
        step: the root's last step (n, 3); None at first.
    """

    pose: Tensor
    astray: Tensor
    ahead: Tensor
    own: Tensor | None = None
    feet: Tensor | None = None
    step: Tensor | None = None


class WindowTask:
    """Windows of frames; each answer makes the next input, just as at run time.

    The own root goes where the network takes it, the own phase as fast as it says. The wish is the true trajectory as
    seen from there, blended with the own prediction; what is learned is the true pose, and to come back to the true
    root and phase within a second or so.

    Args:
        data: the frames. network: what learns, already good at single frames. batch: windows in a batch.
        window: frames in a window. noise: deviation of the noise on a window's first pose.
        shares: of the wish at the future samples, for positions and directions (2, 6).
        catch_up: share of the distance from the true root, and of the phase, that is taken back each frame.
        sparse: factor of the mean absolute weight in the loss. held_out: frames to measure on.
    """

    name = "windows"
    unit = "cm"
    terms: tuple[str, ...] = ("error",)

    def __init__(
        self, data: PfnnData, network: PfnnNetwork, batch: int, window: int, noise: float, shares: Tensor,
        catch_up: float = 0.03, sparse: float = 0.01, held_out: PfnnData | None = None,
    ) -> None:  # fmt: skip
        self.data, self.network, self.batch, self.window, self.noise = data, network, batch, window, noise
        self.catch_up, self.sparse, self.held_out = catch_up, sparse, held_out
        self.module: nn.Module = network
        self._drawn: dict[int, Drawn] = {}
        self._share = shares[None, :, :, None]
        body = RestBody(data.skeleton)
        self._parents, self._joints = torch.from_numpy(body.parents), body.joints
        self._arms, self._chain = torch.from_numpy(body.arms).float(), torch.from_numpy(body.chain).float()
        columns = data.output_columns
        self._out_mean, self._out_scale = data.mean[columns], data.scale[columns]
        self._places = data.outputs.slices
        self._feet = torch.tensor([joint for foot in data.skeleton.feet for joint in (foot.ankle, foot.toe)])

    def losses(self, random: torch.Generator, done: float = 1.0) -> Tensor:
        """Draw windows, walk along them, compare every frame."""
        grown = min(1.0, done / _GROWING)
        length = max(min(_SHORTEST, self.window), round(grown * self.window))
        batch = max(1, round(self.batch * self.window / length))
        if length not in self._drawn:
            self._drawn = {length: Drawn(self.data, length)}
        rows = self._drawn[length].draw(batch, random)
        variant = self.data.draw_variants(batch, random)
        pose = self.data.pose(rows - 1, variant) + pose_noise(self.data, batch, self.noise, random)
        deviations = torch.tensor([_ASTRAY_M, _ASTRAY_M, _ASTRAY_RAD, _ASTRAY_PHASE])
        away = torch.randn((batch, 4), generator=random) * deviations * torch.rand((batch, 1), generator=random)
        walked = Walked(pose, away[:, :3], away[:, 3])
        total = torch.zeros(())
        for frame in range(length):
            walked, errors = self._frame(self.data, rows + frame, variant, walked)
            total = total + sum(error.square().mean() for error in errors)
        return (total / length + self.sparse * self.network.size())[None]

    def _frame(
        self, data: PfnnData, rows: Tensor, variant: Tensor, walked: Walked
    ) -> tuple[Walked, tuple[Tensor, Tensor, Tensor, Tensor]]:
        """Where the frames ``rows`` lead, and errors in units of what is usual.

        The answer's (n, out); those of the joints as the skeleton puts them (n, 3 b), and of the feet's movement over
        the ground (n, 4, 3); and the root's and the phase's steps (n, 4), few among so many, without which a character
        lags behind its plan.
        """
        inputs = torch.cat([self._around(data, rows, variant, walked), walked.pose], dim=1)
        answer = self.network(inputs, phase_shares(data.phase[rows] + walked.ahead))
        outputs = answer * self._out_scale + self._out_mean
        places = self._places
        target = data.targets_of(rows, variant)
        step = torch.cat([outputs[:, places["root_velocity"]], outputs[:, places["root_turning"]]], dim=1)
        moves = slice(places["root_velocity"].start, places["phase_change"].stop)
        truth = target[:, moves] * self._out_scale[moves] + self._out_mean[moves]
        pace = truth[:, 3] - self.catch_up * data.fps * walked.ahead.detach()
        wanted = torch.cat([self._wanted_step(truth[:, :3], walked.astray.detach(), data.fps), pace[:, None]], dim=1)
        astray = onward(walked.astray, step / data.fps, truth[:, :3] / data.fps)
        ahead = walked.ahead + (outputs[:, places["phase_change"]][:, 0] - truth[:, 3]) / data.fps
        target[:, moves] = (wanted - self._out_mean[moves]) / self._out_scale[moves]
        future = slice(0, 4 * FUTURE)
        with torch.no_grad():
            course = self._true_course(data, rows + 1)[:, :, PAST:]
            course = self._course_from(course, astray.detach()).flatten(1)
            target[:, future] = (course - self._out_mean[future]) / self._out_scale[future]
        pose = self._clean(outputs)
        own = outputs[:, future].view(-1, 2, FUTURE, 2)
        width = 3 * self._joints
        away = pose[:, :width] / BONE_SCALE - target[:, places["joint_positions"]]
        feet = self._feet_of(data, pose)
        slip = self._slip(data, rows, variant, walked, feet)
        error = answer - target
        return Walked(pose, astray, ahead, own, feet, step / data.fps), (error, away, slip, error[:, moves])

    def _feet_of(self, data: PfnnData, pose: Tensor) -> Tensor:
        """Ankles and toes (n, 4, 3), metres, of poses as they go in (n, 6 b)."""
        place = data.blocks.slices["pose"]
        width = 3 * self._joints
        scale, mean = data.scale[place][:width] / BONE_SCALE, data.mean[place][:width]
        return (pose[:, :width] * scale + mean).view(len(pose), -1, 3)[:, self._feet]

    def _slip(self, data: PfnnData, rows: Tensor, variant: Tensor, walked: Walked, feet: Tensor) -> Tensor:
        """How the feet's movement since the last frame differs from the true one; that of standing feet above all."""
        if walked.feet is None or walked.step is None:
            return torch.zeros(())
        place = data.blocks.slices["steps"]
        true = (data.frames[rows - 1][:, place] * data.scale[place] + data.mean[place])[:, :3] / data.fps
        now, last = (self._feet_of(data, data.pose(frame, variant)) for frame in (rows, rows - 1))
        moved = carried(now, true) - last
        moved = torch.cat([turned(moved[..., :2], -walked.astray.detach()[:, None, 2]), moved[..., 2:]], dim=-1)
        place = data.blocks.slices["contacts"]
        down = data.frames[rows][:, place] * data.scale[place] + data.mean[place]
        weight = (_SWINGING + (1.0 - _SWINGING) * down).clamp_min(0.0).sqrt()
        return weight[..., None] * (carried(feet, walked.step) - walked.feet - moved) * (data.fps / _SLIP)

    def _wanted_step(self, truth: Tensor, astray: Tensor, fps: float) -> Tensor:
        """The true velocity as seen from the own root, and some of the way back (n, 3)."""
        back = -self.catch_up * fps
        place = truth[:, :2] + back * astray[:, :2]
        return torch.cat([turned(place, -astray[:, 2]), truth[:, 2:] + back * astray[:, 2:]], dim=1)

    def _true_course(self, data: PfnnData, rows: Tensor) -> Tensor:
        """True trajectories (n, 2, 12, 2)."""
        place = data.blocks.slices["trajectory"]
        course = data.frames[rows][:, place] * data.scale[place] + data.mean[place]
        return course.view(len(rows), 2, SAMPLES, 2)

    def _course_from(self, course: Tensor, astray: Tensor) -> Tensor:
        """Trajectories (n, 2, samples, 2) of the true root as seen from the own one."""
        moved = torch.cat([course[:, :1] - astray[:, None, None, :2], course[:, 1:]], dim=1)
        return turned(moved, -astray[:, 2, None, None])

    def _around(self, data: PfnnData, rows: Tensor, variant: Tensor, walked: Walked) -> Tensor:
        """All that goes in but the pose (n, ...), normalised: the wish is blended with the own prediction.

        The past is the own trail: who is astray has mostly been so for a while, hence it looks like the true one.
        """
        course = self._true_course(data, rows)
        future = self._course_from(course[:, :, PAST:], walked.astray)
        if walked.own is not None:
            future = (1.0 - self._share) * walked.own + self._share * future
            facing = nn.functional.normalize(future[:, 1:], dim=-1, eps=1e-3)
            future = torch.cat([future[:, :1], facing], dim=1)
        course = torch.cat([course[:, :, :PAST], future], dim=2).flatten(1)
        place = data.blocks.slices["trajectory"]
        rest = data.trajectory(rows, variant)[:, place.stop :]
        return torch.cat([(course - data.mean[place]) / data.scale[place], rest], dim=1)

    def _clean(self, outputs: Tensor) -> Tensor:
        """The pose set on the skeleton, as `systems.pfnn` does it, normalised and made small (n, 6 b)."""
        count, joints = len(outputs), self._joints
        hips = outputs[:, self._places["joint_positions"]].view(count, joints, 3)[:, :1]
        vector = outputs[:, self._places["joint_angles"]].view(count, joints, 3).index_select(1, self._parents)
        angle = (vector.square().sum(-1, keepdim=True) + 1e-12).sqrt()
        once = torch.linalg.cross(vector, self._arms[None].expand_as(vector))
        twice = torch.linalg.cross(vector, once)
        half = torch.sinc(0.5 * angle / math.pi)
        arms = self._arms + torch.sinc(angle / math.pi) * once + 0.5 * half * half * twice
        found = self._chain @ arms + hips
        pose = torch.cat([found.flatten(1), outputs[:, self._places["joint_velocities"]]], dim=1)
        place = self.data.blocks.slices["pose"]
        return BONE_SCALE * (pose - self.data.mean[place]) / self.data.scale[place]

    @torch.no_grad()
    def validate(self) -> float | None:
        """Mean joint error at the end of half a second on its own on held-out frames, root space, centimetres."""
        if self.held_out is None:
            return None
        length = round(0.5 * self.data.fps)
        rows = self.held_out.windows(length)
        if len(rows) == 0:
            return None
        rows = rows[torch.linspace(0, len(rows) - 1, min(256, len(rows))).long()]
        variant = torch.zeros_like(rows)
        walked = Walked(self.held_out.pose(rows - 1, variant), torch.zeros(len(rows), 3), torch.zeros(len(rows)))
        self.network.eval()
        for frame in range(length):
            walked, (error, *_) = self._frame(self.held_out, rows + frame, variant, walked)
        self.network.train()
        return 100.0 * float(joint_errors(self.data, error).mean())

    def memory(self) -> list[int]:
        """Nothing: every batch is drawn anew."""
        return []

    def recall(self, memory: list[int]) -> None:
        """Nothing to restore."""


def pose_noise(data: PfnnData, count: int, deviation: float, random: torch.Generator) -> Tensor:
    """Noise for poses as they go in (n, 6 b): from none to twice the deviation, most rows are nearly true."""
    sigma = 2.0 * deviation * BONE_SCALE * torch.rand((count, 1), generator=random)
    return sigma * torch.randn((count, 6 * len(data.skeleton)), generator=random)


def joint_errors(data: PfnnData, error: Tensor) -> Tensor:
    """Distances (n, b), metres, of normalised errors of outputs (n, out)."""
    place = data.outputs.slices["joint_positions"]
    scale = data.scale[data.output_columns][place]
    return (error[:, place] * scale).view(len(error), -1, 3).norm(dim=-1)
