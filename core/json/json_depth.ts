/** Levels of nesting beyond which a value is not read further. */
const DEEPEST_LEVEL = 100;

/**
 * Whether arrays and objects are nested deeper than `levels`. It does not
 * recurse, so it is safe for any value, and it costs nothing for plain ones.
 */
export function isDeeperThan(
  value: unknown,
  levels: number = DEEPEST_LEVEL,
): boolean {
  if (typeof value !== "object" || value === null) return false;
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true;
    const next: object[] = [];
    for (const holder of level) {
      for (const inner of Object.values(holder)) {
        if (typeof inner === "object" && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
  return false;
}
