"""The words after a magic: taken apart, and what is said where they are typed wrongly."""

import pytest

from jupyter_mlgpu.record import option_parser
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.option_parser import magic_parser
from jupyter_mlgpu.record.sentence import of_error, say
from jupyter_mlgpu.record.translation import translated

HELP = say("`%mlc_doctor?` shows its options.")


def parsed(line, *, places="*"):
    parser = magic_parser("%mlc_doctor", HELP)
    if places:
        parser.add_argument("places", nargs=places)
    parser.add_argument("--facts")
    parser.add_argument("--language")
    parser.add_argument("--deep", action="store_true")
    return parser.parse_line(line)


def test_options_have_their_values_and_other_words_keep_their_order():
    found = parsed("one --facts 'my facts.json' two --deep")
    assert found.places == ["one", "two"]
    assert (found.facts, found.language, found.deep) == ("my facts.json", None, True)


def test_an_option_is_written_out():
    with pytest.raises(UsageError, match="Unknown word '--fac'"):
        parsed("--fac facts.json")


def test_a_hash_is_no_comment_and_a_line_that_is_split_is_taken_as_it_is():
    assert parsed("a#b '#' c").places == ["a#b", "#", "c"]
    assert parsed(["f(a, b)", "--deep"]).places == ["f(a, b)"]


def test_on_windows_a_backslash_stands_between_folders(monkeypatch):
    assert parsed(r"--facts a\ b.json").facts == "a b.json"
    monkeypatch.setattr(option_parser.sys, "platform", "win32")
    assert parsed(r"--facts C:\facts.json").facts == r"C:\facts.json"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "--depp",
            "Unknown word '--depp' after %mlc_doctor. Did you mean --deep? Choose --facts, ",
        ),
        ("--xyz", "Unknown word '--xyz' after %mlc_doctor. Choose --facts, --language, --deep."),
        ("--facts", "--facts needs a value."),
        ("--facts --deep", "--facts needs a value."),
        ("--deep --deep", "--deep appears twice after %mlc_doctor: give it once."),
        ("--facts=a --facts b", "--facts appears twice after %mlc_doctor: give it once."),
        ("'half", 'Unmatched quotation mark in "\'half" after %mlc_doctor.'),
    ],
)
def test_what_is_wrong_is_named_and_the_end_says_what_to_type(line, said):
    with pytest.raises(UsageError) as refused:
        parsed(line)
    assert str(refused.value).startswith(said)
    assert str(refused.value).endswith(f" {HELP}")


def test_a_word_that_is_no_option_is_refused_where_none_may_stand():
    with pytest.raises(UsageError, match=r"Unknown word 'deep' after %mlc_doctor\. Did you mean --deep"):
        parsed("deep", places="")


def test_it_is_said_in_the_learners_language():
    with pytest.raises(UsageError) as refused:
        parsed("--depp")
    assert translated(of_error(refused.value), "zh").startswith("%mlc_doctor 之后的词 '--depp' 无法识别。")
