import { base64 } from "@scure/base";
import { CommandError } from "../../settings/errors.ts";
import { textParam } from "../../settings/params.ts";
import {
  deliveryDetail,
  type DeliveryDetailJson,
} from "../queries/deliveries.ts";
import { labelled } from "../views/text.ts";
import { printableJson } from "../../core/printable.ts";
import { type Operation, operation } from "./operation.ts";

/** `deliveries show`. */
export const DELIVERY: Operation = operation<DeliveryDetailJson>({
  action: "show",
  path: "/v1/deliveries/{id}",
  scope: "read",
  operationId: "getDelivery",
  summary: "One delivery: its ids, what is unusual about it, its bytes",
  example: "01KA00000000000000000000 --json",
  params: {
    id: {
      ...textParam("id of a delivery, as `deliveries list` shows it"),
      required: true,
    },
  },
  result: {
    schema: "DeliveryDetail",
    description: "What `deliveries show --json` prints",
  },
  run: async (ledger, { id = "" }) => {
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
