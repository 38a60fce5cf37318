/** What draws plans, races and benchmarks, in one file that is loaded with the first of them. */

export { BenchView } from './bench/BenchView';
export { PlanView } from './plan/PlanView';
export { RaceView } from './race/RaceView';
