"""Feature layouts: named blocks of a vector, declared once and used by training and run time alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..motion.errors import PackError


@dataclass(frozen=True)
class Block:
    """One named run of values in a vector: ``size`` numbers called ``name``."""

    name: str
    size: int


@dataclass(frozen=True)
class Layout:
    """An ordered list of blocks; knows where each lies, so that nobody counts indices."""

    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, **sizes: int) -> Layout:
        """A layout from ``name=size`` pairs, in the order they are given."""
        return cls(tuple(Block(name, size) for name, size in sizes.items()))

    @cached_property
    def size(self) -> int:
        """Length of the whole vector."""
        return sum(block.size for block in self.blocks)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Block name -> its place in the vector."""
        places: dict[str, slice] = {}
        start = 0
        for block in self.blocks:
            places[block.name] = slice(start, start + block.size)
            start += block.size
        return places

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def get(self, vector: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
        """The block ``name`` of ``vector`` (..., size), a view (..., block size)."""
        return vector[..., self.slices[name]]

    def join(self, **parts: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Put blocks (..., block size) together in the layout's order; all must be given."""
        for block in self.blocks:
            if parts[block.name].shape[-1] != block.size:
                raise ValueError(f"block {block.name} has size {parts[block.name].shape[-1]}, not {block.size}")
        return np.concatenate([parts[block.name] for block in self.blocks], axis=-1)

    def to_json(self) -> list[list[Any]]:
        """A plain description, for packs."""
        return [[block.name, block.size] for block in self.blocks]

    @classmethod
    def from_json(cls, data: Sequence[Sequence[Any]]) -> Layout:
        """The inverse of `to_json`; raises `PackError` when malformed."""
        try:
            return cls(tuple(Block(str(name), int(size)) for name, size in data))
        except (TypeError, ValueError) as error:
            raise PackError("The pack's feature layout is malformed") from error

    def check_same(self, other: Layout, what: str) -> None:
        """Raise `PackError` naming the first block of ``other`` that differs from this layout."""
        for i in range(max(len(self.blocks), len(other.blocks))):
            mine = self.blocks[i] if i < len(self.blocks) else None
            theirs = other.blocks[i] if i < len(other.blocks) else None
            if mine != theirs:
                name = theirs.name if theirs else mine.name if mine else "?"
                raise PackError(
                    f"The pack's {what} layout differs from this version's at block {name!r}",
                    "Use a pack made with this version, or train it again",
                )
