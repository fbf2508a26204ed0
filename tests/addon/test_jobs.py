"""Child processes: events, crashes, garbage, cancelling, strange paths."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from blender_addon import jobs

SCRIPT = '''
import json, os, signal, sys, time
def say(**event):
    print(json.dumps(event), flush=True)
kind = sys.argv[1]
if kind == "steps":
    for i in range(5):
        say(event="progress", fraction=(i + 1) / 5)
    say(event="done", pack=sys.argv[2])
elif kind == "crash":
    say(event="progress", fraction=0.1)
    raise ValueError("the weights are gone")
elif kind == "error":
    say(event="error", message="Too little motion", remedy="Select more actions")
    sys.exit(2)
elif kind == "garbage":
    print("hello"); print("{not json"); print("[1, 2]"); print('"text"'); print("{" * 5000)
    sys.stdout.buffer.write(b"\\xff\\xfe\\x00 not utf-8\\n"); sys.stdout.flush()
    say(event="progress", fraction=0.5)
    print("a tqdm line\\rredrawn\\rlast", file=sys.stderr)
elif kind == "sleep":
    say(event="started", pid=os.getpid())
    time.sleep(60)
elif kind == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say(event="started", pid=os.getpid())
    time.sleep(60)
elif kind == "flood":
    for i in range(20000):
        say(event="progress", i=i)
elif kind == "environment":
    say(event="done", home=os.environ.get("PYTHONHOME"), cwd=os.getcwd(), encoding=sys.stdout.encoding)
'''


@pytest.fixture
def start(tmp_path: Path):
    folder = tmp_path / "väg med мир 道"
    folder.mkdir()
    script = folder / "ett skript.py"
    script.write_text(SCRIPT, encoding="utf-8")
    started: list[jobs.Job] = []

    def run(*arguments: str) -> jobs.Job:
        job = jobs.Job([sys.executable, "-u", str(script), *arguments], cwd=folder)
        started.append(job)
        return job

    yield run
    for job in started:
        job.cancel(0.5)


def wait_for_event(job: jobs.Job, seconds: float = 20.0) -> jobs.Event:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if events := job.poll():
            return events[0]
        time.sleep(0.01)
    raise AssertionError(f"no event; log: {job.log}")


def test_events_arrive_in_order_and_unicode_survives(start) -> None:
    job = start("steps", "/tmp/väg med мир/道")
    assert job.wait(20) == "done"
    events = job.poll()
    assert [e["fraction"] for e in events[:-1]] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert events[-1] == {"event": "done", "pack": "/tmp/väg med мир/道"}
    assert job.poll() == []


def test_a_crash_is_told_with_the_last_line_of_the_traceback(start) -> None:
    job = start("crash")
    assert job.wait(20) == "failed"
    assert len(job.poll()) == 1
    assert "the weights are gone" in job.failure()


@pytest.mark.parametrize(
    ("code", "said"),
    [("import torch_that_is_not_there", "has no torch_that_is_not_there. Choose a Python with torch"),
     ("raise SystemExit(3)", "exit status 3. See that")],
)  # fmt: skip
def test_a_python_that_cannot_train_is_told_with_a_remedy(code: str, said: str, tmp_path: Path) -> None:
    job = jobs.Job((sys.executable, "-c", code), cwd=tmp_path)
    assert job.wait(20) == "failed"
    assert said in job.failure()


def test_the_childs_own_error_is_told_with_its_remedy(start) -> None:
    job = start("error")
    assert job.wait(20) == "failed"
    job.poll()
    assert job.failure() == "Too little motion. Select more actions"


def test_lines_that_are_no_events_go_to_the_log(start) -> None:
    job = start("garbage")
    assert job.wait(20) == "done"
    assert job.poll() == [{"event": "progress", "fraction": 0.5}]
    assert "hello" in job.log and "{not json" in job.log and "last" in job.log


def test_cancel_ends_a_willing_child_at_once(start) -> None:
    job = start("sleep")
    pid = wait_for_event(job)["pid"]
    began = time.monotonic()
    job.cancel()
    assert time.monotonic() - began < 2.0
    assert job.state == "cancelled" and not running(pid)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM to ignore")
def test_cancel_kills_a_child_that_does_not_listen(start) -> None:
    job = start("stubborn")
    pid = wait_for_event(job)["pid"]
    job.cancel(patience=0.3)
    assert job.state == "cancelled" and not running(pid)


def test_cancel_without_waiting_returns_at_once(start) -> None:
    job = start("sleep")
    wait_for_event(job)
    began = time.monotonic()
    job.ask_to_end()
    assert time.monotonic() - began < 0.1
    assert job.wait(5) == "cancelled"


def test_cancelling_a_finished_job_changes_nothing(start) -> None:
    job = start("steps", "x")
    job.wait(20)
    job.cancel()
    assert job.state == "done"


def test_a_flood_of_events_is_bounded(start) -> None:
    job = start("flood")
    assert job.wait(30) == "done"
    events = job.poll()
    assert len(events) == jobs.EVENT_LIMIT and events[-1]["i"] == 19999


def test_the_child_inherits_no_foreign_python(start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    job = start("environment")
    assert job.wait(20) == "done"
    event = job.poll()[0]
    assert event["home"] is None
    assert event["encoding"].lower() == "utf-8"
    assert Path(event["cwd"]).name == "väg med мир 道"


def test_a_missing_program_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(jobs.JobError) as caught:
        jobs.Job([str(tmp_path / "no python"), "-c", ""], cwd=tmp_path)
    assert "preferences" in caught.value.remedy


def test_a_killed_child_is_told_as_such(start) -> None:
    if sys.platform == "win32":
        pytest.skip("no signals")
    job = start("sleep")
    wait_for_event(job)
    os.kill(job.pid, 9)
    assert job.wait(5) == "failed"
    assert "SIGKILL" in job.failure()


@pytest.mark.parametrize(
    ("elapsed", "fraction", "left"), [(10.0, 0.5, 10.0), (30.0, 0.75, 10.0), (0.2, 0.5, None), (10.0, 0.0, None)]
)
def test_time_left(elapsed: float, fraction: float, left: float | None) -> None:
    assert jobs.remaining_seconds(elapsed, fraction) == pytest.approx(left)


def running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
