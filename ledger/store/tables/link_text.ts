/**
 * SQL for that a link `l` is a text to the letter. The first condition is that of
 * the key, which ignores the case.
 *
 * @param text SQL of the text.
 */
export function isLink(text: string): string {
  return `l.link = ${text} COLLATE NOCASE AND l.link = ${text}`;
}
