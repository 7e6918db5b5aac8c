import type { AttentionItem, AttentionKind } from "../../ledger/mod.ts";
import { ATTENTION } from "../wording/attention.ts";
import { span } from "../wording/span.ts";
import { amountText, type OrderJson, orderJson } from "./order_view.ts";
import { drawTable } from "./table.ts";
import { wrap } from "./wrap.ts";

/** The stable `--json` shape of an order that waits; fields are only added. */
export interface AttentionJson {
  /** Why, the gravest first, with what to do next. */
  readonly kinds: readonly {
    readonly code: AttentionKind;
    readonly message: string;
    readonly next: string;
  }[];
  /** Time since the last change, in ms; null where the service states none. */
  readonly ageMs: number | null;
  readonly order: OrderJson;
}

/** An order that waits as `--json` prints it. */
export function attentionJson(
  { kinds, order }: AttentionItem,
  nowMs: number,
): AttentionJson {
  return {
    kinds: kinds.map((code) => ({
      code,
      message: ATTENTION[code].what,
      next: ATTENTION[code].next,
    })),
    ageMs: ageMs(order, nowMs),
    order: orderJson(order),
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
    wrap(`${kind}: ${ATTENTION[kind].what}`, columns, 2),
    wrap(`  > ${ATTENTION[kind].next}`, columns, 4),
    drawTable(
      [
        { title: "Order", whole: true },
        { title: "Reference", whole: true, spare: 4 },
        { title: "Amount", align: "right", whole: true, spare: 1 },
        { title: "Since", align: "right", whole: true, spare: 2 },
        { title: "Status", spare: 3 },
        { title: "Also", spare: 5 },
      ],
      group.map(({ kinds, order }) => {
        const age = ageMs(order, nowMs);
        return [
          order.orderId,
          order.asked?.reference ?? order.externalOrderId ?? "",
          amountText(order.currencyAmount, order.currency),
          age === null ? "" : span(age),
          `${order.status} (${order.trust})`,
          kinds.filter((one) => one !== kind).join(", "),
        ];
      }),
      columns,
    ),
  ]);
}

function ageMs(
  { changedAt, createdAt }: AttentionItem["order"],
  nowMs: number,
): number | null {
  const time = changedAt ?? createdAt;
  return time === null ? null : Math.max(0, nowMs - Date.parse(time));
}
