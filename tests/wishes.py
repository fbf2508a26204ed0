"""What the tests of systems that go by samples and actions ask for."""

import numpy as np

from blender_addon.systems.protocol import System, Wish


def wish(system: System, count: int, speed: float, action: str) -> Wish:
    """``count`` characters that shall go straight on at ``speed`` m/s in an action."""
    ahead = np.array(system.horizon)
    positions = np.zeros((count, len(ahead), 2))
    positions[..., 1] = -speed * ahead
    directions = np.zeros((count, len(ahead), 2))
    directions[..., 1] = -1.0
    actions = np.zeros((count, len(ahead), len(system.actions)))
    actions[..., system.actions.index(action)] = 1.0
    return Wish(positions, directions, np.full(count, speed), np.full((count, len(ahead)), speed), actions)
