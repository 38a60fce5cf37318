/** Texts for plans and races, in both languages. */

export const english = {
  plans: 'Plans'
};

export const chinese: Record<keyof typeof english, string> = {
  plans: '计划'
};
