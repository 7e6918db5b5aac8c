/** What people noted about what waits for them. */
export const notesSchema: readonly string[] = [];
