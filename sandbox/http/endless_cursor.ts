import type { SandboxEngine } from "../service/sandbox_engine.ts";

const PREFIX = "again-";

/** The cursor that an endless cursor stands for; any other is returned as is. */
export function trueCursor(cursorId: string): string {
  return cursorId.startsWith(PREFIX)
    ? cursorId.slice(cursorId.indexOf("-", PREFIX.length) + 1)
    : cursorId;
}

/**
 * The cursor after a page: the true one, or a new one that leads to the same
 * page again.
 *
 * @param requested The cursor in the request.
 * @param next The true cursor after that page; empty at the end.
 */
export function cursorAfter(
  { injector, counters }: SandboxEngine,
  requested: string,
  next: string,
): string {
  const isEndless = requested.startsWith(PREFIX);
  const strikes = next !== "" && injector.strikes("endlessCursor");
  // A walk that met an endless cursor repeats until the fault is switched off.
  if (!strikes && !(isEndless && injector.faults.endlessCursor > 0)) {
    return next;
  }
  counters.endlessCursors++;
  const round = isEndless ? parseInt(requested.slice(PREFIX.length)) + 1 : 1;
  return `${PREFIX}${round}-${trueCursor(requested)}`;
}
