/**
 * Icons as JupyterLab draws them. Its own read their picture's text anew in each place and listen for another one
 * there: in lists of which many rows are drawn between two frames, that takes too long. And other notebooks have
 * no JupyterLab to take them from.
 */

import type { ReactElement } from 'react';

type Icon = (props: { className?: string }) => ReactElement;

function icon(size: number, path: string): Icon {
  return ({ className }) => (
    <span className={className} aria-hidden="true">
      <svg width="16" height="16" viewBox={`0 0 ${size} ${size}`}>
        <path className="jp-icon3" fill="currentColor" d={path} />
      </svg>
    </span>
  );
}

export const CaretDown = icon(18, 'M5.2 7.5 9 11.2l3.8-3.8H5.2z');
export const CaretRight = icon(18, 'M7.2 5.2 10.9 9l-3.8 3.8V5.2z');
export const Check = icon(24, 'M9 16.17 4.83 12l-1.42 1.41L9 19 21 7l-1.41-1.41z');
export const Close = icon(
  24,
  'M19 6.41 17.59 5 12 10.59 6.41 5 5 6.41 10.59 12 5 17.59 6.41 19 12 13.41 17.59 19 19 17.59 13.41 12z'
);
export const Stop = icon(24, 'M6 6h12v12H6z');
