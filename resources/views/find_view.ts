import { outcomeNow } from "../../ledger/for_resources.ts";
import type { Found } from "../../ledger/mod.ts";
import type { FieldMatch } from "../../ledger/types.ts";
import { CLAIMED_MATCH, FOUND_FIELDS } from "../wording/found_as.ts";
import { OUTCOME_WORDS } from "../wording/outcome.ts";
import { type OrderJson, orderJson, orderLines } from "./order_view.ts";
import { shellWord } from "./shell_word.ts";
import { drawTable } from "./table.ts";
import { type UserJson, userJson, userLines } from "./user_view.ts";

/**
 * An order or a user that a text leads to, and what the text was found as.
 */
export interface FoundJson {
  /** Which kind it is. */
  readonly entity: Found["entity"];
  /** What matched; those that match whole come first. */
  readonly matches: readonly FieldMatch[];
  /** Null where it is a user. */
  readonly order: OrderJson | null;
  /** Null where it is an order. */
  readonly user: UserJson | null;
}

/**
 * What was found as `--json` prints it.
 *
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function foundJson(found: Found, nowMs: number): FoundJson {
  const { entity, matches } = found;
  return found.entity === "order"
    ? { entity, matches, order: orderJson(found.order, nowMs), user: null }
    : { entity, matches, order: null, user: userJson(found.user) };
}

/** The only one that was found, in full. */
export function foundLines(
  found: Found,
  columns: number | null,
  nowMs: number,
): string[] {
  const matched = `Found by ${found.matches.map(matchText).join(", ")}`;
  return found.entity === "order"
    ? [matched, "", ...orderLines(found.order, columns, nowMs)]
    : [
      matched,
      "",
      ...userLines(userJson(found.user), columns, nowMs),
      "",
      "Orders of the user:",
      `  rampkit orders list --user=${shellWord(found.user.userId)}`,
    ];
}

/** Several that were found, one a line, with what matched. */
export function foundTable(
  found: readonly Found[],
  columns: number | null,
  nowMs: number,
): string {
  return drawTable(
    [
      { title: "", whole: true },
      { title: "Id", whole: true },
      { title: "Found by", spare: 1 },
      { title: "Created (UTC)", whole: true, spare: 2 },
      { title: "Outcome", spare: 3 },
    ],
    found.map((one) => {
      // The id that stands beside it need not be said again.
      const matched = one.matches.map((match) =>
        match.field === "orderId" || match.field === "userId"
          ? FOUND_FIELDS[match.field] + claimedText(match)
          : matchText(match)
      ).join(", ");
      return one.entity === "order"
        ? [
          "order",
          one.order.orderId,
          matched,
          minutes(one.order.createdAt),
          OUTCOME_WORDS[outcomeNow(one.order, nowMs).code].headline(
            one.order,
          ),
        ]
        : [
          "user",
          one.user.userId,
          matched,
          minutes(one.user.createdAt),
          `${one.user.status} (${one.user.trust})`,
        ];
    }),
    columns,
  );
}

function matchText(match: Found["matches"][number]): string {
  return `${FOUND_FIELDS[match.field]} ${match.value}${claimedText(match)}`;
}

function claimedText({ trust }: Found["matches"][number]): string {
  return trust === "claimed" ? ` (${CLAIMED_MATCH})` : "";
}

function minutes(time: string | null): string {
  return time === null ? "" : time.slice(0, 16).replace("T", " ");
}
