/** Longest id that is requested: the service's own have 26 characters. */
const LONGEST = 128;

/**
 * Whether an id can be requested: anybody may post a webhook with any id, and
 * one with a comma would split into two. The service has no other ids.
 *
 * @param id An order or user id.
 *
 * @example A forged id
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(isRequestable("a,b"), false);
 * ```
 */
export function isRequestable(id: string): boolean {
  return id.length <= LONGEST && /^[\x21-\x7e]+$/.test(id) &&
    !id.includes(",");
}
