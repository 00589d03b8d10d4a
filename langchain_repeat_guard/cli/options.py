"""Command-line flags as settings of the guard."""

from collections.abc import Sequence
from typing import Any

import typer
from pydantic import ValidationError

from langchain_repeat_guard.core.checks import whole_number
from langchain_repeat_guard.core.config import RepeatGuardConfig

MODEL_CALLS = 12
"""How often a live model is asked at most, unless a flag says otherwise."""


def checked_config(given: dict[str, Any]) -> RepeatGuardConfig:
    """Return the settings with the fields `given`.

    Raises:
        typer.BadParameter: A value breaks its rule. The message names flag, rule and value.
    """
    try:
        return RepeatGuardConfig(**given)
    except ValidationError as error:
        first = error.errors()[0]
        rule = first["msg"].removeprefix("Value error, ")
        flag = flag_of(str(first["loc"][0])) if first["loc"] else None
        raise typer.BadParameter(rule, param_hint=flag) from None


def flag_of(field: str) -> str:
    """Return the flag that sets `field`.

    Example:
        >>> flag_of("remind_every")
        '--remind-every'
    """
    return "--" + field.replace("_", "-")


def split_list(values: Sequence[str]) -> list[str]:
    """Return the items of a flag that may be repeated, and may hold several parted by commas.

    Example:
        >>> split_list(["3,5", "8"])
        ['3', '5', '8']
    """
    items = (item.strip() for value in values for item in value.split(","))
    return [item for item in items if item]


def number_or_text(item: str) -> int | str:
    """Return a whole number, or the text as it is, for a check that refuses it by name."""
    try:
        return int(item)
    except ValueError:
        return item


def number_flag(text: str, flag: str, *, smallest: int = 1) -> int:
    """Return the whole number that a flag is given.

    Raises:
        typer.BadParameter: It is none, or too small. The message names flag, rule and value.
    """
    try:
        return whole_number(number_or_text(text), smallest)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=flag) from None


def live_flags(model: str | None, base_url: str | None, max_steps: str | None) -> int:
    """Return how often a live model may be asked, having checked the flags about it.

    Raises:
        typer.BadParameter: `model` is not `provider:name`, `max_steps` is not a number of at least
            1, or one of the other flags is given without `model`.
    """
    if model is None:
        for flag, value in (("--base-url", base_url), ("--max-steps", max_steps)):
            if value is not None:
                message = f"needs --model, got {value!r} alone"
                raise typer.BadParameter(message, param_hint=flag)
    elif not all(model.partition(":")):
        message = f"must be provider:name, such as openai:gpt-4o-mini, got {model!r}"
        raise typer.BadParameter(message, param_hint="--model")
    return MODEL_CALLS if max_steps is None else number_flag(max_steps, "--max-steps")
