/** Texts for the logs, in both languages. */

export const english = {
  logs: 'Logs',
  toNewestLine: 'To the newest line'
};

export const chinese: Record<keyof typeof english, string> = {
  logs: '日志',
  toNewestLine: '到最新一行'
};
