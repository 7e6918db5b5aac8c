/**
 * Characters that a terminal obeys or hides instead of printing: controls (so
 * ANSI escapes too), line and paragraph separators, marks that turn round the
 * order of reading, invisible characters, and halves of a surrogate pair.
 */
const UNSAFE =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e007f}]/gu;

/** Text from outside, safe to print on one line: it can neither move the cursor
 * nor colour, nor turn round the order in which what stands beside it is read. */
export function printable(text: string): string {
  return text.replace(UNSAFE, "�");
}

/** The same for output of several lines: line breaks and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(
    UNSAFE,
    (character, at: number) =>
      character === "\n" || character === "\t" ||
        (character === "\r" && text[at + 1] === "\n")
        ? character
        : "�",
  );
}

/** JSON with such characters escaped: who reads it gets the same value. */
export function printableJson(value: unknown, indent: number = 0): string {
  return JSON.stringify(value, null, indent).split("\n")
    .map((line) => line.replace(UNSAFE, escaped)).join("\n");
}

/** Escapes as JSON and shells read them: `\u001b`, and pairs as two. */
function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** Whether every character of a text is printed unchanged. */
export function isPrintable(text: string): boolean {
  return text.search(UNSAFE) === -1;
}
