"""Which frames a network that lives on its own answers begins from: resting ones, and others on the move."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float32]

#: How many frames of each kind, at rest and on the move.
_AT_REST, _MOVING = 24, 24
#: Slower than this, trajectory and joints, is rest: metres a second.
_CALM_SPEED = 0.15


def choose(kinds: npt.NDArray[np.bool_], speed: Values, restless: Values, seed: int) -> npt.NDArray[np.int64]:
    """Of every kind the calmest frames, and others spread over its speeds.

    Args:
        kinds: which kinds each frame shows (n, kinds). speed: the root's now (n,), metres a second.
        restless: the greatest speed of a joint, or of the root at any sample of the trajectory (n,).
        seed: decides among equals.
    """
    random = np.random.default_rng(seed)
    chosen = []
    for shown in kinds.T:
        rows = np.nonzero(shown)[0]
        if len(rows) == 0:
            continue
        calm = rows[restless[rows] < _CALM_SPEED]
        if len(calm) == 0:
            calm = rows[np.argsort(restless[rows])[:_AT_REST]]
        chosen.append(calm[np.linspace(0, len(calm) - 1, min(_AT_REST, len(calm))).astype(np.int64)])
        # By speed, so that the rare fast ones are there too.
        ordered = rows[np.argsort(speed[rows] + 1e-3 * random.random(len(rows)))]
        chosen.append(ordered[np.linspace(0, len(ordered) - 1, min(_MOVING, len(ordered))).astype(np.int64)])
    return np.unique(np.concatenate(chosen))
