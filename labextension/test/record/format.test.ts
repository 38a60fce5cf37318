import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  barWidth,
  formatBytes,
  formatClock,
  formatSeconds,
  formatShare,
  formatValue
} from '../../src/record/format';

test('seconds are written with the unit that suits them', () => {
  assert.equal(formatSeconds(0), '0 µs');
  assert.equal(formatSeconds(0.000812), '812 µs');
  assert.equal(formatSeconds(0.0123), '12.3 ms');
  assert.equal(formatSeconds(0.9994), '999 ms');
  assert.equal(formatSeconds(0.9996), '1 s');
  assert.equal(formatSeconds(4.561), '4.56 s');
  assert.equal(formatSeconds(59.96), '1 min 00 s');
  assert.equal(formatSeconds(125), '2 min 05 s');
  assert.equal(formatSeconds(3725), '1 h 02 min');
});

test('a running clock keeps its tenths', () => {
  assert.equal(formatClock(2), '2.0 s');
  assert.equal(formatClock(61), '1 min 01 s');
});

test('bytes are written in powers of 1024', () => {
  assert.equal(formatBytes(512), '512 B');
  assert.equal(formatBytes(1536), '1.5 KiB');
  assert.equal(formatBytes(640 * 1024 ** 2), '640 MiB');
  assert.equal(formatBytes(2.25 * 1024 ** 3), '2.25 GiB');
  assert.equal(formatBytes(3 * 1024 ** 4), '3 TiB');
});

test('a unit we do not know is written as it came', () => {
  assert.equal(formatValue(12.345, 'J'), '12.3 J');
  assert.equal(formatValue(1536, 'bytes'), '1.5 KiB');
});

test('rates and counts are written in powers of 1000', () => {
  assert.equal(formatValue(12.3e9, 'FLOP/s'), '12.3 GFLOP/s');
  assert.equal(formatValue(8.31e9, 'bytes/s'), '8.31 GB/s');
  assert.equal(formatValue(4.2e18, 'FLOP'), '4,200 PFLOP');
  assert.equal(formatValue(950, '1/s'), '950 /s');
  assert.equal(formatValue(0.413, 'of the roof'), '41.3 %');
});

test('nearly all is not all, and next to nothing is not nothing', () => {
  assert.equal(formatShare(0.996), '99 %');
  assert.equal(formatShare(0.002), '1 %');
  assert.equal(formatShare(1), '100 %');
  assert.equal(formatShare(0), '0 %');
});

test('a bar that stands for something can be seen, and none leaves its track', () => {
  assert.equal(barWidth(5, 10), 50);
  assert.equal(barWidth(0.0001, 10), 0.5);
  assert.equal(barWidth(20, 10), 100);
  assert.equal(barWidth(0, 10), 0);
  assert.equal(barWidth(1, 0), 0);
});
