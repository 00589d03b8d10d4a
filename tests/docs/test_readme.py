"""What the README shows is what happens."""

from pathlib import Path

import pytest
from pytest_examples import CodeExample, EvalExample, find_examples

README = Path(__file__).parents[2] / "README.md"
EXAMPLES = list(find_examples(README))


@pytest.mark.parametrize(
    "example",
    [pytest.param(example, id=f"line-{example.start_line}") for example in EXAMPLES],
)
def test_block_runs_and_prints_what_it_says(
    example: CodeExample, eval_example: EvalExample
) -> None:
    """Each Python block of the README runs by itself; its `#>` lines are its output."""
    eval_example.set_config(line_length=100)
    eval_example.run_print_check(example)


def test_there_are_blocks() -> None:
    """The README shows code."""
    assert len(EXAMPLES) >= 3
