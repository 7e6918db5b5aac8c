/**
 * Breaks a line at spaces so that it fits a terminal. A word that is longer
 * than the line stays whole: hashes and commands are there to be copied.
 *
 * @param columns Width of the terminal; null breaks nothing.
 * @param hang Spaces before every line but the first.
 */
export function wrap(
  text: string,
  columns: number | null,
  hang: number = indentOf(text),
): string {
  if (columns === null || text.length <= columns) return text;
  const lines: string[] = [];
  let current = " ".repeat(indentOf(text));
  let empty = true;
  // Two spaces and more are a layout; only single ones may become a break.
  for (const word of text.trimStart().split(/(?<! ) (?! )/)) {
    const longer = empty ? current + word : `${current} ${word}`;
    if (empty || longer.length <= columns) current = longer;
    else {
      lines.push(current);
      current = " ".repeat(Math.min(hang, columns >> 1)) + word;
    }
    empty = false;
  }
  return [...lines, current].join("\n");
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}
