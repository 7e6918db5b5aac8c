import type { Found } from "../../ledger/mod.ts";
import type { FieldMatch } from "../../ledger/types.ts";
import { CLAIMED_MATCH, foundField } from "../wording/found_as.ts";
import { type OrderJson, orderJson, orderLines } from "./order_view.ts";
import { operands, shellWord } from "./shell_word.ts";
import { drawTable } from "./table.ts";
import { minuteText } from "./text.ts";
import { type UserJson, userJson, userLines } from "./user_view.ts";

/**
 * An order or a user that a text leads to, and what the text was found as.
 */
export interface FoundJson {
  /** Which kind it is. */
  readonly entity: Found["entity"];
  /** What matched; whole matches come first. */
  readonly matches: readonly FieldMatch[];
  /** Null where it is a user. */
  readonly order: OrderJson | null;
  /** Null where it is an order. */
  readonly user: UserJson | null;
}

/** What was found as `--json` prints it. */
export function foundJson(found: Found, nowMs: number): FoundJson {
  const { entity, matches } = found;
  return found.entity === "order"
    ? { entity, matches, order: orderJson(found.order, nowMs), user: null }
    : { entity, matches, order: null, user: userJson(found.user) };
}

/** The only one that was found, in full. */
export function foundLines(
  { matches, order, user }: FoundJson,
  columns: number | null,
  nowMs: number,
): string[] {
  return [
    `Found by ${matches.map(matchText).join(", ")}`,
    "",
    ...(order === null ? [] : [
      ...orderLines(order, columns, nowMs),
      "",
      "By hand, and what your shop was told:",
      `  rampkit orders show ${operands(order.orderId)}`,
    ]),
    ...(user === null ? [] : [
      ...userLines(user, columns, nowMs),
      "",
      "Orders of the user:",
      `  rampkit orders list --user=${shellWord(user.userId)}`,
    ]),
  ];
}

/** Several that were found, one a line, with what matched. */
export function foundTable(
  found: readonly FoundJson[],
  columns: number | null,
): string {
  return drawTable(
    [
      { title: "", whole: true },
      { title: "Id", whole: true },
      { title: "Found by", spare: 1 },
      { title: "Created (UTC)", whole: true, spare: 2 },
      { title: "Outcome", spare: 3 },
    ],
    found.map(({ entity, matches, order, user }) => [
      entity,
      order?.orderId ?? user?.userId ?? "",
      // The id that stands beside it need not be said again.
      matches.map((match) =>
        match.field === "orderId" || match.field === "userId"
          ? foundField(match.field) + claimedText(match)
          : matchText(match)
      ).join(", "),
      minuteText((order ?? user)?.createdAt ?? null),
      order?.outcome.message ?? `${user?.status} (${user?.trust})`,
    ]),
    columns,
  );
}

function matchText(match: FieldMatch): string {
  return `${foundField(match.field)} ${match.value}${claimedText(match)}`;
}

function claimedText({ trust }: FieldMatch): string {
  return trust === "claimed" ? ` (${CLAIMED_MATCH})` : "";
}
