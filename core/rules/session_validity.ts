/**
 * How long a session can be opened after it was made, in milliseconds.
 *
 * Source: service interface, "Limits".
 */
export const sessionValidityMs = 30_000;
