"""Likely mistakes in lesson 04."""

import statistics


def additions_forgotten(n, products, seconds):
    return n**3 * products / statistics.median(seconds) / 1e12


def mean_instead_of_median(n, products, seconds):
    return 2 * n**3 * products / statistics.mean(seconds) / 1e12


def best_run_alone(n, products, seconds):
    return 2 * n**3 * products / min(seconds) / 1e12


def one_product_alone(n, products, seconds):
    return 2 * n**3 / statistics.median(seconds) / 1e12


def in_gflops(n, products, seconds):
    return 2 * n**3 * products / statistics.median(seconds) / 1e9


def size_of_the_matrix(n, products, seconds):
    return 2 * n**2 * products / statistics.median(seconds) / 1e12


def the_higher_limit(per_byte, peak, bandwidth):
    return max(peak, bandwidth * per_byte)


def the_peak_alone(per_byte, peak, bandwidth):
    return peak


def the_memory_alone(per_byte, peak, bandwidth):
    return bandwidth * per_byte


def bytes_per_operation(per_byte, peak, bandwidth):
    return min(peak, bandwidth / per_byte)


WRONG = {
    "teraflops": [
        additions_forgotten,
        mean_instead_of_median,
        best_run_alone,
        one_product_alone,
        in_gflops,
        size_of_the_matrix,
    ],
    "roof": [the_higher_limit, the_peak_alone, the_memory_alone, bytes_per_operation],
}
