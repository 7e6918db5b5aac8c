/** What was measured, and what it came to with its unit. */
export type Figure = readonly [what: string, figure: string];
