import type { Operations } from "../../api/operations.ts";
import type { Reader } from "../access/access.ts";

/** Sends dead letters again, or drops them; each leaves a line in the log. */
export type DeadLetterActions = Pick<Operations, "retry" | "drop">;

/** What came of a form of a page: where to go on, or what was wrong. */
export type ActionResult = { readonly back: string } | {
  readonly wrong: string;
};

/**
 * Does what the form beside a dead letter asks for: `retry` of one or of all
 * of a subscription, `drop` of one.
 *
 * @param fields The fields of the form, whatever they hold.
 * @param reader Who sent it.
 */
export async function settleDeadLetters(
  actions: DeadLetterActions,
  { action, subscription, key }: Readonly<Record<string, string>>,
  { name }: Reader,
): Promise<ActionResult> {
  const caller = { name, scope: "operate" } as const;
  if (subscription === undefined) return { wrong: NOT_WHOLE };
  let settled: number;
  if (action === "retry") {
    settled = await actions.retry(caller, subscription, key);
  } else if (action === "drop" && key !== undefined) {
    settled = await actions.drop(caller, subscription, key);
  } else return { wrong: NOT_WHOLE };
  return settled > 0 ? { back: "/attention#dead" } : {
    wrong:
      "This dead letter is no longer there: it was sent again or dropped " +
      "meanwhile",
  };
}

const NOT_WHOLE = "The form is not whole; load the page again and repeat";
