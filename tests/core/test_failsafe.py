"""Nothing that goes wrong in the guard reaches the agent."""

import asyncio
import copy
import logging
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from langchain_repeat_guard import RepeatLimitError
from langchain_repeat_guard.core.failsafe import FailOpen, _place

SECRET = "hunter2-test"  # noqa: S105  stands for a call's argument


def fail(argument: str) -> int:
    msg = f"cannot read {argument}"
    raise KeyError(msg)


def test_returns_what_the_check_returns(caplog: pytest.LogCaptureFixture) -> None:
    """A check that works is passed its arguments, and nothing is logged."""
    assert FailOpen("Adapter").run(max, 1, 5, key=abs) == 5
    assert caplog.records == []


def test_a_failure_is_none_and_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    """Failures cost a reminder, not the run; only the first is logged, without any argument."""
    failsafe = FailOpen("Adapter")
    assert [failsafe.run(fail, SECRET), failsafe.run(fail, argument=SECRET)] == [None, None]
    line = fail.__code__.co_firstlineno + 2
    assert caplog.record_tuples == [
        (
            "langchain_repeat_guard",
            logging.WARNING,
            (
                f"Adapter skipped a check after KeyError at test_failsafe.py:{line}. "
                "The agent goes on; a reminder may be missing."
            ),
        )
    ]
    assert caplog.records[0].exc_info is None


def test_each_adapter_warns_for_itself(caplog: pytest.LogCaptureFixture) -> None:
    """One adapter's failure does not silence another one."""
    FailOpen("First").run(fail, "")
    FailOpen("Second").run(fail, "")
    assert [message.split()[0] for message in caplog.messages] == ["First", "Second"]


def test_each_topic_once(caplog: pytest.LogCaptureFixture) -> None:
    """Whatever else an adapter has to say, it says once per topic."""
    failsafe = FailOpen("Adapter")
    for topic in ("state", "failure", "state"):
        failsafe.warn_once(topic, f"has something to say about {topic}.")
    assert caplog.messages == [
        "Adapter has something to say about state.",
        "Adapter has something to say about failure.",
    ]


def test_once_for_all_threads(caplog: pytest.LogCaptureFixture) -> None:
    """Threads that share an adapter share its warnings."""
    failsafe = FailOpen("Adapter")
    with ThreadPoolExecutor(8) as pool:
        results = [*pool.map(lambda _: failsafe.run(fail, SECRET), range(64))]
    assert (results, len(caplog.messages)) == ([None] * 64, 1)


def test_what_stops_the_program_is_passed_on() -> None:
    """Ctrl-C and the like are no faults of the guard."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        FailOpen("Adapter").run(interrupt)


def test_a_limit_is_passed_on() -> None:
    """The user has asked for that error, in sync and in async runs."""
    limit = RepeatLimitError(tool="grep", count=4, limit=4)

    def check() -> None:
        raise limit

    async def acheck() -> None:
        raise limit

    failsafe = FailOpen("Adapter")
    with pytest.raises(RepeatLimitError) as caught:
        failsafe.run(check)
    with pytest.raises(RepeatLimitError) as acaught:
        asyncio.run(failsafe.arun(acheck))
    assert (caught.value, acaught.value) == (limit, limit)


def test_a_log_handler_may_raise() -> None:
    """A warning that the host cannot take is lost, and nothing else."""
    logger = logging.getLogger("langchain_repeat_guard")
    handler = RaisingHandler()
    logger.addHandler(handler)
    try:
        FailOpen("Adapter").warn_once("state", "has something to say.")
        assert FailOpen("Adapter").run(fail, SECRET) is None
    finally:
        logger.removeHandler(handler)
    assert handler.reached == 2


class RaisingHandler(logging.Handler):
    """Takes no line."""

    reached = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Refuse it."""
        self.reached += 1
        raise RuntimeError(record.getMessage())


def test_can_be_copied_with_its_adapter() -> None:
    """Graphs and agents are deep-copied and pickled by their hosts."""
    failsafe = FailOpen("Adapter")
    copies = [copy.deepcopy(failsafe), pickle.loads(pickle.dumps(failsafe))]
    assert [one.run(max, 1, 2) for one in copies] == [2, 2]


def test_an_error_without_a_traceback() -> None:
    """An error that was never raised has no place."""
    assert _place(ValueError()) == "an unknown place"
