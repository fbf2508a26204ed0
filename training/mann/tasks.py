"""The two trainings of the network: single frames first, then windows in which it lives on its own answers."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from blender_addon.systems.mann_control import Blend
from blender_addon.systems.mann_features import pose_columns
from blender_addon.systems.trajectory import FUTURE, PAST

from ..roots import carried, onward, turned
from .body import TorchBody
from .data import Draws, MannData
from .networks import MannNetwork

#: The own root stands up to so far from the true one when a window begins: metres, radians (deviations).
_ASTRAY_M, _ASTRAY_RAD = 0.12, 0.12
#: Windows grow from this many frames to their full length during the first share of their stage.
_SHORTEST, _GROWING = 3, 0.5
#: Errors of the feet's speed count by this many metres a second; of feet in the air so much less.
_SLIP, _SWINGING = 0.3, 0.1
#: Errors of the joints' acceleration count by this many metres a second squared.
_SHAKE = 5.0


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
    #: All outputs; and the root's step alone, three numbers among hundreds that take the character along its plan.
    terms: tuple[str, ...] = ("error", "root")

    def __init__(
        self, data: MannData, network: MannNetwork, batch: int, noise: float = 0.0, held_out: MannData | None = None
    ) -> None:
        self.data, self.network, self.batch, self.noise, self.held_out = data, network, batch, noise, held_out
        self.module: nn.Module = network
        rows = data.windows(2)
        self._draw = Draws(rows, data.importance()[rows])
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
        rows = self._draw(self.batch, random)
        inputs = self.data.frames[rows, : self._size]
        if self.noise > 0.0:
            # From none to twice the deviation: most rows are nearly true, some are far out.
            sigma = 2.0 * self.noise * torch.rand((self.batch, 1), generator=random)
            shape = (self.batch, self._pose.stop - self._pose.start)
            inputs[:, self._pose] += sigma * torch.randn(shape, generator=random)
        error = (self.network(inputs) - self.targets(self.data, rows)).square()
        return torch.stack([error.mean(), error[:, self._steps].mean()])

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
    """Where a window's characters are.

    Attributes:
        inputs: the next input, normalised (n, in). astray: the own root as seen from the true one (n, 3).
        balls: of the feet, in the own root space (n, feet, 3), metres.
        off: error of the joints' positions in root space (n, b, 3), metres.
    """

    inputs: Tensor
    astray: Tensor
    balls: Tensor
    off: Tensor


class WindowTask:
    """Windows of frames; each answer makes the next input, just as at run time.

    The own root goes where the network takes it. The wish is the true trajectory as seen from there, blended with the
    own prediction; what is learned is the true pose, and to come back to the true root within a second or so.

    Args:
        data: the frames. network: what learns, already good at single frames. batch: windows in a batch.
        window: frames in a window. noise: deviation of the noise on a window's first pose. blend: as at run time.
        catch_up: share of the distance from the true root that is to be taken back each frame.
        pull: share of it that the run time takes back whatever the network says.
        held_out: frames to measure on.
    """

    name = "windows"
    unit = "cm"
    #: All outputs; joints as the skeleton puts them; the feet's movement over the ground, those that stand above all;
    #: the root's step, three numbers among hundreds, without which a character lags 15 cm behind its plan; and the
    #: second difference of the joints' errors, without which the body trembles at rest.
    terms: tuple[str, ...] = ("error", "joints", "feet", "root", "shake")

    def __init__(
        self, data: MannData, network: MannNetwork, batch: int, window: int, noise: float = 0.0,
        blend: Blend | None = None, catch_up: float = 0.03, pull: float = 0.0, held_out: MannData | None = None,
    ) -> None:  # fmt: skip
        self.data, self.network, self.batch, self.window, self.noise = data, network, batch, window, noise
        self.catch_up, self.pull, self.held_out = catch_up, pull, held_out
        self.module: nn.Module = network
        self._one = StepTask(data, network, batch)
        self._size, self._pose = data.inputs.size, pose_columns(data.inputs)
        self._mean, self._scale = data.mean, data.scale
        self._course = slice(0, data.inputs.slices["speeds"].start)
        self._importance = data.importance()
        self._known: dict[int, Draws] = {}
        self._share = torch.from_numpy((blend or Blend()).shares).float()
        self._body = TorchBody(data.skeleton)
        columns = data.target_columns
        placed = slice(self._pose.start, self._pose.start + 9 * len(data.skeleton))
        self._placed_mean, self._placed_scale = self._mean[placed], self._scale[placed]
        self._out_mean, self._out_scale = self._mean[columns], self._scale[columns]

    def losses(self, random: torch.Generator, done: float = 1.0) -> Tensor:
        """Draw windows, walk along them, compare every frame."""
        grown = min(1.0, done / _GROWING)
        length = max(min(_SHORTEST, self.window), round(grown * self.window))
        batch = max(1, round(self.batch * self.window / length))
        rows = self._draws(length)(batch, random)
        inputs = self.data.frames[rows, : self._size]
        width = self._pose.stop - self._pose.start
        sigma = 2.0 * self.noise * torch.rand((batch, 1), generator=random)
        inputs[:, self._pose] += sigma * torch.randn((batch, width), generator=random)
        astray = torch.randn((batch, 3), generator=random) * torch.tensor([_ASTRAY_M, _ASTRAY_M, _ASTRAY_RAD])
        astray = astray * torch.rand((batch, 1), generator=random)
        inputs = torch.cat([self._seen(self.data, rows, astray, None), inputs[:, self._course.stop :]], dim=1)
        walked = self._begin(inputs, astray)
        total, shake = torch.zeros(4), torch.zeros(())
        offs: list[Tensor] = []
        for frame in range(length):
            walked, terms, _ = self._frame(self.data, rows + frame, walked)
            # Noise on the first pose is no movement.
            total = total + (terms if frame > 0 else terms * torch.tensor([1.0, 1.0, 0.0, 1.0]))
            offs = [*offs[-2:], walked.off]
            if len(offs) == 3:
                second = (offs[0] - 2.0 * offs[1] + offs[2]) * (self.data.fps**2 / _SHAKE)
                shake = shake + second.square().mean()
        return torch.cat([total, shake[None]]) / length

    def _begin(self, inputs: Tensor, astray: Tensor) -> Walked:
        """A window's first state."""
        return Walked(inputs, astray, self._balls(inputs), torch.zeros(len(inputs), self._body.joints, 3))

    def _draws(self, length: int) -> Draws:
        """Draws first frames of windows of ``length`` frames and one more, by the importance of their middles."""
        if length not in self._known:
            starts = self.data.windows(length + 1)
            self._known[length] = Draws(starts, self._importance[starts + length // 2])
        return self._known[length]

    def _frame(self, data: MannData, rows: Tensor, walked: Walked) -> tuple[Walked, Tensor, Tensor]:
        """One frame on from the frames ``rows``; four of the loss terms; the error of the outputs, normalised."""
        answer = self.network(walked.inputs)
        outputs = answer * self._out_scale + self._out_mean
        places = data.outputs.slices
        step = torch.cat([outputs[:, places["root_velocity"]], outputs[:, places["root_turning"]]], dim=1) / data.fps
        truth = data.frames[rows, self._size : self._size + 3] * self._scale[self._size : self._size + 3]
        truth = (truth + self._mean[self._size : self._size + 3]) / data.fps
        astray = onward(walked.astray, step, truth) - self.pull * walked.astray
        positions, axes = self._set_on_skeleton(outputs)
        placed = torch.cat([positions.flatten(1), axes[:, :, :2].flatten(1)], dim=1)
        pose = [(placed - self._placed_mean) / self._placed_scale, answer[:, places["joint_velocities"]]]
        seen = self._seen(data, rows + 1, astray, outputs)
        inputs = torch.cat([seen, data.frames[rows + 1, self._course.stop : self._pose.start], *pose], dim=1)
        balls = self._body.balls(positions, axes)
        error = answer - self._target(data, rows, walked.astray.detach(), astray.detach(), truth)
        size = 3 * self._body.joints
        off = pose[0][:, :size] - data.frames[rows + 1, self._pose][:, :size]
        slip = carried(balls, step) - walked.balls - self._true_slip(data, rows, truth, walked.astray.detach())
        down = data.frames[rows + 1, self._size + 3 :] * self._scale[self._size + 3 :] + self._mean[self._size + 3 :]
        weight = (_SWINGING + (1.0 - _SWINGING) * down)[:, :, None]
        feet = (weight * (slip * (data.fps / _SLIP)) ** 2).mean()
        root = error[:, places["root_velocity"].start : places["root_turning"].stop].square().mean()
        after = Walked(inputs, astray, balls, (off * self._placed_scale[:size]).view(len(rows), -1, 3))
        return after, torch.stack([error.square().mean(), off.square().mean(), feet, root]), error

    def _target(self, data: MannData, rows: Tensor, before: Tensor, after: Tensor, truth: Tensor) -> Tensor:
        """What the outputs should be, normalised, for who is astray ``before`` and ``after`` the frame (n, 3)."""
        target = self._one.targets(data, rows)
        place = slice(data.outputs.slices["root_velocity"].start, data.outputs.slices["root_turning"].stop)
        wanted = self._wanted_step(truth * data.fps, before, data.fps)
        target[:, place] = (wanted - self._out_mean[place]) / self._out_scale[place]
        course = self._course_from(self._true_course(data, rows + 1)[:, :, PAST:], after).flatten(1)
        end = course.shape[1]
        target[:, :end] = (course - self._out_mean[:end]) / self._out_scale[:end]
        return target

    def _set_on_skeleton(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Joint positions (n, b, 3) and axes (n, b, 3, 3) of outputs that are not normalised, as at run time."""
        places = self.data.outputs.slices
        axes = self._body.axes(outputs[:, places["joint_rotations"]])
        return self._body.positions(outputs[:, places["joint_positions"]][:, :3], axes), axes

    def _balls(self, inputs: Tensor) -> Tensor:
        """The feet (n, feet, 3) of inputs, normalised."""
        pose = inputs[:, self._pose][:, : 9 * self._body.joints] * self._placed_scale + self._placed_mean
        positions = pose[:, : 3 * self._body.joints].view(len(pose), -1, 3)
        return self._body.balls(positions, self._body.axes(pose[:, 3 * self._body.joints :].contiguous()))

    def _true_slip(self, data: MannData, rows: Tensor, truth: Tensor, astray: Tensor) -> Tensor:
        """How the feet truly move over the ground (n, feet, 3), metres, as seen from the own root."""
        before, after = (self._balls(data.frames[at, : self._size]) for at in (rows, rows + 1))
        moved = carried(after, truth) - before
        return torch.cat([turned(moved[..., :2], -astray[:, 2:]), moved[..., 2:]], dim=-1)

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

    @torch.no_grad()
    def validate(self) -> float | None:
        """Mean joint error at the end of half a second on its own on held-out frames, root space, centimetres."""
        if self.held_out is None:
            return None
        length = round(0.5 * self.data.fps)
        rows = self.held_out.windows(length + 1)
        if len(rows) == 0:
            return None
        rows = rows[torch.linspace(0, len(rows) - 1, min(256, len(rows))).long()]
        inputs = self.held_out.frames[rows, : self._size]
        walked = self._begin(inputs, torch.zeros(len(rows), 3))
        self.network.eval()
        for frame in range(length):
            walked, _, error = self._frame(self.held_out, rows + frame, walked)
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
