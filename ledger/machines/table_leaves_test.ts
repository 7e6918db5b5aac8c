// Walks over a machine's tables and breaks one row at a time, for tests.

/** Every value of the tables, by its dotted place. */
export function leavesOf(
  table: unknown,
  path: readonly string[] = [],
): [row: string, value: unknown][] {
  if (typeof table !== "object" || table === null) {
    return [[path.join("."), table]];
  }
  return Object.entries(table).flatMap(([key, value]) =>
    leavesOf(value, [...path, key])
  );
}

/** Runs `test` while one row of a table holds another value. */
export function withLeaf(
  table: object,
  row: string,
  value: unknown,
  test: () => void,
): void {
  const path = row.split(".");
  const owners: [Record<string, unknown>, string, unknown][] = [];
  let owner = table as Record<string, unknown>;
  for (const [place, key] of path.entries()) {
    owners.push([owner, key, owner[key]]);
    if (place === path.length - 1) owner[key] = value;
    else if (uses(table, owner[key]) > 1) {
      owner[key] = { ...Object(owner[key]) };
    }
    owner = owner[key] as Record<string, unknown>;
  }
  try {
    test();
  } finally {
    for (const [holder, key, old] of owners.reverse()) holder[key] = old;
  }
}

/** How many rows share an object: a copy of it is changed, and not all. */
function uses(table: unknown, shared: unknown): number {
  if (typeof table !== "object" || table === null) return 0;
  return Object.values(table).reduce<number>(
    (sum, inner) => sum + (inner === shared ? 1 : uses(inner, shared)),
    0,
  );
}
