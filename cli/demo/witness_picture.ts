import type { OrderView } from "../../ledger/mod.ts";
import { amountText } from "../../resources/views/order_fields.ts";
import { drawTable } from "../../resources/views/table.ts";
import { describeWitness } from "../../resources/wording/witness.ts";
import type { DemoWitness } from "./three_witnesses.ts";

/** Orders that the picture shows beside the one that was paid short. */
const SHOWN = 5;

/** What was asked for, confirmed and seen to arrive, in one picture. */
export function witnessLines(
  witness: DemoWitness,
  orders: readonly OrderView[],
  columns: number | null,
): readonly string[] {
  const counts: [string, number][] = [
    ["Asked for by the shop", witness.asked],
    ["Confirmed as paid by the service", witness.confirmed],
    ["  arrived on the chain, final", witness.arrived],
    ["  on a network that is not looked at", witness.notLookedAt],
    ["  held, because the chain differs", witness.held.length],
    ["To be released", witness.released],
  ];
  const short = orders.find(({ orderId }) => orderId === witness.shortOrderId);
  return [
    drawTable(
      [{ title: "Three witnesses" }, { title: "", align: "right" }],
      counts.map(([label, count]) => [label, String(count)]),
      columns,
    ),
    "",
    drawTable(
      [
        { title: "Order", whole: true },
        { title: "Asked", whole: true },
        { title: "Confirmed", whole: true },
        { title: "Arrived" },
        { title: "Release", whole: true },
      ],
      shownOrders(orders, witness.shortOrderId).map(rowOf),
      columns,
    ),
    ...(short === undefined ? [] : [
      "",
      `Order ${short.orderId} was paid a tenth less than the service says: ${
        describeWitness(short) ?? "nobody looked."
      }`,
    ]),
  ];
}

/** One of each asset, and at the end the one that was paid short. */
function shownOrders(
  orders: readonly OrderView[],
  shortOrderId: string,
): readonly OrderView[] {
  const others = orders.filter(({ orderId, status }) =>
    status === "success" && orderId !== shortOrderId
  );
  const firsts = [
    ...new Map(
      others.map((order) => [`${order.commodity} ${order.network}`, order]),
    ).values(),
  ];
  return [
    ...firsts.slice(0, SHOWN),
    ...orders.filter(({ orderId }) => orderId === shortOrderId),
  ];
}

function rowOf(order: OrderView): readonly string[] {
  const { expected, witness, commodity, cryptoAmount } = order;
  return [
    order.orderId,
    amountText(expected?.currencyAmount ?? null, expected?.currency ?? null),
    `${order.status} ${amountText(cryptoAmount, commodity)}`,
    witness === null
      ? `not looked at: ${order.network}`
      : witness.arrived === null
      ? `${witness.verdict}: the contract was called`
      : `${witness.verdict} ${amountText(witness.arrived, commodity)}`,
    order.release,
  ];
}
