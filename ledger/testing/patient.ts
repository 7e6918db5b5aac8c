/** Limits for a database that several use at once, on a machine that is busy. */
export const patient = { timeoutMs: 120_000, busyLimitMs: 120_000 } as const;
