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


def the_shorter_time(flop, moved, peak, bandwidth):
    return min(flop / peak, moved / bandwidth) / 1e12


def both_times_together(flop, moved, peak, bandwidth):
    return (flop / peak + moved / bandwidth) / 1e12


def the_computing_alone(flop, moved, peak, bandwidth):
    return flop / peak / 1e12


def the_moving_alone(flop, moved, peak, bandwidth):
    return moved / bandwidth / 1e12


def without_the_tera(flop, moved, peak, bandwidth):
    return max(flop / peak, moved / bandwidth)


def the_rate_instead_of_the_time(flop, moved, peak, bandwidth):
    return min(peak, bandwidth * flop / moved)


def the_parameters_alone(width, peak, bandwidth):
    return 2 * peak / bandwidth


def the_rows_once(width, peak, bandwidth):
    ridge = peak / bandwidth
    return 2 * ridge * width / (width - 2 * ridge)


def numbers_instead_of_bytes(width, peak, bandwidth):
    ridge = peak / bandwidth
    return ridge * width / (2 * (width - ridge))


def the_ridge_itself(width, peak, bandwidth):
    return peak / bandwidth


def as_for_products(width, peak, bandwidth):
    return 6 * peak / bandwidth


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
    "least_seconds": [
        the_shorter_time,
        both_times_together,
        the_computing_alone,
        the_moving_alone,
        without_the_tera,
        the_rate_instead_of_the_time,
    ],
    "rows_at_the_ridge": [
        the_parameters_alone,
        the_rows_once,
        numbers_instead_of_bytes,
        the_ridge_itself,
        as_for_products,
    ],
}
