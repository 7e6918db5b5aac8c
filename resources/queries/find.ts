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
 * /
 */
export async function findJson(
  ledger: Ledger,
  pasted: string,
  nowMs: number,
): Promise<FindJson> {
  let recorded: FindJson["recorded"] = [];
  for (const { text, end } of searchedText(pasted).candidates) {
    const one = await findNamed(ledger, text, nowMs);
    const items = one.items.filter(({ matches }) =>
      end === null ||
      matches.some(({ value }) =>
        value.toLowerCase().endsWith(end.toLowerCase())
      )
    );
    if (items.length > 0) return { ...one, items };
    if (recorded.length === 0) recorded = one.recorded;
  }
  return { items: [], more: false, recorded };
}

/** Finds orders and users by a name, or how it begins. */
async function findNamed(
  ledger: Ledger,
  text: string,
  nowMs: number,
): Promise<FindJson> {
  const { found, more, recorded } = await ledger.find(text);
  const items = found.map((one) => foundJson(one, nowMs));
  return { items, more, recorded };
}
