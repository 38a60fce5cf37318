/** What each GPU did in a cell, as record/gpu_work.py has it. */

import { amount, count, listOf, named, or, shape, word } from '../language/untrusted';
import type { Read } from '../language/untrusted';
import { readGpuLane } from './recordtypes';

const readCopies = shape(
  { direction: word },
  { count: or(0, count), bytes: or(0, amount), seconds: or(0, amount) }
);

const readKernel = shape({ name: word }, { count: or(0, count), seconds: or(0, amount) });

export const readGpuWork = shape(
  { device: word },
  {
    /** Kernels, copies and sets. */
    launches: or(0, count),
    /** The sum over all kernels, which may overlap. */
    kernelSeconds: named('kernel_seconds', or(0, amount)),
    copies: listOf(readCopies),
    /** Those that took most, the longest first. */
    kernels: listOf(readKernel),
    /** Seconds for which it went on after the cell's code had ended. */
    wentOn: named('went_on', or(0, amount)),
    /** Seconds from the cell's beginning until it had ended the work of earlier cells, or the cell had. */
    earlier: or(0, amount),
    /** When it worked; null for a short cell. */
    lane: readGpuLane
  }
);

export type IGpuWork = Read<typeof readGpuWork>;
