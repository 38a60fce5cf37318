/** Two views of one thing, of which one is shown: tabs with the keys that tabs have. */

import { useId, type KeyboardEvent, type ReactElement, type ReactNode } from 'react';

export interface ITab<T extends string> {
  id: T;
  label: string;
  /** How much there is in it; not shown where there is nothing. */
  count: number;
}

export function Tabs<T extends string>(props: {
  label: string;
  tabs: readonly ITab<T>[];
  selected: T;
  onSelect: (tab: T) => void;
  /** What the selected tab shows. */
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
            // As JupyterLab's own tabs do, and for a reason: where the page moves between a button's press
            // and its release, as it does when a kernel begins to be traced, a browser tells of no click.
            onMouseDown={event => event.button === 0 && onSelect(tab.id)}
            // Keys and screen readers send a click alone.
            onClick={() => onSelect(tab.id)}
          >
            {tab.label}{' '}
            {tab.count > 0 && <span className="jp-mlgpu-Quiet">{tab.count.toLocaleString()}</span>}
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

/** From the selected tab and the number of tabs to the tab that a key leads to. */
const KEYS: Record<string, (tab: number, tabs: number) => number> = {
  ArrowRight: (tab, tabs) => (tab + 1) % tabs,
  ArrowLeft: (tab, tabs) => (tab + tabs - 1) % tabs,
  Home: () => 0,
  End: (_, tabs) => tabs - 1
};
