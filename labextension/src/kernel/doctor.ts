/** What the doctor said of a kernel's set-up. */

export { readDoctor } from './messages';
export type { IDoctor, ILightDiagnosis as IDiagnosis, ILightFinding as IFinding } from './messages';
