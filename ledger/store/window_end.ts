/** Which events a window may hold, each a piece of SQL. */
export interface WindowLimits {
  /** Condition of the events that come after the window before. */
  readonly where: string;
  /** Most events. */
  readonly maxEvents: string;
  /** Most bytes of bodies, unless one event alone has more. */
  readonly maxBytes: string;
}

/**
 * SQL for the position of the last event of a window; NULL when there is none.
 * Adding up sizes event by event is expensive. It is done only when the events
 * have too many bytes.
 *
 * @param limits Which events it may hold.
 */
export function endOfWindow(
  { where, maxEvents, maxBytes }: WindowLimits,
): string {
  const candidates = `(SELECT position, coalesce(length(body), 0) AS size
    FROM events WHERE ${where} ORDER BY position LIMIT ${maxEvents})`;
  return `(SELECT CASE WHEN bytes < ${maxBytes} THEN last ELSE (
      SELECT max(position) FROM (
        SELECT position, size, sum(size) OVER (ORDER BY position) AS total
        FROM ${candidates})
      WHERE total - size < ${maxBytes} OR total = size) END
    FROM (SELECT max(position) AS last, sum(size) AS bytes
      FROM ${candidates}))`;
}
