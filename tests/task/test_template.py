"""Host variables in a task's environment."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.errors import TaskError
from hbench.task.template import has_partial_template, resolve

ENV = {"PLAIN": "x", "KEY": "${API_KEY}", "URL": "${URL:-http://a:80/}", "EMPTY": "${NONE:-}"}


def test_a_value_made_from_a_host_variable_is_kept_apart() -> None:
    """It never stands in the container's own environment."""
    resolved = resolve(ENV, passed={"API_KEY": "sk-test-1", "URL": "http://b/"})
    assert resolved.literal == {"PLAIN": "x", "EMPTY": ""}
    assert resolved.secret == {"KEY": "sk-test-1", "URL": "http://b/"}


def test_a_default_stands_in_for_a_variable_that_is_not_passed() -> None:
    """It is the task's own text and no secret."""
    resolved = resolve(ENV, passed={"API_KEY": "sk-test-1"})
    assert resolved.literal["URL"] == "http://a:80/"


def test_a_variable_that_is_passed_but_empty_is_not_replaced_by_the_default() -> None:
    """As in Harbor: set is set."""
    assert resolve({"A": "${A:-x}"}, passed={"A": ""}).secret == {"A": ""}


def test_a_variable_that_is_neither_passed_nor_has_a_default_is_an_error() -> None:
    """The message says how to pass it."""
    with pytest.raises(TaskError) as caught:
        resolve(ENV, passed={})
    assert '"KEY" needs the host variable API_KEY' in caught.value.what
    assert "add API_KEY to [env] pass" in str(caught.value.hint)


def test_a_secret_does_not_show_when_the_result_is_printed() -> None:
    """A log line or a traceback may hold it."""
    assert "sk-test-1" not in repr(resolve(ENV, passed={"API_KEY": "sk-test-1"}))


def test_a_template_inside_a_longer_value_is_plain_text() -> None:
    """As in Harbor; the loader warns about it."""
    env = {"A": "http://${HOST}/", "B": "$HOST", "C": "${A}${B}x", "D": "${A:x}"}
    assert resolve(env, passed={"HOST": "h", "A": "a"}).literal == env
    assert [key for key, value in env.items() if has_partial_template(value)] == ["A", "C", "D"]
    assert not has_partial_template("${A:-b}")


@given(st.dictionaries(st.text(), st.text() | st.sampled_from(["${A}", "${A:-d}", "${B}"])), st.booleans())
def test_every_key_is_resolved_exactly_once(env: dict[str, str], passes: bool) -> None:
    """No variable is lost and none is both secret and literal."""
    passed = dict.fromkeys("AB", "sk-test-2") if passes else {}
    try:
        resolved = resolve(env, passed=passed)
    except TaskError:
        assert any(value.startswith("${") and value[2:-1] not in passed for value in env.values())
        return
    assert resolved.literal.keys() | resolved.secret.keys() == env.keys()
    assert not resolved.literal.keys() & resolved.secret.keys()
    assert "sk-test-2" not in resolved.literal.values()
