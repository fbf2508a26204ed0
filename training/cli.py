"""The command line of training: ``train`` makes packs of data sets, ``evaluate`` measures them, ``gaits`` makes data,
``label`` labels them.

Exit status: 0 done, 2 something the user can mend, 130 cancelled.
"""

from __future__ import annotations

import argparse
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blender_addon.motion.errors import Cancelled, DatasetError, GaitsmithError

from .progress import Bar, JsonLines, Reporter

if TYPE_CHECKING:
    from .lmm.run import LmmRun
    from .mann.run import MannRun
    from .pfnn.run import PfnnRun

_CANCELLED = 130


class _Stop:
    """Remembers that the user wants the run to end."""

    def __init__(self) -> None:
        self.wanted = False

    def watch_signals(self) -> None:
        for name in ("SIGTERM", "SIGINT", "SIGBREAK"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._set)

    def _set(self, number: int, frame: Any) -> None:
        self.wanted = True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    reporter: Reporter = JsonLines() if options.json_lines else Bar()
    stop = _Stop()
    stop.watch_signals()
    try:
        if options.command == "train":
            _train(options, reporter, stop)
        elif options.command == "gaits":
            _generate(options, reporter)
        elif options.command == "label":
            _label(options, reporter)
        else:
            _evaluate(options, reporter)
    except Cancelled:
        reporter.message("cancelled", message="stopped; go on with --resume")
        return _CANCELLED
    except GaitsmithError as error:
        reporter.message("error", message=error.message, remedy=error.remedy)
        return 2
    return 0


def _train(options: argparse.Namespace, reporter: Reporter, stop: _Stop) -> None:
    from blender_addon.motion.dataset import Dataset
    from blender_addon.systems.packs import check_target

    from .settings import LmmSettings, MannTrainingSettings, PfnnTrainingSettings, read_settings

    out = Path(options.out)
    check_target(out)
    dataset = Dataset.load(options.dataset)
    path = Path(options.settings) if options.settings else None
    report = ""
    if options.system == "mm":
        from .mm import make_pack

        metrics = make_pack(dataset, out, options.title, read_settings(path, LmmSettings).mirror)
    else:
        _need_torch()
        from .lmm.run import LmmRun
        from .mann.run import MannRun
        from .pfnn.run import PfnnRun
        from .stages import Limits
        from .trainer import Watch

        watch = Watch(reporter, lambda: stop.wanted, checkpoint_seconds=options.checkpoint_seconds)
        limits = Limits(options.iterations, options.minutes)
        how = (limits, watch, options.resume, options.title)
        run: LmmRun | MannRun | PfnnRun
        if options.system == "mann":
            begin = Path(options.begin) if options.begin else None
            run = MannRun(dataset, out, read_settings(path, MannTrainingSettings), *how, begin)
        elif options.system == "pfnn":
            run = PfnnRun(dataset, out, read_settings(path, PfnnTrainingSettings), *how)
        else:
            run = LmmRun(dataset, out, read_settings(path, LmmSettings), *how)
        metrics = run.train()
        report = "" if options.no_report else _training_report(options.system, run, metrics, reporter)
    reporter.message("done", pack=str(out), report=report, **metrics)


def _training_report(
    system: str, run: LmmRun | MannRun | PfnnRun, metrics: Mapping[str, Any], reporter: Reporter
) -> str:
    """Write the report beside the pack; returns its text's place, nothing where it could not be written."""
    from .pfnn.run import PfnnRun
    from .report import Ended, report_folder, write_report

    reporter.message("stage", stage="report", message="writing the report")
    ended = Ended(system, run.title or run.out.stem, run.dataset, run.outcomes, metrics)
    if isinstance(run, PfnnRun) and run.settings.fit_ground:
        ended = replace(ended, labels=run.labels, ground=run.settings.ground)
    try:
        return str(write_report(ended, report_folder(run.out))[0])
    except GaitsmithError as error:
        # The pack is done; hours of training must not fail for want of a picture.
        reporter.message("remark", message=f"There is no report: {error}")
        return ""


def _evaluate(options: argparse.Namespace, reporter: Reporter) -> None:
    from .evaluate import evaluate

    dataset = Path(options.dataset) if options.dataset else None
    reporter.message("done", pack=options.pack, **evaluate(Path(options.pack), dataset))


