import { base64 } from "@scure/base";
import { CommandError } from "../../core/settings/errors.ts";
import { needed, textParam } from "../../core/settings/params.ts";
import {
  deliveriesPage,
  DELIVERY_FILTERS,
  deliveryDetail,
  type DeliveryDetailJson,
} from "../queries/deliveries.ts";
import { PAGE } from "../queries/page.ts";
import { drawTable } from "../views/table.ts";
import { labelled } from "../views/text.ts";
import { printableJson } from "../../core/printable.ts";
import { type Operation, operation } from "./operation.ts";

/** `deliveries list`. */
export const DELIVERIES: Operation = operation({
  command: "deliveries list",
  path: "/v1/deliveries",
  scope: "read",
  operationId: "listDeliveries",
  summary: "List webhook deliveries, newest first",
  examples: ["--quarantined --limit 20"],
  params: { ...PAGE, ...DELIVERY_FILTERS },
  result: {
    schema: "Delivery",
    description: "One page",
    many: { rows: "deliveries", first: "newest" },
  },
  run: async ({ ledger }, query) => {
    const { items, next } = await deliveriesPage(ledger, query);
    return { items, next };
  },
  says: ({ items }, _, { columns }) =>
    items.length === 0 ? "No deliveries" : [
      drawTable(
        [
          { title: "Delivery", whole: true },
          { title: "Received", whole: true, spare: 1 },
          { title: "Type" },
          { title: "Order", whole: true, spare: 2 },
          { title: "User", whole: true, spare: 3 },
          { title: "Bytes", align: "right", spare: 4 },
        ],
        items.map((one) => [
          one.id,
          one.receivedAt,
          one.type ?? "(quarantined)",
          one.orderId ?? "",
          one.userId ?? "",
          one.bytes === null ? "erased" : String(one.bytes),
        ]),
        columns,
      ),
    ],
});

/** `deliveries show`. */
export const DELIVERY: Operation = operation({
  command: "deliveries show",
  path: "/v1/deliveries/{id}",
  scope: "read",
  operationId: "getDelivery",
  summary: "Show one delivery: its ids, what is unusual about it, its bytes",
  examples: ["01KA00000000000000000000 --json"],
  params: {
    id: {
      ...needed(textParam("Id of a delivery, as `deliveries list` shows it")),
      place: "<id>",
    },
  },
  result: { schema: "DeliveryDetail", description: "The delivery" },
  run: async ({ ledger }, { id }) => {
    const delivery = await deliveryDetail(ledger, id);
    if (delivery !== null) return delivery;
    throw new CommandError(
      `No such delivery: the ledger has no delivery "${id}"`,
      "not_found",
    );
  },
  says: (delivery, _, { columns }) =>
    labelled([
      ["Delivery", delivery.id],
      ["Position", String(delivery.position)],
      ["Received", delivery.receivedAt],
      ["Type", delivery.type ?? "none: it is quarantined"],
      ["Order", delivery.orderId],
      ["User", delivery.userId],
      ["Click id", delivery.clickId],
      ["Odd", delivery.reasons.join("; ")],
      ["Bytes", delivery.bytes === null ? "erased" : `${delivery.bytes}`],
      ...bodyRows(delivery),
    ], columns),
});

/** Bytes of a body that people are shown; scripts get all of it. */
const SHOWN_BYTES = 4096;

/** The body as one JSON string, in which a terminal finds nothing to obey. */
function bodyRows(
  { text, base64: bytes }: DeliveryDetailJson,
): [string, string][] {
  if (bytes === null) return [];
  const body = base64.decode(bytes);
  const cut = body.length > SHOWN_BYTES;
  const start = body.subarray(0, SHOWN_BYTES);
  return [
    text === null ? ["Body (base64)", base64.encode(start)] : [
      "Body",
      printableJson(cut ? new TextDecoder().decode(start) : text),
    ],
    ...(cut
      ? [["", `The first ${SHOWN_BYTES} bytes; --json has all`] as [
        string,
        string,
      ]]
      : []),
  ];
}
