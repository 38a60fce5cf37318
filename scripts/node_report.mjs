// A reporter of Node's test runner: what passed, and what failed by file, as scripts/run_tests.py reads it.
export default async function* report(events) {
  const told = { passed: 0, failed: {}, skipped: {} };
  for await (const { type, data } of events) {
    if (type === 'test:pass' && data.skip !== undefined) {
      const reason = String(data.skip || 'no reason given');
      told.skipped[reason] = (told.skipped[reason] ?? 0) + 1;
    } else if (type === 'test:pass' && data.details?.type !== 'suite') {
      told.passed += 1;
    } else if (type === 'test:fail') {
      const error = data.details?.error;
      const text = `${data.name}\n${error?.cause?.stack ?? error?.stack ?? error}`;
      told.failed[data.file] = `${told.failed[data.file] ?? ''}${text}\n\n`;
    }
  }
  yield JSON.stringify(told);
}
