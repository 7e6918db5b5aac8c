/** How long a session is valid, in ms; service interface, "Limits". */
export const validityMs = 30_000;
