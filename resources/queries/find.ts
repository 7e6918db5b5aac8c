import type { Ledger } from "../../ledger/mod.ts";
import { type FoundJson, foundJson } from "../views/find_view.ts";

/** Orders and users that a text leads to. */
export interface FindJson {
  /** Each as `find --json` prints it; whole matches first. */
  readonly items: readonly FoundJson[];
  /** Whether there are more than are listed. */
  readonly more: boolean;
}

/**
 * Finds orders and users by anything that names one.
 *
 * @param nowMs The time, in milliseconds since the epoch.
 * @throws {RangeError} When the text is empty.
 */
export async function findJson(
  ledger: Ledger,
  text: string,
  nowMs: number,
): Promise<FindJson> {
  const { found, more } = await ledger.find(text);
  return { items: found.map((one) => foundJson(one, nowMs)), more };
}
