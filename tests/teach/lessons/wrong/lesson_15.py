"""Wrong answers to the exercises of lesson 15: likely mistakes, each of which has to be rejected."""

from jupyter_mlgpu.teach.lessons.exercises.lesson_15 import faults as all_faults
from jupyter_mlgpu.teach.lessons.exercises.lesson_15 import older as by_numbers


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


def from_behind(machine):
    return all_faults(machine)[::-1]


def without_the_new_one(machine):
    return [one for one in all_faults(machine) if one != "metal-macos"]


def the_first_alone_and_no_list(machine):
    return (all_faults(machine) or ["none"])[0]


def what_python_is_told(machine):
    """Asks for the version that Python is told, where it is told one."""
    return all_faults(machine | {"macos": machine["told"] or machine["macos"]})


def macos_12_is_too_old(machine):
    is_12 = (machine["macos"] or "").startswith("12.") and "tensorflow-metal" in machine["packages"]
    return ["metal-macos"] * is_12 + all_faults(machine)


def nothing_ever(machine):
    return []


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
    "faults": [
        from_behind,
        without_the_new_one,
        the_first_alone_and_no_list,
        what_python_is_told,
        macos_12_is_too_old,
        nothing_ever,
    ],
}
