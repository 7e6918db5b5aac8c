/** Words in a sentence: `success and failed`. */
export function listWords(words: readonly string[]): string {
  return words.join(" and ");
}
