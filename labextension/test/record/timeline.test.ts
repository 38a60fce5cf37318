import assert from 'node:assert/strict';
import { test } from 'node:test';

import { eventAtPlace, placed, ROW, TITLE, topOf } from '../../src/record/lanes';
import { bars, countInView, cutAt, eventAt, inView, readTimeline } from '../../src/record/timeline';
import type { ITimeline } from '../../src/record/timeline';
import { around, moved, ticks, whole, zoomed } from '../../src/record/timeview';

type Event = [start: number, duration: number, lane?: number];

/** An answer of the kernel with these events, in the order of their starts. */
function answer(events: Event[], changes: object = {}): Record<string, unknown> {
  return {
    duration: 1000,
    lanes: [
      ['torch', 'host', 'host', 'thread 1'],
      ['torch', 'device', 'gpu:0', 'stream 7']
    ],
    names: [['mm', 'aten::mm', 'op']],
    starts: events.map(([start], index) => start - (events[index - 1]?.[0] ?? 0)),
    durations: events.map(([, duration]) => duration),
    name: events.map(() => 0),
    lane: events.map(([, , lane]) => lane ?? 0),
    events: events.length,
    left_out: 0,
    why_left_out: null,
    profilers: ['a profiler'],
    ...changes
  };
}

function timelineOf(events: Event[], changes: object = {}): ITimeline {
  const timeline = readTimeline(answer(events, changes));
  assert(timeline);
  return timeline;
}

const rowsOf = (timeline: ITimeline, lane = 0): number[][] =>
  (timeline.lanes[lane]?.rows ?? []).map(row => [...row]);

test('what runs inside something stands below it, and what comes after beside it', () => {
  const timeline = timelineOf([
    [0, 100],
    [10, 20],
    [15, 5],
    [40, 20],
    [100, 10]
  ]);
  assert.deepEqual(rowsOf(timeline), [[0, 4], [1, 3], [2]]);
});

test('no two events of a row overlap, whatever comes', () => {
  let seed = 7;
  const draw = (most: number): number => (seed = (seed * 16807) % 2147483647) % most;
  const events = Array.from({ length: 500 }, (): Event => [draw(5000), draw(300), draw(2)]);
  const timeline = timelineOf(events.sort(([one], [other]) => one - other));
  for (const { rows } of timeline.lanes) {
    for (const row of rows) {
      for (let index = 1; index < row.length; index++) {
        const [before = 0, id = 0] = row.slice(index - 1, index + 1);
        assert((timeline.ends[before] ?? 0) <= (timeline.starts[id] ?? 0));
      }
    }
  }
  const drawn = timeline.lanes
    .flatMap(({ rows }) => rows)
    .reduce((sum, row) => sum + row.length, 0);
  assert.equal(drawn + timeline.tooDeep, 500);
});

test('what lies deeper than there are rows is counted', () => {
  const timeline = timelineOf(Array.from({ length: 30 }, (_, n): Event => [n, 1000 - 2 * n]));
  assert.equal(rowsOf(timeline).length, 24);
  assert.equal(timeline.tooDeep, 6);
});

test('what is no event is left out, and what follows keeps its time', () => {
  const timeline = readTimeline({
    ...answer([
      [0, 5],
      [10, 5],
      [20, 5]
    ]),
    durations: [5, 'long', 5],
    lane: [0, 0, 9]
  });
  assert.deepEqual([...(timeline?.starts ?? [])], [0]);
  const nonsense: unknown[] = [
    null,
    [],
    'text',
    {},
    { duration: -1 },
    { duration: 'x', starts: [1] }
  ];
  assert.deepEqual(
    nonsense.map(readTimeline),
    nonsense.map(() => null)
  );
  assert.equal(readTimeline({ duration: 5 })?.starts.length, 0);
});

test('times that go back end the reading, because what follows counts from them', () => {
  const { starts } = timelineOf([], {
    starts: [5, 10, -3, 4],
    durations: [1, 1, 1, 1],
    name: [0, 0, 0, 0],
    lane: [0, 0, 0, 0]
  });
  assert.deepEqual([...starts], [5, 15]);
});

test('of an endless answer a bounded part is read', () => {
  const many = new Array<number>(60_000).fill(1);
  const zeros = new Array<number>(60_000).fill(0);
  const timeline = timelineOf([], {
    starts: many,
    durations: many,
    name: zeros,
    lane: zeros,
    names: [['x'.repeat(9000)]],
    events: 60_000
  });
  assert.equal(timeline.starts.length, 50_000);
  assert.equal(timeline.names[0]?.name.length, 200);
  assert.equal(cutAt(timeline), 50_000);
});

test('a timeline that is whole has no cut', () => {
  assert.equal(cutAt(timelineOf([[0, 5]])), null);
});

