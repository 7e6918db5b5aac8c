import type { AttentionItem, AttentionKind, Found } from "../../ledger/mod.ts";
import { ATTENTION, paidOfAsked } from "../wording/outcome.ts";
import { CLAIMED_MATCH, foundField, span } from "../wording/phrases.ts";
import {
  type OrderJson,
  orderJson,
  orderLines,
  paidText,
} from "./order_view.ts";
import { drawTable, minuteText, operands, shellWord, wrap } from "./text.ts";
import type { FieldMatch } from "../../ledger/types.ts";
import { type UserJson, userJson, userLines } from "./user_view.ts";

/** An order that waits for a person: why, the gravest first, and what to do. */
export interface AttentionJson {
  /** Why, the gravest first. */
  readonly kinds: readonly {
    readonly code: AttentionKind;
    readonly message: string;
  }[];
  /** What to do next, by the order's outcome. */
  readonly next: string;
  /** Time since the last change, in ms; null where the service states none. */
  readonly ageMs: number | null;
  /** The order. */
  readonly order: OrderJson;
}

/** An order that waits as `--json` prints it. */
export function attentionJson(
  { kinds, order }: AttentionItem,
  nowMs: number,
): AttentionJson {
  const json = orderJson(order, nowMs);
  return {
    kinds: kinds.map((code) => ({ code, message: ATTENTION[code] })),
    next: json.outcome.next,
    ageMs: ageMs(order, nowMs),
    order: json,
  };
}

/** The orders that wait, below why they wait and what to do next. */
export function attentionLines(
  items: readonly AttentionJson[],
  columns: number | null,
  only?: AttentionKind,
): string[] {
  const groups = Map.groupBy(items, ({ kinds }) => only ?? kinds[0]?.code);
  return [...groups].flatMap(([kind, group], at) =>
    kind === undefined ? [] : [
      ...(at === 0 ? [] : [""]),
      wrap(`${kind}: ${ATTENTION[kind]}`, columns, 2),
      ...[...Map.groupBy(group, ({ next }) => next)]
        .flatMap(([next, items]) => [
          wrap(`  > ${next}`, columns, 4),
          waitingTable(items, kind, columns),
        ]),
    ]
  );
}

function waitingTable(
  items: readonly AttentionJson[],
  kind: AttentionKind,
  columns: number | null,
): string {
  return drawTable(
    [
      { title: "Order", whole: true },
      { title: "Reference", whole: true, spare: 4 },
      { title: "Amount", align: "right", whole: true, spare: 1 },
      { title: "Since", align: "right", whole: true, spare: 2 },
      { title: "Status", spare: 3 },
      { title: "Also", spare: 5 },
    ],
    items.map(({ kinds, order, ageMs }) => [
      order.orderId,
      order.expected?.reference ?? order.externalOrderId ?? "",
      paidOfAsked(order) ?? paidText(order.currencyAmount, order.currency),
      ageMs === null ? "" : span(ageMs),
      `${order.status} (${order.trust})`,
      kinds.map(({ code }) => code).filter((one) => one !== kind).join(", "),
    ]),
    columns,
  );
}

function ageMs(
  { changedAt, createdAt }: AttentionItem["order"],
  nowMs: number,
): number | null {
  const time = changedAt ?? createdAt;
  return time === null ? null : Math.max(0, nowMs - Date.parse(time));
}

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
