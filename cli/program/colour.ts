/** Codes that a terminal takes as the way to write what follows. */
const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  magenta: [35, 39],
} as const;

/** A way to write a text on a terminal. */
export type Style = keyof typeof STYLES;

/** A printable text in a style, for a terminal that wants colours. */
export function paint(style: Style, text: string): string {
  const [on, off] = STYLES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}
