/** Records as the kernel sends them, for the tests. */

export const RUN = '9f2c0000000000000000000000000001';

export function reading(quantity: string, value: number | null, unit = 's'): object {
  return {
    quantity,
    value,
    unit,
    scope: 'cell',
    source: 'test',
    samples: 1,
    why_missing: value === null ? 'No profiler ran.' : null
  };
}

export function recordJson(sequence: number, changes: object = {}): object {
  return {
    schema: 2,
    run: { id: RUN, notebook: 'lesson.ipynb', host_digest: 'abcdef012345', engine: null },
    cell: {
      sequence,
      id: `cell-${sequence}`,
      execution_count: sequence,
      source_digest: null,
      name: `x = ${sequence}`
    },
    started_at: '2026-11-21T08:00:00.123456Z',
    started_monotonic_ns: 1,
    outcome: 'ok',
    device: { requested: {}, ran_on: null, why_missing: 'No framework was loaded.' },
    readings: [reading('wall_time', 1.5), reading('cpu_time', 0.5), reading('device_time', null)],
    logs: [],
    ops: [],
    facts: {},
    versions: { python: '3.11.7' },
    mode: 'light',
    origin: 'live',
    notes: [],
    head: { figures: { time: '1.5 s' } },
    ...changes
  };
}

export function deltaJson(seq: number, events: unknown[], changes: object = {}): object {
  return { protocol: 1, run: RUN, seq, prev: seq - 1, events, ...changes };
}

export function snapshotJson(seq: number, sequences: number[], changes: object = {}): object {
  return {
    status: 'ok',
    protocol: 1,
    run: RUN,
    seq,
    tracing: true,
    notebook: null,
    device: {
      requested: {},
      pickers: [
        {
          framework: null,
          chosen: 'auto',
          words: [{ word: 'auto', about: null }],
          missing: ['No framework.']
        }
      ]
    },
    running: null,
    records: sequences.map(sequence => recordJson(sequence)),
    first: sequences[0] ?? 0,
    oldest: sequences[0] ?? 0,
    dropped: 0,
    versions: {},
    ...changes
  };
}

export function runningJson(sequence: number, elapsed = 0): object {
  return {
    type: 'running',
    cell: { sequence, id: `cell-${sequence}`, execution_count: sequence, name: 'fit' },
    started_at: '2026-11-21T08:00:00Z',
    elapsed_s: elapsed
  };
}

export function logJson(text: string, changes: object = {}): object {
  return {
    text,
    id: null,
    verdict: 'unknown',
    meaning: null,
    advice: null,
    fields: {},
    count: 1,
    stream: 'stderr',
    time: '2026-11-21T08:00:00.5Z',
    late: false,
    ...changes
  };
}

export const metal = logJson('Metal device set to: Apple M1 Max', {
  id: 'metal-device-set',
  verdict: 'info',
  meaning: "This Mac's GPU, Apple M1 Max, is the one TensorFlow will use.",
  advice: 'Nothing to do.',
  fields: { device: 'Apple M1 Max' }
});

export const outOfMemory = logJson('OOM when allocating', {
  id: 'out-of-memory',
  verdict: 'action',
  meaning: 'The GPU has no memory left.',
  advice: 'Make the batch smaller.',
  count: 37
});

export function seriesJson(device: string, quantity: string, changes: object = {}): object {
  return {
    device,
    quantity,
    unit: 'bytes',
    source: 'test',
    limit: null,
    why_missing: null,
    ...changes
  };
}

export function countersJson(t: number, values: unknown[], series?: unknown[]): object {
  return {
    type: 'counters',
    time: '2026-11-21T08:00:00.000000Z',
    t,
    values,
    ...(series === undefined ? {} : { series })
  };
}
