"""The errors that reach a user: each says what is wrong and what to do about it."""

from __future__ import annotations


class GaitsmithError(Exception):
    """Something the user can mend.

    Raised low, shown once, high up (panel, command line).

    Args:
        message: what is wrong, in an animator's words, without a final full stop.
        remedy: what to do about it; empty when the message says it already.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        self.message = message
        self.remedy = remedy
        super().__init__(f"{message}. {remedy}" if remedy else message)


class PathError(GaitsmithError):
    """The root curve, its schedule or its limits cannot be walked along."""


class TerrainError(GaitsmithError):
    """The ground under the path cannot be read or stood upon."""


class RigError(GaitsmithError):
    """The character's armature lacks what locomotion needs, or cannot be written."""


class ClipError(GaitsmithError):
    """A piece of motion is empty, broken or does not fit its skeleton."""


class DatasetError(GaitsmithError):
    """A set of clips is too small, inconsistent or unreadable."""


class PackError(GaitsmithError):
    """A model pack is damaged, unsafe, or made for another version or layout."""


class Cancelled(Exception):  # noqa: N818 - not an error: the user asked for it
    """The user cancelled long work; nothing of it may remain."""
