import { eventsOf, type SqlValue } from "../../../ledger/testing/mod.ts";
import { broke } from "../world/broke.ts";
import { blind, finding } from "../world/broken_ports.ts";
import type { Mutation } from "./mutation.ts";

/** Looks for a person in bodies, wherever they name somebody. */
const HOLDING = "WHERE e.position > ?1 AND e.position <= ?2 AND (";

/** Looks for what is known of all who were erased. */
const COMPARING = "DISTINCT alias ->> 'length'";

/** What webhooks can do to the erasure of a person. */
export const ERASURE_MUTATIONS: readonly Mutation[] = [
  {
    name: "take an order for a person's that only a webhook names",
    within: 40,
    ports: {
      copyDriver: (next) =>
        finding(next, HOLDING, (rows) => rows.map(takenForReading)),
    },
  },
  {
    name: "leave what names nothing but a click id of who is erased",
    within: 80,
    ports: {
      copyDriver: (next) =>
        blind(
          finding(next, HOLDING, (rows) =>
            rows.filter((row) => {
              const { orderId, userId, clickId } = webhookIn(row) ?? {};
              return orderId !== null || userId !== null || clickId === null;
            })),
          COMPARING,
        ),
    },
  },
  {
    name: "leave a person in bodies that nobody can read",
    within: 40,
    ports: {
      copyDriver: (next) =>
        finding(next, HOLDING, (rows) =>
          rows.filter((row) => {
            const { orderId, userId, clickId } = webhookIn(row) ?? {};
            return orderId !== null || userId !== null || clickId !== null;
          })),
    },
  },
  {
    name: "know nobody again who was erased",
    within: 40,
    ports: { copyDriver: (next) => blind(next, "FROM aliases") },
  },
  {
    name: "leave in a spool what a dead process took",
    within: 40,
    ports: {
      leftSpool: () => () => {
        broke();
        return Promise.resolve();
      },
    },
  },
];

/** The event of a row, if it is a webhook. */
function webhookIn(row: readonly SqlValue[]) {
  const [event] = eventsOf([row]);
  return event?.kind === "webhook" ? event : undefined;
}

/** What a webhook says of an order and a user, as if the service had said it. */
function takenForReading(row: readonly SqlValue[]): readonly SqlValue[] {
  const { orderId, userId } = webhookIn(row) ?? {};
  if (!orderId || !userId) return row;
  const reading = JSON.stringify({ order_id: orderId, user_id: userId });
  return row.with(2, "order_snapshot")
    .with(5, new TextEncoder().encode(reading));
}
