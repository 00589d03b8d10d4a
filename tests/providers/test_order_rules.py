"""The strict server refuses exactly what its table says."""

import json
import urllib.error
import urllib.request

import pytest
from helpers.order_rules import ORDER_RULES, OrderRule, broken_rule
from helpers.replies import APIS, Reply
from helpers.strict_server import StrictServer

PATHS = {
    "openai-chat": "/openai/v1/chat/completions",
    "openai-responses": "/openai/v1/responses",
    "anthropic": "/anthropic/v1/messages",
    "mistral": "/mistral/v1/chat/completions",
    "gemini": "/gemini/v1beta/models/m:generateContent",
    "converse-claude": "/model/anthropic.claude/converse",
    "converse-llama": "/model/meta.llama3/converse",
}

each_rule = pytest.mark.parametrize("rule", ORDER_RULES, ids=lambda rule: rule.id)


def post(server: StrictServer, rule: OrderRule, body: dict[str, object]) -> tuple[int, object]:
    url = f"{server.url}{PATHS[rule.api]}"
    request = urllib.request.Request(url, json.dumps(body).encode())  # noqa: S310  loopback
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@each_rule
def test_a_request_that_keeps_the_rule_is_accepted(server: StrictServer, rule: OrderRule) -> None:
    """The accepted request of a row breaks no rule of its API, and gets the scripted reply."""
    reply = Reply("done")
    server.reset([reply])
    assert post(server, rule, rule.accepted) == (200, APIS[rule.api].whole(reply))


@each_rule
def test_a_request_that_breaks_the_rule_is_refused(server: StrictServer, rule: OrderRule) -> None:
    """The refused request of a row breaks that rule, and gets the provider's kind of error."""
    broken = broken_rule(rule.api, rule.refused)
    assert broken is not None
    refusal = APIS[rule.api].refusal(rule, broken[1])
    assert post(server, rule, rule.refused) == (rule.status, refusal)
    assert server.refused == [rule.id]


@each_rule
def test_every_rule_cites_its_source(rule: OrderRule) -> None:
    """A row names the pages or reports that it is taken from."""
    assert all(url.strip().startswith("https://") for url in rule.source.split(" , "))
