/** Milliseconds after which a file has been handed to the browser's downloads. */
const HANDED = 60_000;

/** Give a file of JSON to the browser's downloads. */
export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), HANDED);
}
