/** What the doctor said of a kernel's set-up; the only way in. The Python side is jupyter_mlgpu/explain/doctor/light.py. */

import { sentence } from '../language/sentence';
import { LONG, count, flag, listOf, oneOf, or, printedIn, shape } from '../language/untrusted';
import type { Read } from '../language/untrusted';

/** Characters of an evidence, and of commands. */
const SEVERAL = 2_000;

const readFinding = shape(
  { title: sentence },
  {
    id: or('', printedIn(LONG)),
    evidence: or('', value => sentence(value, SEVERAL)),
    /** Lines for a shell. */
    remedy: or('', printedIn(SEVERAL)),
    /** null: the check itself failed. */
    confidence: oneOf('sure', 'likely', 'possible')
  }
);

export type IFinding = Read<typeof readFinding>;

const readDiagnosis = shape(
  { head: sentence },
  {
    /** Causes first. */
    findings: listOf(readFinding),
    /** How many more there are. */
    more: or(0, count)
  }
);

export type IDiagnosis = Read<typeof readDiagnosis>;

export const readDoctor = shape(
  {},
  {
    asking: flag,
    /** null: it has not been asked, or gave no answer. */
    found: readDiagnosis,
    /** Why it gave no answer. */
    problem: sentence
  }
);

export type IDoctor = Read<typeof readDoctor>;