def _generate(options: argparse.Namespace, reporter: Reporter) -> None:
    from blender_addon.motion.dataset import check_target

    from .animals import AnimalSettings, generate, minutes_of, read_skeleton

    check_target(Path(options.out))
    skeleton = read_skeleton(Path(options.skeleton) if options.skeleton else None)
    settings = AnimalSettings(options.minutes, options.seed, options.fps)
    dataset = generate(skeleton, settings, reporter)
    dataset.save(options.out)
    reporter.message("done", dataset=options.out, clips=len(dataset), minutes=minutes_of(dataset))


def _label(options: argparse.Namespace, reporter: Reporter) -> None:
    from blender_addon.motion.dataset import Dataset

    from .labelling import label_dataset, write_report

    dataset, labels = label_dataset(Dataset.load(options.dataset))
    out = options.out or options.dataset
    dataset.save(out)
    files = write_report(dataset, labels, Path(options.report), not options.no_ground) if options.report else []
    reporter.message("done", dataset=str(out), clips=len(dataset), report=str(files[0]) if files else "")


def _need_torch() -> None:
    try:
        import onnx  # noqa: F401
        import torch
    except ImportError as error:
        raise DatasetError(
            f"This Python has no {error.name}, which training needs",
            "Choose a Python with torch and onnx in the preferences, or: pip install torch onnx tqdm",
        ) from error
    # One network of this size runs no faster on more threads, and Blender wants some for itself.
    torch.set_num_threads(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training", description="Train locomotion packs and measure them.")
    commands = parser.add_subparsers(dest="command")
    train = commands.add_parser("train", help="make a pack from a data set")
    train.add_argument("system", choices=("mm", "lmm", "mann", "pfnn"),
                       help="mm: an index only; lmm: four networks; mann: experts, for four legs; "
                            "pfnn: by the phase of the stride, for two legs on any ground")  # fmt: skip
    train.add_argument("dataset", help="folder made by: python -m blender_addon ingest")
    train.add_argument("--out", required=True, help="folder of the pack (or a .zip)")
    train.add_argument("--title", default="", help="the pack's name for people")
    train.add_argument("--resume", action="store_true", help="go on from the checkpoints of an interrupted run")
    train.add_argument("--begin", help="mann: go on from the network.pt that an earlier training left beside its pack")
    length = train.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=_positive(float), help="train so long, all stages together")
    length.add_argument("--iterations", type=_positive(int), help="train every stage so many steps")
    train.add_argument("--settings", help="TOML file; see training/settings.py")
    train.add_argument("--checkpoint-seconds", type=_positive(float), default=30.0, help="time between checkpoints")
    train.add_argument("--no-report", action="store_true", help="write no report beside the pack")
    evaluate = commands.add_parser("evaluate", help="measure a pack")
    evaluate.add_argument("pack", help="folder or zip of the pack")
    evaluate.add_argument("dataset", nargs="?", help="data set with held-out takes")
    gaits = commands.add_parser("gaits", help="generate a data set of four-legged motion from the gait model")
    gaits.add_argument("--out", required=True, help="folder of the data set")
    gaits.add_argument("--minutes", type=_positive(float), default=75.0, help="how much motion")
    gaits.add_argument("--seed", type=int, default=1, help="the same seed gives the same motion")
    gaits.add_argument("--fps", type=_positive(float), default=60.0, help="frames per second")
    gaits.add_argument("--skeleton", help="JSON file of a four-legged skeleton; the fox of the shipped pack without")
    label = commands.add_parser("label", help="label a data set's contacts, phase and gaits, and say what is doubtful")
    label.add_argument("dataset", help="folder of the data set; what was labelled by hand in Blender stays as it is")
    label.add_argument("--out", help="another folder for the labelled data set")
    label.add_argument("--report", help="folder for a report with pictures")
    label.add_argument("--no-ground", action="store_true", help="no pictures of fitted ground in the report")
    for command in (parser, train, evaluate, gaits, label):
        command.add_argument("--json-lines", action="store_true", help="one JSON object a line, for the add-on",
                             default=False if command is parser else argparse.SUPPRESS)  # fmt: skip
    return parser


def _positive(kind: type[int] | type[float]) -> Any:
    def convert(text: str) -> float:
        value = kind(text)
        if not value > 0:
            raise ValueError
        return value

    convert.__name__ = "positive number"
    return convert