test('the whole view holds what began before the cell and ended after it', () => {
  assert.deepEqual(
    whole(
      timelineOf([
        [-50, 10],
        [990, 40]
      ])
    ),
    { from: -50, to: 1030 }
  );
  assert.deepEqual(whole(timelineOf([])), { from: 0, to: 1000 });
});

test('zooming keeps the moment under the pointer where it is, and stays inside the cell', () => {
  const most = { from: 0, to: 1000 };
  assert.deepEqual(zoomed(most, 0.5, 250, most), { from: 125, to: 625 });
  assert.deepEqual(zoomed({ from: 125, to: 625 }, 2, 250, most), most);
  assert.deepEqual(zoomed(most, 0.0001, 500, most), { from: 450, to: 550 });
});

test('moving stops at the ends', () => {
  const most = { from: 0, to: 1000 };
  assert.deepEqual(moved({ from: 100, to: 300 }, 0.5, most), { from: 200, to: 400 });
  assert.deepEqual(moved({ from: 100, to: 300 }, -5, most), { from: 0, to: 200 });
  assert.deepEqual(moved({ from: 100, to: 300 }, 50, most), { from: 800, to: 1000 });
});

test('an event that is out of sight is brought into the middle, one in sight stays', () => {
  const timeline = timelineOf([
    [0, 10],
    [900, 20]
  ]);
  const most = whole(timeline);
  const view = { from: 0, to: 100 };
  assert.deepEqual(around(timeline, 0, view, most), view);
  assert.deepEqual(around(timeline, 1, view, most), { from: 860, to: 960 });
});

test('ticks are round, and no more than there is room for', () => {
  assert.deepEqual(ticks({ from: 0, to: 1000 }, 5), [0, 200, 400, 600, 800, 1000]);
  assert.deepEqual(ticks({ from: 130, to: 290 }, 4), [150, 200, 250]);
  for (const to of [1e3, 3.7e6, 9.99e9, 1e12]) {
    assert(ticks({ from: 0, to }, 4).length <= 6);
  }
});

test('a row is drawn by what fits into its pixels, not by how many events it has', () => {
  const events = Array.from({ length: 10_000 }, (_, n): Event => [n * 10, 5]);
  const timeline = timelineOf(events, { duration: 100_000 });
  const row = timeline.lanes[0]?.rows[0] ?? new Int32Array();
  const drawn: number[] = [];
  bars(timeline, row, { from: 0, to: 100_000 }, 100, (_, x) => drawn.push(x));
  assert(drawn.length <= 101 && drawn.length > 90, String(drawn.length));
  const few: [number, number, number][] = [];
  bars(timeline, row, { from: 12, to: 32 }, 200, (id, x, wide) => few.push([id, x, wide]));
  assert.deepEqual(few, [
    [1, -20, 50],
    [2, 80, 50],
    [3, 180, 50]
  ]);
});

test('the event under the pointer is found, a narrow one also from beside it', () => {
  const timeline = timelineOf([
    [10, 0],
    [50, 20]
  ]);
  const row = timeline.lanes[0]?.rows[0] ?? new Int32Array();
  assert.equal(eventAt(timeline, row, 60, 1), 1);
  assert.equal(eventAt(timeline, row, 11, 2), 0);
  assert.equal(eventAt(timeline, row, 30, 2), null);
});

test('the events in view come in the order of their starts, of all lanes and rows', () => {
  const timeline = timelineOf([
    [0, 100],
    [10, 20],
    [12, 500, 1],
    [40, 20],
    [200, 10]
  ]);
  assert.deepEqual([...inView(timeline, { from: 0, to: 1000 })], [0, 1, 2, 3, 4]);
  assert.deepEqual([...inView(timeline, { from: 35, to: 50 })], [0, 2, 3]);
  assert.deepEqual([...inView(timeline, { from: 600, to: 700 })], []);
  assert.equal(countInView(timeline, { from: 35, to: 50 }), 3);
});

test('devices stand above the host, and a place leads to its event', () => {
  const timeline = timelineOf([
    [0, 100],
    [10, 20],
    [12, 500, 1]
  ]);
  const { lanes, height } = placed(timeline.lanes);
  assert.deepEqual(
    lanes.map(({ lane, top }) => [lane.line, top]),
    [
      ['stream 7', 0],
      ['thread 1', TITLE + ROW + 4]
    ]
  );
  assert.equal(height, 2 * TITLE + 3 * ROW + 8);
  const view = { from: 0, to: 1000 };
  const find = (x: number, y: number): number | null =>
    eventAtPlace(timeline, lanes, view, 1000, [x, y]);
  assert.equal(find(20, TITLE + 2), 2);
  const inner = topOf(timeline, lanes, 1);
  assert(inner !== null);
  assert.equal(find(20, inner + 2), 1);
  assert.equal(find(20, 2), null, 'a title is no event');
  assert.equal(find(20, 5000), null);
});
