"""Command-line flags as settings of the guard."""

from collections.abc import Sequence
from typing import Any

import typer
from pydantic import ValidationError

from langchain_repeat_guard.core.config import RepeatGuardConfig


def config_from_flags(
    *,
    thresholds: Sequence[str] | None,
    include: Sequence[str] | None,
    exclude: Sequence[str] | None,
    arguments_preview_chars: int | None,
) -> RepeatGuardConfig:
    """Return the settings that the flags ask for. A flag that is not given keeps its default.

    Raises:
        typer.BadParameter: A value breaks its rule. The message names flag, rule and value, and the
            command ends with exit code 2.
    """
    options: dict[str, Any] = {
        "thresholds": thresholds and [_number_or_text(item) for item in split_list(thresholds)],
        "include": include and split_list(include),
        "exclude": exclude and split_list(exclude),
        "arguments_preview_chars": arguments_preview_chars,
    }
    given = {name: value for name, value in options.items() if value not in (None, (), [])}
    if thresholds and "thresholds" not in given:
        given["thresholds"] = []
    try:
        return RepeatGuardConfig(**given)
    except ValidationError as error:
        first = error.errors()[0]
        flag = "--" + str(first["loc"][0]).replace("_", "-")
        rule = first["msg"].removeprefix("Value error, ")
        raise typer.BadParameter(rule, param_hint=flag) from None


def split_list(values: Sequence[str]) -> list[str]:
    """Return the items of a flag that may be repeated, and may hold several parted by commas.

    Example:
        >>> split_list(["3,5", "8"])
        ['3', '5', '8']
    """
    items = (item.strip() for value in values for item in value.split(","))
    return [item for item in items if item]


def _number_or_text(item: str) -> int | str:
    """Return a whole number, or the text as it is, for the settings to refuse by name."""
    try:
        return int(item)
    except ValueError:
        return item
