"""The two trainings of the network: single frames first, then windows in which it lives on its own answers."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from blender_addon.systems.mann_control import Blend
from blender_addon.systems.mann_features import FUTURE, PAST, Body, pose_columns

from ..roots import onward, turned
from .data import MannData
from .networks import MannNetwork

#: The own root stands so far from the true one when a window begins: metres, radians (deviations).
_ASTRAY_M, _ASTRAY_RAD = 0.03, 0.04
#: Windows grow from this many frames to their full length during the first share of their stage.
_SHORTEST, _GROWING = 3, 0.5


class StepTask:
    """One frame from the one before: mean squared error of all outputs, normalised.

    Args:
        data: the frames. network: what learns. batch: frames in a batch.
        noise: deviation of the noise on the pose that goes in: the answer is then also the way back from where the
            network's own errors lead.
        held_out: frames to measure on.
    """

    name = "steps"
    unit = "cm"
    terms: tuple[str, ...] = ("error",)

    def __init__(
        self, data: MannData, network: MannNetwork, batch: int, noise: float = 0.0, held_out: MannData | None = None
    ) -> None:
        self.data, self.network, self.batch, self.noise, self.held_out = data, network, batch, noise, held_out
        self.module: nn.Module = network
        self._rows = data.windows(2)
        self._size = data.inputs.size
        self._pose = pose_columns(data.inputs)
        self._columns = torch.from_numpy(data.target_columns)
        self._steps = torch.arange(data.outputs.slices["root_velocity"].start, data.outputs.slices["contacts"].start)

    def targets(self, data: MannData, rows: Tensor) -> Tensor:
        """What the outputs should be (n, out) for the frames ``rows``."""
        found = data.frames[rows + 1].index_select(1, self._columns)
        found[:, self._steps] = data.frames[rows][:, self._size : self._size + 3]
        return found

    def losses(self, random: torch.Generator, done: float = 1.0) -> Tensor:
        """Draw frames and compare."""
        rows = self._rows[torch.randint(len(self._rows), (self.batch,), generator=random)]
        inputs = self.data.frames[rows, : self._size]
        if self.noise > 0.0:
            # From none to twice the deviation: most rows are nearly true, some are far out.
            sigma = 2.0 * self.noise * torch.rand((self.batch, 1), generator=random)
            shape = (self.batch, self._pose.stop - self._pose.start)
            inputs[:, self._pose] += sigma * torch.randn(shape, generator=random)
        return (self.network(inputs) - self.targets(self.data, rows)).square().mean()[None]

    @torch.no_grad()
    def validate(self) -> float | None:
        """Mean joint position error of one frame on held-out frames, centimetres."""
        if self.held_out is None:
            return None
        rows = self.held_out.windows(2)
        rows = rows[torch.linspace(0, len(rows) - 1, min(2048, len(rows))).long()]
        self.network.eval()
        error = self.network(self.held_out.frames[rows, : self._size]) - self.targets(self.held_out, rows)
        self.network.train()
        return 100.0 * float(joint_errors(self.data, error).mean())

    def memory(self) -> list[int]:
        """Nothing: every batch is drawn anew."""
        return []

    def recall(self, memory: list[int]) -> None:
        """Nothing to restore."""


@dataclass(frozen=True)
class Walked:
    """Where a window's characters are: input (n, in) normalised, and the own root as seen from the true one (n, 3)."""

    inputs: Tensor
    astray: Tensor


