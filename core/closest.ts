/**
 * The word that needs the fewest letters changed, added or removed to become
 * `text`; of several the first.
 */
export function closest(text: string, words: Iterable<string>): string {
  const start = text.slice(0, 100);
  let best = "";
  let fewest = Infinity;
  for (const word of words) {
    const changes = lettersBetween(start, word);
    if (changes < fewest) [best, fewest] = [word, changes];
  }
  return best;
}

/** How many letters to change, add or remove: the Levenshtein distance. */
function lettersBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      row.push(Math.min(
        (above[j] ?? 0) + (a[i] === b[j] ? 0 : 1),
        (above[j + 1] ?? 0) + 1,
        (row[j] ?? 0) + 1,
      ));
    }
    above = row;
  }
  return above[b.length] ?? 0;
}
