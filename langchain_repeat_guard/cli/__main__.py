"""Lets `python -m langchain_repeat_guard.cli` run where scripts are not on the path."""

from langchain_repeat_guard.cli import main

if __name__ == "__main__":
    main()
