/** One row a minute of each process: what was received and answered. */
export const minutesSchema: readonly string[] = [];
