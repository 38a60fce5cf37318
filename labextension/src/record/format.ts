/** Numbers with units as text, the same as in the receipt's plain text. Pure functions. */

/** Format seconds: `812 µs`, `12.3 ms`, `4.56 s`, `2 min 05 s`, `1 h 02 min`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 0.9995e-3) {
    return `${(seconds * 1e6).toFixed(0)} µs`;
  }
  if (seconds < 0.9995) {
    return `${threeFigures(seconds * 1e3)} ms`;
  }
  if (seconds < 59.95) {
    return `${threeFigures(seconds)} s`;
  }
  return formatMinutes(seconds);
}

/** Format a running clock in tenths of a second, so that the text keeps its width. */
export function formatClock(seconds: number): string {
  return seconds < 59.95 ? `${seconds.toFixed(1)} s` : formatMinutes(seconds);
}

/** Format bytes in powers of 1024: `512 B`, `1.5 KiB`, `640 MiB`, `2.25 GiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (value < 1024) {
      return unit === 'B' || value >= 100
        ? `${value.toFixed(0)} ${unit}`
        : `${threeFigures(value)} ${unit}`;
    }
    value /= 1024;
  }
  return `${threeFigures(value)} TiB`;
}

/** Format a value with its unit; an unknown unit is appended unchanged. */
export function formatValue(value: number, unit: string): string {
  switch (unit) {
    case 's':
      return formatSeconds(value);
    case 'bytes':
      return formatBytes(value);
    case 'share':
    case 'of the roof':
      return `${threeFigures(value * 100)} %`;
    case 'FLOP':
    case 'FLOP/s':
      return formatDecimal(value, unit);
    case 'bytes/s':
      return formatDecimal(value, 'B/s');
    case '1/s':
      return formatDecimal(value, '/s');
    case 'pages':
    case 'retries':
      return `${counted(value)} ${unit}`;
    default:
      return formatScaled(value, unit);
  }
}

/** Format a rate or a count in powers of 1000: `12.3 GFLOP/s`, `8.31 GB/s`. */
export function formatDecimal(amount: number, unit: string): string {
  let value = amount;
  for (const prefix of ['', 'k', 'M', 'G', 'T']) {
    if (value < 999.5) {
      return `${threeFigures(value)} ${prefix}${unit}`;
    }
    value /= 1000;
  }
  return `${counted(value)} P${unit}`;
}

/** Format joules, watts and others with a decimal prefix: `12.3 mJ`, `75 J`, `3.51 kJ`. */
function formatScaled(value: number, unit: string): string {
  const [prefix, scale] = value >= 999.5 ? ['k', 1e-3] : value >= 0.0995 ? ['', 1] : ['m', 1e3];
  return `${threeFigures(value * scale)} ${prefix}${unit}`;
}

/** Format a share of 0 to 1 in per cent; 0 % and 100 % only if they are exact. */
export function formatShare(share: number): string {
  if (share <= 0 || share >= 1) {
    return share <= 0 ? '0 %' : '100 %';
  }
  return `${Math.min(Math.max(Math.round(share * 100), 1), 99)} %`;
}

/** Return the width of a bar in per cent of the scale; a value above 0 stays visible. */
export function barWidth(value: number, scale: number): number {
  return value <= 0 || scale <= 0 ? 0 : Math.min(Math.max((value / scale) * 100, 0.5), 100);
}

function formatMinutes(seconds: number): string {
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes} min ${twoDigits(whole % 60)} s`
    : `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
}

function counted(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function threeFigures(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** Join the parts that are not empty with dots. */
export function dotted(...parts: (string | false | null | undefined)[]): string {
  return parts.filter(Boolean).join(' · ');
}
