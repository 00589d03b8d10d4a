"""Chain logic. Standard library and pydantic only; knows neither agents nor messages."""
