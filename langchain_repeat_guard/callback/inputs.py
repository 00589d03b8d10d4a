"""The arguments of a call as a tool event shows them."""

import ast
import json
import warnings
from typing import Any

_NOT_A_LITERAL = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)


def arguments_of(inputs: object, input_str: str) -> Any:
    """Return the arguments that a tool was started with.

    LangChain hands them over as `inputs`. Where it does not, `input_str` holds JSON, the text of a
    Python dict, or what the model wrote.
    """
    if inputs is not None:
        return inputs
    text = input_str.strip()
    if text != "null" and not text.startswith(("{", "[")):
        return input_str
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _literal(text, input_str)


def _literal(text: str, otherwise: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.literal_eval(text)
    except _NOT_A_LITERAL:
        return otherwise
