"""Chat templates with the rules that published templates have, in as few lines as they need.

Written for these tests after descriptions of the real ones: which roles may follow each other, and
what becomes of reasoning in front of the last user message.
"""

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, Template
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages

STRICT_ALTERNATION = """
{%- set turns = namespace(user=true) -%}
{%- for message in messages -%}
  {%- if message.role == 'tool' -%}
[RESULT]{{ message.content }}[/RESULT]
  {%- elif message.role == 'assistant' and message.tool_calls -%}
[CALLS]{% for call in message.tool_calls %}{{ call.function.name }};{% endfor %}[/CALLS]
  {%- else -%}
    {%- if (message.role == 'user') != turns.user -%}
      {{ raise_exception('conversation roles must alternate user/assistant/user/assistant') }}
    {%- endif -%}
    {%- set turns.user = not turns.user -%}
[{{ message.role }}]{{ message.content }}
  {%- endif -%}
{%- endfor -%}
"""
"""Tool turns are passed over, and what is left alternates between user and assistant.

After https://github.com/vllm-project/vllm/issues/6862 and
https://github.com/charmbracelet/crush/issues/279.
"""

LAST_QUERY_REASONING = """
{%- set last = namespace(query=-1) -%}
{%- for message in messages -%}
  {%- if message.role == 'user' -%}{%- set last.query = loop.index0 -%}{%- endif -%}
{%- endfor -%}
{%- for message in messages -%}
<|{{ message.role }}|>
  {%- if message.role == 'assistant' and loop.index0 > last.query and message.reasoning -%}
<think>{{ message.reasoning }}</think>
  {%- endif -%}
{{ message.content or '' }}
  {%- for call in message.tool_calls or [] -%}
<call>{{ call.function.name }}</call>
  {%- endfor -%}
{%- endfor -%}
"""
"""Reasoning is printed behind the last user message only.

After https://github.com/can1357/oh-my-pi/issues/3541 and
https://github.com/QwenLM/Qwen3.8/issues/131.
"""

LAST_ANSWER_REASONING = """
{%- set last = namespace(answer=-1) -%}
{%- for message in messages -%}
  {%- if message.role == 'assistant' and not message.tool_calls -%}
    {%- set last.answer = loop.index0 -%}
  {%- endif -%}
{%- endfor -%}
{%- for message in messages -%}
<|{{ message.name or message.role }}|>
  {%- if message.role == 'assistant' and loop.index0 > last.answer and message.reasoning -%}
<think>{{ message.reasoning }}</think>
  {%- endif -%}
{{ message.content or '' }}
  {%- for call in message.tool_calls or [] -%}
<call>{{ call.function.name }}</call>
  {%- endfor -%}
{%- endfor -%}
"""
"""Reasoning is printed behind the last answer without calls, and a name replaces the role."""


class TemplateError(ValueError):
    """A chat template refuses the messages."""


def _refuse(message: str) -> str:
    raise TemplateError(message)


def render(template: str, messages: Sequence[BaseMessage]) -> str:
    """Render messages as an inference server does, with the reasoning that it was given back."""
    compiled: Template = Environment(autoescape=False).from_string(template)  # noqa: S701  no HTML
    return compiled.render(messages=[_turn(one) for one in messages], raise_exception=_refuse)


def _turn(message: BaseMessage) -> dict[str, Any]:
    turn: Any = convert_to_openai_messages(message)
    if isinstance(message, AIMessage):
        turn["reasoning"] = message.additional_kwargs.get("reasoning_content")
    return dict(turn)
