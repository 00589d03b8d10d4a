"""A flag for every field of the settings, made from the fields themselves."""

import ast
import inspect
import json
import types
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter
from itertools import pairwise
from textwrap import dedent
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer

from langchain_repeat_guard.cli.options import (
    checked_config,
    flag_of,
    number_or_text,
    split_list,
)
from langchain_repeat_guard.core.config import RepeatGuardConfig


def with_config_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `config` of a command by a flag for each field of the settings."""
    own = [one for one in inspect.signature(command).parameters.values() if one.name != "config"]
    flags = {name: _flag(name) for name in RepeatGuardConfig.model_fields}

    @wraps(command)
    def with_flags(**given: Any) -> None:
        texts = {name: given.pop(name) for name in flags}
        command(**given, config=config_from_texts(texts))

    parameters = [
        *own,
        *(
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in flags.items()
        ),
    ]
    annotations = {one.name: one.annotation for one in parameters}
    with_flags.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_flags.__annotations__ = annotations
    return with_flags


def config_from_texts(
    texts: Mapping[str, str | Sequence[str] | None], base: RepeatGuardConfig | None = None
) -> RepeatGuardConfig:
    """Return the settings that flags ask for.

    Args:
        texts: What was given for each field; None keeps its default.
        base: Settings to start from instead of the defaults.

    Raises:
        typer.BadParameter: A field is unknown, or a value breaks its rule.
    """
    given = base.model_dump(exclude_unset=True) if base else {}
    for name, text in texts.items():
        if text is not None:
            given[name] = _value(name, [text] if isinstance(text, str) else text)
    return checked_config(given)


def changed_config(base: RepeatGuardConfig, changes: Sequence[str]) -> RepeatGuardConfig:
    """Return `base` with changes such as `thresholds=2,4`.

    Raises:
        typer.BadParameter: A change is not `FIELD=VALUE`, or a value breaks its rule.
    """
    texts: dict[str, list[str]] = {}
    for change in changes:
        name, equals, text = change.partition("=")
        field = name.strip().removeprefix("--").replace("-", "_")
        if not equals or field not in RepeatGuardConfig.model_fields:
            fields = ", ".join(RepeatGuardConfig.model_fields)
            message = f"must be FIELD=VALUE with one of {fields}, got {change!r}"
            raise typer.BadParameter(message, param_hint="--compare")
        texts.setdefault(field, []).append(text)
    try:
        return config_from_texts(texts, base)
    except typer.BadParameter as error:
        message = f"{error.param_hint}: {error.message}"
        raise typer.BadParameter(message, param_hint="--compare") from None


def _value(name: str, texts: Sequence[str]) -> Any:
    """Return what the texts of a flag say, for the field's own check to judge."""
    kinds = _kinds(name)
    last = texts[-1]
    if dict in kinds:
        return {key: value for text in texts for key, value in _json_object(name, text).items()}
    if tuple in kinds:
        items = split_list(texts)
        return [number_or_text(item) for item in items] if int in kinds else items
    if type(None) in kinds and last.lower() == "none":
        return None
    return number_or_text(last) if int in kinds else last


def _json_object(name: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        message = f'must be a JSON object such as {{"tool_*": ...}}, got {text!r}'
        raise typer.BadParameter(message, param_hint=flag_of(name))
    return value


def _kinds(name: str) -> set[Any]:
    """Return the plain types in the annotation of a field, such as tuple and int."""
    kinds: set[Any] = set()
    todo: list[Any] = [RepeatGuardConfig.model_fields[name].annotation]
    while todo:
        annotation = todo.pop()
        origin = get_origin(annotation)
        if origin is None:
            kinds.add(annotation)
            continue
        if origin not in {Union, types.UnionType, Literal, Annotated}:
            is_mapping = isinstance(origin, type) and issubclass(origin, Mapping)
            kinds.add(dict if is_mapping else origin)
            if is_mapping:
                continue
        todo += get_args(annotation)
    return kinds


def _flag(name: str) -> Any:
    kinds = _kinds(name)
    default = RepeatGuardConfig.model_fields[name].default
    if isinstance(default, tuple):
        default = ",".join(map(str, default))
    text = f"{_first_sentence(name)} [default: {default}]" if default else _first_sentence(name)
    if dict in kinds:
        return Annotated[list[str] | None, typer.Option(metavar="JSON", help=text)]
    choices = sorted(kind for kind in kinds if isinstance(kind, str))
    metavar = "N" if int in kinds else "|".join(choices) or "TEXT"
    if tuple in kinds:
        return Annotated[list[str] | None, typer.Option(metavar=f"{metavar},...", help=text)]
    return Annotated[str | None, typer.Option(metavar=metavar, help=text)]


def _first_sentence(name: str) -> str:
    """Return the first sentence of the docstring under a field, or a text that names it."""
    body = ast.parse(dedent(inspect.getsource(RepeatGuardConfig))).body[0]
    statements = body.body if isinstance(body, ast.ClassDef) else []
    for field, below in pairwise(statements):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=found)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ) if found == name:
                return " ".join(text.split()).split(". ")[0].rstrip(".").replace("`", "") + "."
    return f"Sets {name}."
