import type { FindResult, Ledger } from "../../ledger/mod.ts";
import { searchedText } from "./searched_text.ts";
import { type FoundJson, foundJson } from "../views/find_view.ts";

/** Orders and users that a text leads to. */
export interface FindJson {
  /** Each as `find --json` prints it; whole matches first. */
  readonly items: readonly FoundJson[];
  /** Whether there are more than are listed. */
  readonly more: boolean;
  /**
   * What you recorded under exactly this session, click id or reference, even
   * if no order matches it; the latest ten, latest first.
   */
  readonly recorded: FindResult["recorded"];
}

/**
 * Finds orders and users by what a person pasted.
 *
 * @throws {RangeError} When the text is empty.
 */
export async function findJson(
  ledger: Ledger,
  pasted: string,
  nowMs: number,
): Promise<FindJson> {
  let recorded: FindJson["recorded"] = [];
  for (const { text, end } of searchedText(pasted).candidates) {
    const { found, ...rest } = await ledger.find(text);
    const items = found.filter(({ matches }) =>
      end === null ||
      matches.some(({ value }) =>
        value.toLowerCase().endsWith(end.toLowerCase())
      )
    ).map((one) => foundJson(one, nowMs));
    if (items.length > 0) return { items, ...rest };
    if (recorded.length === 0) recorded = rest.recorded;
  }
  return { items: [], more: false, recorded };
}
