/** A time; 0 where the time before it is the same. */
export type StoredTime = string | null | 0;

/**
 * Writes times in a row, each that is the one before it as 0.
 *
 * @param first The time before the first.
 */
export function timeWriter(
  first: string | null,
): (time: string | null) => StoredTime {
  let before = first;
  return (time) => time === before ? 0 : before = time;
}

/** Reads what {@linkcode timeWriter} wrote after the same time. */
export function timeReader(
  first: string | null,
): (time: StoredTime) => string | null {
  let before = first;
  return (time) => time === 0 ? before : before = time;
}
