/** What each GPU did in a cell. */

export type { IGpuWork } from './recordtypes';
