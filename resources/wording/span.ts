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
