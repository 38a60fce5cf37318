/** Names that fit into a box: the whole name, or its ends with an ellipsis between them. */

/** Most characters that are tried. */
const LONGEST = 60;

/** Return a name, shortened in the middle until `widthOf` gives at most `room`. */
export function fitted(name: string, room: number, widthOf: (text: string) => number): string {
  const letters = Array.from(name);
  if (widthOf(name) <= room) {
    return name;
  }
  for (let most = Math.min(letters.length, LONGEST) - 1; most > 2; most -= 1) {
    const short = middle(letters, most);
    if (widthOf(short) <= room) {
      return short;
    }
  }
  return '…';
}

/** Keep more of the end, which distinguishes a name from its neighbours. */
function middle(letters: readonly string[], most: number): string {
  const head = Math.floor((most - 1) / 3);
  return [...letters.slice(0, head), '…', ...letters.slice(head + 1 - most)].join('');
}

/** Return a function that measures texts of `size` pixels in JupyterLab's font. */
export function textWidth(size: number): (text: string) => number {
  const font = getComputedStyle(document.body).getPropertyValue('--jp-ui-font-family');
  const context = document.createElement('canvas').getContext('2d');
  if (context === null) {
    return text => size * text.length;
  }
  context.font = `${size}px ${font || 'sans-serif'}`;
  return text => context.measureText(text).width;
}
