/** What the doctor said of a kernel's set-up; the only way in. The Python side is jupyter_mlgpu/doctor/light.py. */

import { FEW, LONG, choice, count, list, object, printed } from './untrusted';

const CONFIDENCES = ['sure', 'likely', 'possible'] as const;

/** Characters of an evidence or of commands. */
const LONGEST = 2_000;

export interface IDoctor {
  asking: boolean;
  /** null: it has not been asked, or gave no answer. */
  found: IDiagnosis | null;
  /** Why it gave no answer. */
  problem: string | null;
}

export interface IDiagnosis {
  head: string;
  /** Causes first. */
  findings: IFinding[];
  /** How many more there are. */
  more: number;
}

export interface IFinding {
  id: string;
  title: string;
  evidence: string;
  /** Lines for a shell. */
  remedy: string;
  /** null: the check itself failed. */
  confidence: (typeof CONFIDENCES)[number] | null;
}

export function readDoctor(data: unknown): IDoctor | null {
  const table = object(data);
  return (
    table && {
      asking: table.asking === true,
      found: readDiagnosis(table.found),
      problem: printed(table.problem, LONG)
    }
  );
}

function readDiagnosis(data: unknown): IDiagnosis | null {
  const table = object(data);
  const head = printed(table?.head, LONG);
  return head === null
    ? null
    : { head, findings: list(table?.findings, FEW, readFinding), more: count(table?.more) ?? 0 };
}

function readFinding(data: unknown): IFinding | null {
  const table = object(data);
  const title = printed(table?.title, LONG);
  return title === null
    ? null
    : {
        id: printed(table?.id, LONG) ?? '',
        title,
        evidence: printed(table?.evidence, LONGEST) ?? '',
        remedy: printed(table?.remedy, LONGEST) ?? '',
        confidence: choice(table?.confidence, CONFIDENCES)
      };
}
