/** Texts for the logs, in both languages. */

export const english = {
  logs: 'Logs'
};

export const chinese: Record<keyof typeof english, string> = {
  logs: '日志'
};
