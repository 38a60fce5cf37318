import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readRace } from '../src/race';
import type { IRace } from '../src/race';
import { bars, curves, formatSize, formatTime, formatTiming } from '../src/racechart';

const ROOM = { left: 50, right: 450, top: 10, bottom: 210 };

function timing(median: number, changes: object = {}): object {
  return {
    median,
    low: median * 0.9,
    high: median * 1.1,
    samples: 11,
    steady: true,
    ...changes
  };
}

function raceJson(changes: object = {}): object {
  return {
    schema: 1,
    cell: 'x @ x',
    head: '`x @ x` on cpu:0 against gpu:0.',
    sentences: ['gpu:0 becomes faster.'],
    outcome: 'ok',
    variable: 'n',
    sizes: [10, 100, 1000],
    lanes: [
      {
        device: 'cpu:0',
        hardware: 'a CPU',
        problem: null,
        timings: [1e-6, 1e-3, 1].map(t => timing(t))
      },
      {
        device: 'gpu:0',
        hardware: null,
        problem: null,
        timings: [timing(1e-4), null, timing(1e-4)]
      }
    ],
    fastest: [[0, 100], null, [1, 1e4]],
    crossovers: [{ small: 'cpu:0', large: 'gpu:0', size: 46, low: 10, high: 100 }],
    notes: ['Times are medians.'],
    cut: { sizes: 3 },
    ...changes
  };
}

function known(changes: object = {}): IRace {
  const race = readRace(raceJson(changes));
  assert(typeof race !== 'string');
  return race;
}

test('a race is read, and what was not measured stays null in its place', () => {
  const race = known();
  assert.deepEqual(
    race.lanes[1]?.timings.map(one => one?.median ?? null),
    [1e-4, null, 1e-4]
  );
  assert.deepEqual(race.fastest, [{ lane: 0, times: 100 }, null, { lane: 1, times: 1e4 }]);
  assert.equal(race.cut.get('sizes'), 3);
});

test('both axes are logarithmic: a power of ten is always as long', () => {
  const drawn = curves(known(), ROOM);
  assert(drawn);
  const [first, second, third] = drawn.lanes[0]?.map(({ x, y }) => [x, y]) ?? [];
  assert(first?.[0] && second?.[0] && third?.[0] && first[1] && second[1] && third[1]);
  assert.equal(Math.round(second[0] - first[0]), Math.round(third[0] - second[0]));
  assert.equal(Math.round(first[1] - second[1]), Math.round(second[1] - third[1]));
  assert.deepEqual(
    drawn.xTicks.map(({ label }) => label),
    ['10', '100', '1,000']
  );
  assert.equal(drawn.lanes[1]?.length, 2);
  const [crossover] = drawn.crossovers;
  assert(crossover && crossover.from < crossover.x && crossover.x < crossover.to);
});

test('all points and spreads lie within the room', () => {
  const drawn = curves(known(), ROOM);
  for (const { x, y, spread } of drawn?.lanes.flat() ?? []) {
    assert(x >= ROOM.left && x <= ROOM.right);
    assert([y, ...(spread ?? [])].every(at => at >= ROOM.top && at <= ROOM.bottom));
  }
});

test('ticks that would touch are left out', () => {
  const sizes = [1, 1e12];
  const lanes = [{ device: 'cpu:0', timings: [timing(1e-9), timing(1e3)] }];
  const drawn = curves(known({ sizes, lanes }), { ...ROOM, right: 150 });
  assert(drawn && drawn.xTicks.length <= 3 && drawn.yTicks.length <= 13);
});

test('a single run has a point and no spread; a race without times has no chart', () => {
  const lanes = [{ device: 'cpu:0', timings: [timing(1e-3, { low: null, high: null })] }];
  const drawn = curves(known({ lanes, sizes: [10], crossovers: [] }), ROOM);
  assert.equal(drawn?.lanes[0]?.[0]?.spread, null);
  assert.equal(curves(known({ lanes: [{ device: 'cpu:0', timings: [] }] }), ROOM), null);
  assert.equal(curves(known({ sizes: [0, null] }), ROOM), null);
});

test('without sizes there is a bar a device, from 0 on', () => {
  const lanes = [
    { device: 'cpu:0', timings: [timing(4e-3)] },
    { device: 'gpu:0', timings: [timing(1e-3)] },
    { device: 'gpu:1', timings: [] }
  ];
  const drawn = bars(known({ variable: null, sizes: [null], lanes }), ROOM);
  assert(drawn);
  const [cpu, gpu, none] = drawn.bars;
  assert(cpu && gpu && none === null);
  assert.equal(Math.round((ROOM.bottom - cpu.y) / (ROOM.bottom - gpu.y)), 4);
  assert.deepEqual(drawn.yTicks[0], { at: ROOM.bottom, label: '0' });
});

test('sizes and times are written as people write them', () => {
  assert.deepEqual([10, 1000, 1e7, 0.5, 46].map(formatSize), ['10', '1,000', '1e7', '0.5', '46']);
  assert.deepEqual([4.2e-8, 1.25e-5, 2e-3].map(formatTime), ['42 ns', '12.5 µs', '2 ms']);
  const once = { median: 1, spread: null, samples: 1, steady: true };
  assert.equal(formatTiming(once), '1 s');
});

test('what is hostile is refused, cut, or left out', () => {
  assert.equal(readRace(raceJson({ schema: 2 })), 'newer');
  for (const data of [
    null,
    [],
    {},
    { schema: 1 },
    raceJson({ lanes: 3 }),
    raceJson({ outcome: 1 })
  ]) {
    assert.equal(readRace(data), 'invalid');
  }
  const long = '<script>'.repeat(100_000);
  const lane = { device: long, hardware: long, problem: long, timings: 7 };
  const race = known({
    cell: long,
    sizes: Array.from({ length: 100_000 }, (_, size) => size),
    lanes: Array.from({ length: 1_000 }, () => lane),
    notes: Array.from({ length: 1_000 }, () => long),
    fastest: [
      ['0', 3],
      [99, 3],
      [0, -1]
    ],
    crossovers: [{ size: 'large' }, null]
  });
  assert(JSON.stringify(race).length < 100_000);
  assert(race.fastest.every(one => one === null));
  assert.deepEqual(race.crossovers, []);
  assert.equal(race.lanes[0]?.timings.length, race.sizes.length);
});
