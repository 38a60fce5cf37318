/** Buttons, a search field and a list to choose from, used by several views. */

import type { ReactElement, ReactNode } from 'react';

import type { Translate } from '../language/i18n';
import type { ICell } from '../record/record';
import { CellName } from '../sidebar/RunningCell';

/** A button with a text; by default it looks like a link. */
export function Button(props: {
  variant?: 'TextButton' | 'Button' | 'Chip';
  label: string;
  disabled?: boolean;
  onClick: () => void;
}): ReactElement {
  const { variant = 'TextButton', label, disabled, onClick } = props;
  return (
    <button type="button" className={`jp-mlgpu-${variant}`} disabled={disabled} onClick={onClick}>
      {label}
    </button>
  );
}

/** A button that stays pressed until the next click. */
export function Chip(props: {
  pressed: boolean;
  title?: string;
  onClick: () => void;
  children: ReactNode;
}): ReactElement {
  const { pressed, title, onClick, children } = props;
  return (
    <button
      type="button"
      className="jp-mlgpu-Chip"
      aria-pressed={pressed}
      title={title}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

export function Search(props: {
  label: string;
  value: string;
  onChange: (words: string) => void;
}): ReactElement {
  const { label, value, onChange } = props;
  return (
    <input
      type="search"
      className="jp-mlgpu-Input"
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={event => onChange(event.target.value)}
    />
  );
}

/** A list to choose from; `options` are values with their names. */
export function Select<T extends string>(props: {
  label: string;
  value: T;
  options: readonly (readonly [value: T, name: string])[];
  onChoose: (value: T) => void;
}): ReactElement {
  const { label, value, options, onChoose } = props;
  return (
    <select
      className="jp-mlgpu-Input"
      aria-label={label}
      value={value}
      onChange={event => onChoose(event.target.value as T)}
    >
      {options.map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The cell's name, as a button that leads to it. */
export function GoToCell(props: { cell: ICell; onGo: () => void; t: Translate }): ReactElement {
  const { cell, onGo, t } = props;
  return (
    <button type="button" className="jp-mlgpu-Go" title={t('goToCell')} onClick={onGo}>
      <CellName cell={cell} />
    </button>
  );
}

/** Return the set with an element added, or removed if it was in it. */
export function toggled<T>(set: ReadonlySet<T>, one: T): Set<T> {
  const after = new Set(set);
  if (!after.delete(one)) {
    after.add(one);
  }
  return after;
}
