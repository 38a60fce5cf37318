/** What the doctor said of a kernel's set-up; the only way in. The Python side is jupyter_mlgpu/doctor/light.py. */

import { LONG, count, flag, listOf, oneOf, or, printedIn, shape } from './untrusted';
import type { Read } from './untrusted';

const said = printedIn(LONG);

/** An evidence, or commands. */
const several = or('', printedIn(2_000));

const readFinding = shape(
  { title: said },
  {
    id: or('', said),
    evidence: several,
    /** Lines for a shell. */
    remedy: several,
    /** null: the check itself failed. */
    confidence: oneOf('sure', 'likely', 'possible')
  }
);

export type IFinding = Read<typeof readFinding>;

const readDiagnosis = shape(
  { head: said },
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
    problem: said
  }
);

export type IDoctor = Read<typeof readDoctor>;
