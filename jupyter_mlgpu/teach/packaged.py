"""The names of the lessons and labs that come with this package.

This tells them from a learner's own notebooks. Only the standard library is imported here, because
hatch_build.py runs this file before the package is installed.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Each lesson with the names of its exercises, which are defined in `lessons/exercises`.
LESSONS: Mapping[str, tuple[str, ...]] = {
    "00_start_here": (),
    "01_reading_a_sick_machine": ("older", "diagnosis", "severity", "reasons"),
    "02_adding_tensors": ("add_three", "add_in_halves"),
    "03_devices": ("fair_time", "flops_per_byte", "crossover"),
    "04_how_fast_can_it_be": ("teraflops", "roof", "least_seconds", "rows_at_the_ridge"),
    "05_eager_and_graph": ("one_graph", "scores", "subgraphs"),
    "06_gradients": ("layer_back", "tanh_back", "walk_back", "normalize_back"),
    "07_a_cnn": ("convolve", "weights", "kernel_gradient"),
    "08_memory": ("activation_bytes", "worth_keeping", "peak_at", "most_kept"),
    "09_throughput": ("images_per_second", "images_per_joule", "large_enough", "step_costs"),
    "10_words_to_numbers": ("split_word", "ppmi", "smoothed_ppmi"),
    "11_attention": ("attention_weights", "causal_weights", "split_heads", "attend_in_blocks"),
    "12_bert_from_nothing": ("disguise", "masked_loss", "layer_norm", "block", "whole_words"),
    "13_fine_tuning": ("pool", "few", "lead"),
    "14_beyond_one_machine": ("shares", "together", "speed_up", "ring_all_reduce"),
    "15_a_gpt_that_writes": (
        "probabilities",
        "attend_cached",
        "cache_bytes",
        "tokens_a_second",
    ),
    "16_a_small_language_model": ("model_bytes", "quantize", "unpack", "adapted", "best_scale"),
    "17_feeding_the_gpu": ("step_seconds", "workers_needed", "copy_seconds", "prefetch"),
    "18_inside_one_kernel": ("add_kernel", "fetch", "reads_each"),
}

#: Former names of lessons with what they are called today: copies and reports of the time still have them.
FORMER: Mapping[str, str] = {
    "01_adding_tensors": "02_adding_tensors",
    "02_devices": "03_devices",
    "03_reading_the_machine": "01_reading_a_sick_machine",
    "15_is_my_machine_set_up": "01_reading_a_sick_machine",
}
#: Exercises of the two lessons that became one. No lesson has them any more; reports of older versions do.
FORMER_EXERCISES: tuple[str, ...] = ("product_on", "faults")

#: The labs in the order of their numbers.
LABS: tuple[str, ...] = (
    "lab_1_tensor_graph",
    "lab_2_devices",
    "lab_3_memory",
    "lab_4_attention",
    "lab_5_logs",
    "lab_6_throughput",
    "lab_7_trained_model",
    "lab_8_make_it_faster",
)
