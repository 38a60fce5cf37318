/** Tabs with the usual keys. */

import { useId, type KeyboardEvent, type ReactElement, type ReactNode } from 'react';

export interface ITab<T extends string> {
  id: T;
  label: string;
  /** Number of items in it; 0 is not shown. Null for a tab that counts nothing. */
  count: number | null;
}

export function Tabs<T extends string>(props: {
  label: string;
  tabs: readonly ITab<T>[];
  selected: T;
  onSelect: (tab: T) => void;
  /** Content of the selected tab. */
  children: ReactNode;
}): ReactElement {
  const { label, tabs, selected, onSelect, children } = props;
  const id = useId();
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const index = tabs.findIndex(tab => tab.id === selected);
    const target = KEYS[event.key]?.(index, tabs.length);
    const tab = target === undefined ? undefined : tabs[target];
    if (tab === undefined) {
      return;
    }
    event.preventDefault();
    onSelect(tab.id);
    event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')[target ?? 0]?.focus();
  };
  return (
    <>
      <div className="jp-mlgpu-Tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map(tab => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            className="jp-mlgpu-Tab"
            aria-selected={tab.id === selected}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === selected ? 0 : -1}
            // On press, as JupyterLab's own tabs. If the page moves between press and release, as it does
            // when tracing starts, browsers send no click.
            onMouseDown={event => event.button === 0 && onSelect(tab.id)}
            // Keyboards and screen readers send a click only.
            onClick={() => onSelect(tab.id)}
          >
            {tab.label}{' '}
            {tab.count !== null && (
              <span className="jp-mlgpu-Tab-count">
                {tab.count > 0 && tab.count.toLocaleString()}
              </span>
            )}
          </button>
        ))}
      </div>
      <div
        className="jp-mlgpu-TabPanel"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${selected}`}
      >
        {children}
      </div>
    </>
  );
}

/** For each key, the index of the next tab from the current index and the number of tabs. */
const KEYS: Record<string, (tab: number, tabs: number) => number> = {
  ArrowRight: (tab, tabs) => (tab + 1) % tabs,
  ArrowLeft: (tab, tabs) => (tab + tabs - 1) % tabs,
  Home: () => 0,
  End: (_, tabs) => tabs - 1
};
