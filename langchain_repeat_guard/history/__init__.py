"""LangChain messages as the steps of one agent: the one place that reads and makes messages."""