class WindowTask:
    """Windows of frames; each answer makes the next input, just as at run time.

    The own root goes where the network takes it. The wish is the true trajectory as seen from there, blended with the
    own prediction; what is learned is the true pose, and to come back to the true root within a second or so.

    Args:
        data: the frames. network: what learns, already good at single frames. batch: windows in a batch.
        window: frames in a window. noise: deviation of the noise on a window's first pose. blend: as at run time.
        catch_up: share of the distance from the true root that is taken back each frame.
        held_out: frames to measure on.
    """

    name = "windows"
    unit = "cm"
    terms: tuple[str, ...] = ("error",)

    def __init__(
        self, data: MannData, network: MannNetwork, batch: int, window: int, noise: float = 0.0,
        blend: Blend | None = None, catch_up: float = 0.03, held_out: MannData | None = None,
    ) -> None:  # fmt: skip
        self.data, self.network, self.batch, self.window, self.noise = data, network, batch, window, noise
        self.catch_up, self.held_out = catch_up, held_out
        self.module: nn.Module = network
        self._one = StepTask(data, network, batch)
        self._size, self._pose = data.inputs.size, pose_columns(data.inputs)
        self._mean, self._scale = data.mean, data.scale
        self._course = slice(0, data.inputs.slices["speeds"].start)
        self._starts: dict[int, Tensor] = {}
        blend = blend or Blend()
        shares = torch.stack([
            torch.from_numpy(blend.weights(tau)[:, 0]) for tau in (blend.position, blend.direction, blend.velocity)
        ]).float()  # fmt: skip
        self._share = shares[None, :, :, None]
        body = Body(data.skeleton)
        self._parents, self._joints = torch.from_numpy(body.parents), body.joints
        self._offsets = torch.from_numpy(body.offsets).float()
        self._chain = torch.from_numpy(body.chain).float()
        columns = data.target_columns
        self._out_mean, self._out_scale = self._mean[columns], self._scale[columns]

    def losses(self, random: torch.Generator, done: float = 1.0) -> Tensor:
        """Draw windows, walk along them, compare every frame."""
        grown = min(1.0, done / _GROWING)
        length = max(min(_SHORTEST, self.window), round(grown * self.window))
        batch = max(1, round(self.batch * self.window / length))
        starts = self._windows(self.data, length)
        rows = starts[torch.randint(len(starts), (batch,), generator=random)]
        inputs = self.data.frames[rows, : self._size]
        width = self._pose.stop - self._pose.start
        sigma = 2.0 * self.noise * torch.rand((batch, 1), generator=random)
        inputs[:, self._pose] += sigma * torch.randn((batch, width), generator=random)
        astray = torch.randn((batch, 3), generator=random) * torch.tensor([_ASTRAY_M, _ASTRAY_M, _ASTRAY_RAD])
        inputs = torch.cat([self._seen(self.data, rows, astray, None), inputs[:, self._course.stop :]], dim=1)
        walked = Walked(inputs, astray)
        total = torch.zeros(())
        for frame in range(length):
            walked, error = self._frame(self.data, rows + frame, walked)
            total = total + error.square().mean()
        return (total / length)[None]

    def _windows(self, data: MannData, length: int) -> Tensor:
        key = length if data is self.data else -length
        if key not in self._starts:
            self._starts[key] = data.windows(length + 1)
        return self._starts[key]

    def _frame(self, data: MannData, rows: Tensor, walked: Walked) -> tuple[Walked, Tensor]:
        """One frame on from the frames ``rows``, and the error of the answer (n, out), normalised."""
        answer = self.network(walked.inputs)
        outputs = answer * self._out_scale + self._out_mean
        places = data.outputs.slices
        step = torch.cat([outputs[:, places["root_velocity"]], outputs[:, places["root_turning"]]], dim=1)
        truth = data.frames[rows, self._size : self._size + 3] * self._scale[self._size : self._size + 3]
        truth = truth + self._mean[self._size : self._size + 3]
        wanted = self._wanted_step(truth, walked.astray.detach(), data.fps)
        astray = onward(walked.astray, step / data.fps, truth / data.fps)
        seen = self._seen(data, rows + 1, astray, outputs)
        inputs = torch.cat([seen, data.frames[rows + 1, self._course.stop : self._pose.start], self._clean(outputs)], 1)
        target = self._one.targets(data, rows)
        place = slice(places["root_velocity"].start, places["root_turning"].stop)
        target[:, place] = (wanted - self._out_mean[place]) / self._out_scale[place]
        with torch.no_grad():
            course = self._course_from(self._true_course(data, rows + 1)[:, :, PAST:], astray.detach()).flatten(1)
        end = course.shape[1]
        target[:, :end] = (course - self._out_mean[:end]) / self._out_scale[:end]
        return Walked(inputs, astray), answer - target

    def _wanted_step(self, truth: Tensor, astray: Tensor, fps: float) -> Tensor:
        """The true velocity as seen from the own root, and some of the way back (n, 3)."""
        back = -self.catch_up * fps
        place = truth[:, :2] + back * astray[:, :2]
        return torch.cat([turned(place, -astray[:, 2]), truth[:, 2:] + back * astray[:, 2:]], dim=1)

    def _true_course(self, data: MannData, rows: Tensor) -> Tensor:
        """True trajectories (n, 3, 12, 2)."""
        course = data.frames[rows, self._course] * self._scale[self._course] + self._mean[self._course]
        return course.view(len(rows), 3, PAST + FUTURE, 2)

    def _course_from(self, course: Tensor, astray: Tensor) -> Tensor:
        """Trajectories (n, 3, samples, 2) of the true root as seen from the own one."""
        moved = torch.cat([course[:, :1] - astray[:, None, None, :2], course[:, 1:]], dim=1)
        return turned(moved, -astray[:, 2, None, None])

    def _seen(self, data: MannData, rows: Tensor, astray: Tensor, outputs: Tensor | None) -> Tensor:
        """The trajectory that goes in (n, 72), normalised: the wish, blended with the own prediction if there is any.

        The past is the own trail: who is astray has mostly been so for a while, hence it looks like the true one.
        """
        course = self._true_course(data, rows)
        future = self._course_from(course[:, :, PAST:], astray)
        if outputs is not None:
            own = outputs[:, : 6 * FUTURE].view(len(rows), 3, FUTURE, 2)
            future = (1.0 - self._share) * own + self._share * future
            facing = nn.functional.normalize(future[:, 1:2], dim=-1, eps=1e-3)
            future = torch.cat([future[:, :1], facing, future[:, 2:]], dim=1)
        course = torch.cat([course[:, :, :PAST], future], dim=2)
        return (course.flatten(1) - self._mean[self._course]) / self._scale[self._course]

    def _clean(self, outputs: Tensor) -> Tensor:
        """The pose set on the skeleton, as `systems.mann` does it, normalised (n, 12 b)."""
        count, joints = len(outputs), self._joints
        places = self.data.outputs.slices
        raw = outputs[:, places["joint_rotations"]].view(count, joints, 2, 3)
        x = nn.functional.normalize(raw[:, :, 0], dim=-1, eps=1e-6)
        y = raw[:, :, 1]
        y = nn.functional.normalize(y - (x * y).sum(-1, keepdim=True) * x, dim=-1, eps=1e-6)
        axes = torch.stack([x, y, torch.linalg.cross(x, y)], dim=2)
        arms = (axes.index_select(1, self._parents) * self._offsets[None, :, :, None]).sum(dim=2)
        hips = outputs[:, places["joint_positions"]].view(count, joints, 3)[:, :1]
        found = self._chain @ arms + hips
        pose = torch.cat(
            [found.flatten(1), axes[:, :, :2].flatten(1), outputs[:, places["joint_velocities"]]], dim=1
        )  # fmt: skip
        return (pose - self._mean[self._pose]) / self._scale[self._pose]

    @torch.no_grad()
    def validate(self) -> float | None:
        """Mean joint error at the end of half a second on its own on held-out frames, root space, centimetres."""
        if self.held_out is None:
            return None
        length = round(0.5 * self.data.fps)
        rows = self._windows(self.held_out, length)
        if len(rows) == 0:
            return None
        rows = rows[torch.linspace(0, len(rows) - 1, min(256, len(rows))).long()]
        walked = Walked(self.held_out.frames[rows, : self._size], torch.zeros(len(rows), 3))
        self.network.eval()
        for frame in range(length):
            walked, error = self._frame(self.held_out, rows + frame, walked)
        self.network.train()
        return 100.0 * float(joint_errors(self.data, error).mean())

    def memory(self) -> list[int]:
        """Nothing: every batch is drawn anew."""
        return []

    def recall(self, memory: list[int]) -> None:
        """Nothing to restore."""


def joint_errors(data: MannData, error: Tensor) -> Tensor:
    """Distances (n, b), metres, of normalised errors of outputs (n, out)."""
    place = data.outputs.slices["joint_positions"]
    scale = data.scale[data.target_columns][place]
    return (error[:, place] * scale).view(len(error), -1, 3).norm(dim=-1)
