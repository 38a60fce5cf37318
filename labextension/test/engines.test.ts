import assert from 'node:assert/strict';
import { test } from 'node:test';

import { engineOf, readEngines } from '../src/engines';
import { placed } from '../src/lanes';

function engine(number: number, changes: object = {}): object {
  return {
    engine: number,
    machine: 'a'.repeat(12),
    here: true,
    state: 'collected',
    records: 2,
    busy: 0.5,
    offset: -120.5,
    uncertainty: 0.001,
    round_trips: 20,
    compute: 0.2,
    communicate: 0.3,
    waiting: 0.1,
    waiting_uncertainty: 0,
    ...changes
  };
}

function json(changes: object = {}): object {
  return {
    schema: 1,
    sentences: ['Engine 1 is gone: it died, or was shut down.'],
    clock: 'Time 0 is the start of the first record.',
    engines: [engine(0), engine(1, { state: 'gone', offset: null, busy: null })],
    records: 2,
    timeline: {
      duration: 500,
      lanes: [
        ['', 'host', '', '0'],
        ['', 'host', '', '1']
      ],
      starts: [0, 100],
      durations: [500, 50],
      name: [0, 1],
      lane: [0, 0],
      names: [
        ['for step', '', ''],
        ['compute', '', '']
      ],
      events: 2
    },
    cut: {},
    ...changes
  };
}

test('a collection is read, and what is not known stays null', () => {
  const found = readEngines(json());
  assert(typeof found !== 'string');
  assert.deepEqual(
    found.engines.map(one => one.offset),
    [-120.5, null]
  );
  assert.equal(engineOf(found, '1')?.state, 'gone');
  assert.equal(found.timeline.starts.length, 2);
});

test('an engine without a record has a lane as well, and a block lies below its cell', () => {
  const found = readEngines(json());
  assert(typeof found !== 'string');
  const { lanes } = placed(found.timeline.lanes, true);
  assert.deepEqual(
    lanes.map(({ lane }) => [lane.line, lane.rows.length]),
    [
      ['0', 2],
      ['1', 0]
    ]
  );
  assert.equal(placed(found.timeline.lanes).lanes.length, 1);
});

test('what is no collection, or a later one, is refused', () => {
  assert.equal(readEngines(null), 'invalid');
  assert.equal(readEngines(json({ schema: 2 })), 'newer');
  assert.equal(readEngines(json({ timeline: 'none' })), 'invalid');
  assert.equal(readEngines(json({ engines: 'none' })), 'invalid');
  // A lane whose engine cannot be read would stand beside the wrong name.
  assert.equal(readEngines(json({ engines: [engine(0), engine(-1)] })), 'invalid');
});

test('numbers that are none are not known, and texts are cut', () => {
  const found = readEngines(
    json({
      engines: [engine(0, { busy: -1, offset: 'late', waiting: Infinity }), engine(1)],
      sentences: ['x'.repeat(9_999), 7]
    })
  );
  assert(typeof found !== 'string');
  const [first] = found.engines;
  assert.deepEqual([first?.busy, first?.offset, first?.waiting], [null, null, null]);
  assert.equal(found.sentences.length, 1);
  assert((found.sentences[0]?.length ?? 0) <= 600);
});
