/** Words in a sentence: `success and failed`. */
export function listWords(words: readonly string[]): string {
  return words.join(" and ");
}

/** The next step while the service has not been asked. */
export const ASKED_SOON =
  "Nothing yet: the service is asked within minutes. Without a poller, ask " +
  "it: `poll --once`.";

/** The next step where the service shows what this version does not know. */
export const UNKNOWN_STATE =
  "Ask the service what the status means. A newer version may know it.";

/** A span of time for people: `80 ms`, `3 min`, `2 h`, `5 days`. */
export function span(ms: number): string {
  if (Math.abs(ms) < 1000) return `${Math.round(Math.abs(ms))} ms`;
  const seconds = Math.round(Math.abs(ms) / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
