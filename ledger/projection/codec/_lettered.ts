import { asSaid } from "./_said.ts";

/** What stands in most places, as one letter each. */
const LETTERS: readonly (readonly [string, unknown])[] = [
  ["n", null],
  ["s", asSaid],
  ["t", ""],
  ["f", false],
];

/** A list of nothing. */
const EMPTY = "e";
/** The next of the values. */
const VALUE = "v";

const letterOf: ReadonlyMap<unknown, string> = new Map(
  LETTERS.map(([letter, value]) => [value, letter]),
);
const valueOf: ReadonlyMap<string, unknown> = new Map(LETTERS);

/**
 * Packs values of which most are alike: a letter each, and then those that are
 * not.
 *
 * @param values The values; null for nothing.
 */
export function packLetters(values: readonly unknown[]): unknown[] {
  const rest: unknown[] = [];
  let letters = "";
  for (const value of values) {
    const letter = letterOf.get(value) ??
      (Array.isArray(value) && value.length === 0 ? EMPTY : VALUE);
    letters += letter;
    if (letter === VALUE) rest.push(value);
  }
  return [letters, ...rest];
}

/** The reverse of {@linkcode packLetters}. */
export function unpackLetters(
  [letters, ...rest]: readonly unknown[],
): unknown[] {
  let next = 0;
  return Array.from(letters as string, (letter) => {
    if (letter === VALUE) return rest[next++];
    return letter === EMPTY ? [] : valueOf.get(letter);
  });
}
