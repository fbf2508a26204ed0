"""What the name of a bone says: side, part of the body, number, and whether it is only a helper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

#: Part of a limb -> words for it and how surely they mean it (0..1). Joined, lower case, without side and number.
#: A word may stand under several parts: which one it is shows in what hangs on what.
LEG_WORDS: dict[str, dict[str, float]] = {
    "hip": {"thigh": 1.0, "upleg": 1.0, "upperleg": 1.0, "legupper": 1.0, "femur": 1.0, "thighbend": 1.0, "hip": 0.9,
            "legup": 0.9, "leghip": 0.9, "leg": 0.7},
    "knee": {"shin": 1.0, "calf": 1.0, "lowerleg": 1.0, "leglower": 1.0, "tibia": 1.0, "knee": 0.95, "lowleg": 1.0,
             "legknee": 0.9, "crus": 0.9, "legdown": 0.9, "leg": 0.8},
    "ankle": {"foot": 1.0, "ankle": 0.98, "legfoot": 0.9, "legankle": 0.95, "hindfoot": 0.9},
    "toe": {"toe": 1.0, "toes": 1.0, "toebase": 1.0, "ball": 0.95, "toesbase": 1.0, "football": 0.9, "legtoe": 0.9,
            "bigtoe": 0.6, "foot": 0.3},
}  # fmt: skip
ARM_WORDS: dict[str, dict[str, float]] = {
    "clavicle": {"clavicle": 1.0, "collar": 1.0, "collarbone": 1.0, "clav": 0.9, "scapula": 0.7, "shoulder": 0.75},
    "shoulder": {"upperarm": 1.0, "uparm": 1.0, "armupper": 1.0, "humerus": 1.0, "shldrbend": 1.0, "shldr": 0.9,
                 "bicep": 0.8, "arm": 0.8, "shoulder": 0.6},
    "elbow": {"forearm": 1.0, "lowerarm": 1.0, "armlower": 1.0, "lowarm": 1.0, "forearmbend": 1.0, "elbow": 0.95,
              "radius": 0.95, "ulna": 0.9, "arm": 0.5},
    "wrist": {"wrist": 1.0, "hand": 0.97, "palm": 0.4},
}  # fmt: skip
#: Parts in the middle of the body.
CENTRE_WORDS: dict[str, frozenset[str]] = {
    "hips": frozenset({"hips", "hip", "pelvis"}),
    "spine": frozenset({
        "spine", "back", "torso", "chest", "abdomen", "abdomenlower", "abdomenupper", "chestlower", "chestupper",
        "upperchest", "waist", "lowerback", "upperback", "spinelower", "spineupper", "belly", "thorax", "ribs",
    }),
    "neck": frozenset({"neck", "necklower", "neckupper", "necktwist"}),
    "head": frozenset({"head"}),
    "tail": frozenset({"tail", "tailbase", "tailmid", "tailend"}),
    "root": frozenset({
        "root", "master", "reference", "armature", "trajectory", "motion", "rootmotion", "world", "origin", "main",
        "global", "position",
    }),
}  # fmt: skip
#: Words that say which pair of legs an animal's bone belongs to.
_GIRDLES = {"front": "front", "fore": "front", "hind": "back", "back": "back", "rear": "back"}
_LIMB_STARTS = ("leg", "upperleg", "lowerleg", "foot", "paw", "hoof", "toe", "shoulder", "thigh", "shin", "scapula",
                "humerus", "pelvis", "hand", "ankle", "upperarm", "knee", "hip", "calf", "femur")  # fmt: skip
#: Words of bones that move others, or mark a place, and are no part of the body themselves.
_HELPERS = frozenset({
    "ik", "fk", "pole", "poletarget", "target", "ctrl", "control", "controller", "tweak", "mch", "vis", "wgt", "twist",
    "roll", "helper", "nub", "socket", "slot", "handslot", "ff", "ffb", "parent", "offset", "corrective", "jiggle",
    "spin", "weapon", "attach", "dummy", "hipjoint", "twister", "muscle", "pivot",
})  # fmt: skip
#: Marks of a chain's end; helpers only where nothing hangs on them.
_ENDS = frozenset({"end", "tip", "leaf", "nub", "top", "site"})
_NOISE = frozenset({
    "bone", "joint", "jnt", "jt", "def", "org", "bip", "biped", "valve", "mixamorig", "j", "b", "c", "f", "bn", "bind",
    "skin", "sk", "cc", "rig",
})  # fmt: skip
_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}
_PREFIX = re.compile(r"^(?:.*[:|]|CC_Base_|mixamorig\d*_)")
_CORES = frozenset(word for table in (LEG_WORDS, ARM_WORDS) for words in table.values() for word in words)
_KNOWN = _CORES | frozenset(word for words in CENTRE_WORDS.values() for word in words) | _HELPERS


@dataclass(frozen=True)
class BoneName:
    """A bone's name, read.

    Attributes:
        core: the words that name the part, joined, lower case.
        side: ``left``, ``right`` or empty.
        number: its number; 0 for none.
        helper: the name says that it is a control or the like.
        end: the name says that it marks the end of a chain.
        tier: ``DEF``, ``ORG``, ``MCH`` or empty: Rigify's layers.
        girdle: ``front``, ``back`` or empty: which pair of legs.
    """

    core: str
    side: str = ""
    number: int = 0
    helper: bool = False
    end: bool = False
    tier: str = ""
    girdle: str = ""

    def is_centre(self, part: str) -> bool:
        """Whether it names a part in the middle of the body (`CENTRE_WORDS`)."""
        return not self.side and self.core in CENTRE_WORDS[part]


def read_names(names: Sequence[str]) -> list[BoneName]:
    """Read all names of an armature; a word that nearly all begin with is a prefix and says nothing."""
    split = [_words(name) for name in names]
    first = Counter(words[0] for words in split if words)
    word, count = first.most_common(1)[0] if first else ("", 0)
    common = word if len(names) > 4 and count > 0.8 * len(names) and word not in _KNOWN | set(_SIDES) else ""
    return [_read(name, words[1:] if common and words and words[0] == common else words)
            for name, words in zip(names, split, strict=True)]  # fmt: skip


def _words(name: str) -> list[str]:
    found: list[str] = []
    for word in _SPLIT.findall(_PREFIX.sub("", name)):
        found += _divide(word.lower())
    return found


def _divide(word: str) -> list[str]:
    """``leftfoot`` and ``rtibia`` as side and word."""
    if word in _KNOWN or word in _NOISE or word in _SIDES or word in _GIRDLES:
        return [word]
    for mark in ("left", "right", "l", "r"):
        if word.startswith(mark) and word[len(mark) :] in _CORES:
            return [mark, word[len(mark) :]]
        if mark in ("left", "right") and word.endswith(mark) and word[: -len(mark)] in _CORES:
            return [word[: -len(mark)], mark]
    return [word]


def _read(name: str, words: Sequence[str]) -> BoneName:
    tier = next((mark for mark in ("DEF", "ORG", "MCH") if name.startswith(f"{mark}-")), "")
    sides = [at for at, word in enumerate(words) if word in _SIDES]
    # Rigify's r_toe.L is the rear toe on the left: of two marks the last one counts.
    spelled = [at for at in sides if len(words[at]) > 1]
    mark = (spelled or sides or [-1])[-1]
    side = _SIDES[words[mark]] if sides else ""
    kept, number, noise = [], 0, False
    for at, word in enumerate(words):
        if at in sides:
            continue
        if word.isdigit():
            number = number if noise or number else int(word)
        elif word in _NOISE and len(words) > 1:
            noise = True
            continue
        else:
            kept.append(word)
        noise = False
    core = "".join(kept)
    girdle = ""
    if kept and kept[0] in _GIRDLES and "".join(kept[1:]).startswith(_LIMB_STARTS):
        girdle, core = _GIRDLES[kept[0]], "".join(kept[1:])
    elif core.startswith(("forefoot", "foreleg", "forepaw", "hindfoot", "hindleg", "hindpaw")):
        girdle, core = ("front" if core.startswith("fore") else "back"), core[4:]
    helper = tier == "MCH" or bool(_HELPERS.intersection(kept)) or core in _HELPERS
    return BoneName(core, side, number, helper, bool(_ENDS.intersection(kept)), tier, girdle)
