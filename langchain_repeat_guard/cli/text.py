"""Text of models and tools, made fit for a terminal."""


def shown(text: str) -> str:
    r"""Return `text` in one line, with everything that a terminal might obey made visible.

    Example:
        >>> shown("two\nlines, \x1b[31mred")
        'two lines, \\x1b[31mred'
    """
    return "".join(map(_visible, " ".join(text.split())))


def cut(text: str, length: int) -> str:
    """Return `text` if it has at most `length` characters, or its beginning and an ellipsis.

    Example:
        >>> cut("repeat", 3)
        'rep…'
    """
    return text if len(text) <= length else f"{text[:length]}…"


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def plural(number: int, noun: str) -> str:
    """Return a number of things.

    Example:
        >>> plural(1, "run"), plural(2_000, "run")
        ('1 run', '2,000 runs')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
