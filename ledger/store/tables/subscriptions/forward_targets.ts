/** Where transitions are forwarded to, and who sends. */
export const forwardTargetsSchema: readonly string[] = [];
