import type { AttentionItem, AttentionKind } from "../../ledger/mod.ts";
import { outcomeNow } from "../../ledger/for_resources.ts";
import { ATTENTION } from "../wording/attention.ts";
import { span } from "../wording/phrases.ts";
import { amountText } from "./order_fields.ts";
import { type OrderJson, orderJson } from "./order_view.ts";
import { nextStep } from "./next_step.ts";
import { drawTable } from "./table.ts";
import { wrap } from "./text.ts";

/** An order that waits for a person: why, the gravest first, and what to do. */
export interface AttentionJson {
  /** Why, the gravest first. */
  readonly kinds: readonly {
    readonly code: AttentionKind;
    readonly message: string;
  }[];
  /** What to do next: the order's outcome says it, and nothing else does. */
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
  return {
    kinds: kinds.map((code) => ({ code, message: ATTENTION[code] })),
    next: nextOf(order, nowMs),
    ageMs: ageMs(order, nowMs),
    order: orderJson(order, nowMs),
  };
}

/**
 * The orders that wait, below why they wait and what to do next.
 *
 * @param only Why all of them wait; without it, each stands below its gravest
 * reason.
 */
export function attentionLines(
  items: readonly AttentionItem[],
  columns: number | null,
  nowMs: number,
  only?: AttentionKind,
): string[] {
  const groups = Map.groupBy(items, ({ kinds }) => only ?? kinds[0]);
  return [...groups].flatMap(([kind, group], at) => [
    ...(at === 0 ? [] : [""]),
    wrap(`${kind}: ${ATTENTION[kind]}`, columns, 2),
    ...[...Map.groupBy(group, ({ order }) => nextOf(order, nowMs))]
      .flatMap(([next, items]) => [
        wrap(`  > ${next}`, columns, 4),
        waitingTable(items, kind, columns, nowMs),
      ]),
  ]);
}

/** What to do next about an order. */
function nextOf(order: AttentionItem["order"], nowMs: number): string {
  return nextStep({ order, outcome: outcomeNow(order, nowMs) });
}

function waitingTable(
  items: readonly AttentionItem[],
  kind: AttentionKind,
  columns: number | null,
  nowMs: number,
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
    items.map(({ kinds, order }) => {
      const age = ageMs(order, nowMs);
      return [
        order.orderId,
        order.expected?.reference ?? order.externalOrderId ?? "",
        amountText(order.currencyAmount, order.currency),
        age === null ? "" : span(age),
        `${order.status} (${order.trust})`,
        kinds.filter((one) => one !== kind).join(", "),
      ];
    }),
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
