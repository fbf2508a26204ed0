"""The bones of an armature as a tree with places, for finding out what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .bone_names import BoneName, read_names
from .rotations import Array


@dataclass(frozen=True, eq=False)
class BoneTree:
    """Bones in their rest pose. Parents come before their children.

    Attributes:
        names: of the bones (n).
        parents: index of each bone's parent (n), -1 for none.
        heads, tails: places (n, 3), Z up, any unit.
        deforms: whether a bone moves the mesh (n).
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    heads: Array
    tails: Array
    deforms: tuple[bool, ...]

    @classmethod
    def of(
        cls, parents: Mapping[str, str | None], heads: Array, tails: Array, deforms: Sequence[bool] | None = None
    ) -> BoneTree:
        """A tree from bone -> parent's name in any order, with places (n, 3) in that order."""
        given = list(parents)
        number = {name: at for at, name in enumerate(given)}
        children: dict[str | None, list[str]] = {}
        for name, parent in parents.items():
            children.setdefault(parent if parent in number else None, []).append(name)
        order: list[str] = []
        waiting = list(reversed(children.get(None, [])))
        while waiting:
            name = waiting.pop()
            order.append(name)
            waiting += reversed(children.get(name, []))
        rank = {name: at for at, name in enumerate(order)}
        rows = [number[name] for name in order]
        marks = list(deforms) if deforms is not None else [True] * len(given)
        above = tuple(rank.get(parents[name] or "", -1) for name in order)
        places = np.asarray(heads, float).reshape(-1, 3)[rows], np.asarray(tails, float).reshape(-1, 3)[rows]
        return cls(tuple(order), above, *places, tuple(marks[row] for row in rows))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def read(self) -> list[BoneName]:
        """What the names say."""
        return read_names(self.names)

    @cached_property
    def children(self) -> list[list[int]]:
        """Indices of what hangs on each bone."""
        found: list[list[int]] = [[] for _ in self.names]
        for bone, parent in enumerate(self.parents):
            if parent >= 0:
                found[parent].append(bone)
        return found

    @cached_property
    def lowest(self) -> Array:
        """Height (n,) of the lowest head among each bone and what hangs on it."""
        low = np.array(self.heads[:, 2])
        for bone in range(len(self) - 1, 0, -1):
            parent = self.parents[bone]
            if parent >= 0:
                low[parent] = min(low[parent], low[bone])
        return low

    def line(self, bone: int) -> list[int]:
        """The bone and those above it, nearest first."""
        found = []
        while bone >= 0:
            found.append(bone)
            bone = self.parents[bone]
        return found

    def is_above(self, upper: int, lower: int) -> bool:
        """Whether ``lower`` hangs on ``upper``, or is it."""
        while lower > upper:
            lower = self.parents[lower]
        return lower == upper

    def path(self, upper: int, lower: int) -> list[int]:
        """Bones from ``upper`` to ``lower``, both included; empty when one does not hang on the other."""
        line = self.line(lower)
        return line[: line.index(upper) + 1][::-1] if upper in line else []

    def meeting(self, bones: Iterable[int]) -> int:
        """The lowest bone on which all of them hang (one of them may be it); -1 for none."""
        shared: list[int] | None = None
        for bone in bones:
            line = self.line(bone)
            members = set(line)
            shared = line if shared is None else [above for above in shared if above in members]
        return shared[0] if shared else -1

    def turned(self, turn: Callable[[Array], Array]) -> BoneTree:
        """The same bones with their places turned."""
        return BoneTree(self.names, self.parents, turn(self.heads), turn(self.tails), self.deforms)

    def only(self, keep: Callable[[int], bool], hang: Callable[[int], int] | None = None) -> BoneTree:
        """The bones that ``keep`` wants, each hung on the nearest kept one above.

        Args:
            keep: of an index.
            hang: another index to look for in place of a bone above; -1 for none.
        """
        kept = [bone for bone in range(len(self)) if keep(bone)]
        known = set(kept)
        above: dict[str, str | None] = {}
        for bone in kept:
            step = self.parents[bone]
            while step >= 0:
                other = step if step in known or hang is None else hang(step)
                if other in known and other != bone:
                    break
                step = self.parents[step]
            else:
                other = -1
            above[self.names[bone]] = self.names[other] if step >= 0 else None
        return BoneTree.of(above, self.heads[kept], self.tails[kept], [self.deforms[bone] for bone in kept])


def body_bones(tree: BoneTree) -> list[BoneTree]:
    """The bones that can be parts of the body, the likeliest choice first.

    Rigify's deform bones, hung as its original bones hang; all but helpers; everything.
    """
    read = tree.read
    found = []
    number = {name: bone for bone, name in enumerate(tree.names)}
    if sum(name.tier == "DEF" for name in read) > 6:

        def twin(bone: int) -> int:
            name = tree.names[bone]
            return number.get(f"DEF-{name[4:]}", -1) if name.startswith("ORG-") else -1

        def same_bone(bone: int) -> bool:
            """A limb's second segment (thigh.L.001 on thigh.L): for twist, no joint."""
            mine, parent = read[bone], tree.parents[bone]
            if not mine.side or not mine.number or parent < 0:
                return False
            over = read[parent]
            return over.tier == "DEF" and (over.core, over.side, over.number) == (mine.core, mine.side, 0)

        found.append(tree.only(lambda b: read[b].tier == "DEF" and not read[b].helper and not same_bone(b), twin))
    plain = [name for name in read if not name.tier]
    layered = any(name.tier == "DEF" for name in read) and len(plain) < len(read)
    found.append(tree.only(lambda b: not _is_helper(tree, b) and not (layered and read[b].tier == "ORG")))
    found.append(tree)
    return found


def _is_helper(tree: BoneTree, bone: int) -> bool:
    name = tree.read[bone]
    return name.helper or (name.end and not tree.children[bone])
