import type { AttentionItem, AttentionKind } from "../../ledger/mod.ts";
import { ATTENTION } from "../wording/attention.ts";
import { paidOfAsked } from "../wording/outcome.ts";
import { span } from "../wording/phrases.ts";
import { paidText } from "./order_fields.ts";
import { type OrderJson, orderJson } from "./order_view.ts";
import { drawTable } from "./table.ts";
import { wrap } from "./text.ts";

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
