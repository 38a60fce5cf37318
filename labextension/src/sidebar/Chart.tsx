/** A curve over the last minutes, filled below. Loaded when the first one is drawn, for uPlot is a third of all our code. */

import { useEffect, useRef } from 'react';
import type { ReactElement } from 'react';
import uPlot from 'uplot';

import { breath } from '../record/slices';

export default function Chart(props: {
  data: [seconds: number[], values: (number | null)[]];
  /** Seconds that it shows. */
  span: number;
  /** The highest value that fits. */
  top: number;
}): ReactElement {
  const { data, span, top } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shown = useRef({ data, span, top });

  useEffect(() => {
    const node = place.current;
    if (node === null) {
      return;
    }
    const resize = new ResizeObserver(() => {
      plot.current?.setSize({ width: node.clientWidth, height: node.clientHeight });
    });
    // JupyterLab names its theme there; the curve has the theme's colour.
    const theme = new MutationObserver(() => plot.current?.redraw());
    // Many charts come at once: each is made in a task of its own, or the page would stand still.
    void breath().then(() => {
      if (place.current === node) {
        plot.current = new uPlot(options(node, shown.current), shown.current.data, node);
        resize.observe(node);
        theme.observe(document.body, { attributeFilter: ['data-jp-theme-name'] });
      }
    });
    return () => {
      resize.disconnect();
      theme.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);

  useEffect(() => {
    shown.current.data = data;
    shown.current.span = span;
    shown.current.top = top;
    plot.current?.setData(data);
  }, [data, span, top]);

  return <div ref={place} className="jp-mlgpu-Chart" aria-hidden="true" />;
}

/** One curve and nothing else: its figures stand beside it, in text. */
function options(node: HTMLElement, scale: { span: number; top: number }): uPlot.Options {
  return {
    width: node.clientWidth,
    height: node.clientHeight,
    // The peak's label stands above the highest that fits.
    padding: [14, 0, 2, 0],
    cursor: { show: false },
    legend: { show: false },
    axes: [{ show: false }, { show: false }],
    scales: {
      x: { time: false, range: () => [-scale.span, 0] },
      y: { range: () => [0, scale.top] }
    },
    series: [
      {},
      {
        stroke: () => getComputedStyle(node).color,
        fill: () => `color-mix(in srgb, ${getComputedStyle(node).color} 25%, transparent)`,
        width: 1.5,
        points: { show: false },
        spanGaps: false
      }
    ]
  };
}
