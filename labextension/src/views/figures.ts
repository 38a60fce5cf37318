/** What draws plans and races, in one file that is loaded with the first of them. */

export { PlanView } from './plan/PlanView';
export { RaceView } from './race/RaceView';
