"""Wrong answers to the exercises of lesson 01: likely mistakes, each of which has to be rejected."""

import re

from jupyter_mlgpu.teach.lessons.exercises.lesson_01 import older as by_numbers


def letter_by_letter(version, than):
    return version < than


def as_a_decimal_number(version, than):
    return float(version[: version.rindex(".")]) < float(than[: than.rindex(".")])


def as_old_or_older(version, than):
    return not by_numbers(than, version)


def the_other_way_round(version, than):
    return by_numbers(than, version)


def two_numbers_alone(version, than):
    return list(map(int, version.split(".")[:2])) < list(map(int, than.split(".")[:2]))


def parts_as_text(version, than):
    return version.split(".") < than.split(".")


def every_new_tensorflow(machine):
    tensorflow = machine["packages"].get("tensorflow")
    if tensorflow and not by_numbers(tensorflow, "2.20.0"):
        return "metal-plugin-version"
    return settings_alone(machine)


def settings_alone(machine):
    if machine["told"] not in (None, machine["macos"]):
        return "system-version-compat"
    if set(machine["shell"]) - set(machine["kernel"]):
        return "library-path-lost"
    return "none"


def the_plugin_is_always_to_blame(machine):
    return "metal-plugin-version" if "tensorflow-metal" in machine["packages"] else settings_alone(machine)


def unknown_is_wrong(machine):
    if machine["told"] != machine["macos"]:
        return "system-version-compat"
    return settings_alone(machine)


def all_is_well(machine):
    return "none"


def always_information(line):
    return "I"


def any_letter_anywhere(line):
    return next((letter for letter in "IWEF" if letter in line), "")


def third_word_whatever_it_is(line):
    words = line.split()
    return words[2] if len(words) > 2 else ""


def first_letter(line):
    return line[:1]


def whole_lines_only(line):
    return line.split()[2]


def no_abseil(line):
    words = line.split()
    begins = len(words) > 2 and words[1].endswith(":") and words[2] in ("I", "W", "E", "F")
    return words[2] if begins else ""


def the_whole_first_word_of_abseil(line):
    words = [*line.split(), "", "", ""]
    if words[1].endswith(":") and words[2] in ("I", "W", "E", "F"):
        return words[2]
    if words[0][:1] in ("I", "W", "E", "F") and words[0][1:].isdigit() and ":" in words[1]:
        return words[0]
    return ""


FAILED = r"Failed in processing TensorFlow graph (\S+) .*?"
NODE = r" for (?:node: (?:n\d+ = )?|n\d+ = )(\S+)"


def name_cut_short(log):
    return {name.rpartition("/")[2]: node for name, node in re.findall(FAILED + NODE, log)}


def kind_for_the_name(log):
    return dict(re.findall(FAILED + r"\((\w+)\)", log))


def operations_alone(log):
    return [node for _, node in re.findall(FAILED + NODE, log)]


def the_first_failure_alone(log):
    return dict(re.findall(FAILED + NODE, log)[:1])


def numbered_form_alone(log):
    return dict(re.findall(FAILED + r" n\d+ = (\S+)", log))


def operation_for_subgraph(log):
    return {node: name for name, node in re.findall(FAILED + NODE, log)}


WRONG = {
    "older": [
        letter_by_letter,
        as_a_decimal_number,
        as_old_or_older,
        the_other_way_round,
        two_numbers_alone,
        parts_as_text,
    ],
    "diagnosis": [
        every_new_tensorflow,
        settings_alone,
        the_plugin_is_always_to_blame,
        unknown_is_wrong,
        all_is_well,
    ],
    "severity": [
        always_information,
        any_letter_anywhere,
        third_word_whatever_it_is,
        first_letter,
        whole_lines_only,
        no_abseil,
        the_whole_first_word_of_abseil,
    ],
    "reasons": [
        name_cut_short,
        kind_for_the_name,
        operations_alone,
        the_first_failure_alone,
        numbered_form_alone,
        operation_for_subgraph,
    ],
}
