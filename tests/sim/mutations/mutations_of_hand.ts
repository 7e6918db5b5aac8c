import {
  altering,
  blind,
  fold,
  replacing,
  without,
} from "../world/broken_ports.ts";
import { editingLog } from "../shop/release_ports.ts";
import type { Mutation } from "./mutation.ts";

/** Orders that were released, and not by hand. */
const shipped = new Set<string>();

/** What follows from what a person delivered or refunded. */
export const HAND_MUTATIONS: readonly Mutation[] = [
  {
    name: "ship what a person has delivered or refunded",
    within: 80,
    ports: {
      driver: replacing(
        /(AND NOT EXISTS \(SELECT 1 FROM hand_releases AS h\s+WHERE)( h\.order_id = w\.value)/,
        "$1 false AND$2",
      ),
    },
  },
  {
    name: "forget which orders persons dealt with",
    within: 40,
    ports: {
      driver: (next) =>
        without(next, (sql) => sql.startsWith("INSERT INTO hand_releases")),
    },
  },
  {
    name: "record what a person did, and go on as if nobody had done it",
    within: 40,
    ports: {
      fold: fold((fact) =>
        fact.kind === "order_released" ? { ...fact, orderId: null } : fact
      ),
    },
  },
  {
    name: "leave a purchase with the order that had it, whoever delivers it",
    within: 80,
    ports: {
      driver: replacing(
        "ON CONFLICT (digest) DO UPDATE SET order_id = excluded.order_id",
        "ON CONFLICT (digest) DO NOTHING",
      ),
    },
  },
  {
    name: "keep the purchase of an order that was refunded",
    within: 80,
    ports: {
      driver: (next) =>
        without(next, (sql) => sql.startsWith("DELETE FROM purchases")),
    },
  },
  {
    name: "free a purchase that the shop may have shipped",
    within: 80,
    ports: {
      driver: (next) =>
        altering((statement) =>
          statement.sql.includes("release_deliveries") &&
            statement.expects === true
            ? { sql: "SELECT 1", args: [] }
            : statement
        )(blind(next, "SELECT DISTINCT d.order_id")),
    },
  },
  {
    name: "say of no withdrawal that a person has delivered",
    within: 80,
    ports: {
      driver: editingLog((entry) => {
        if (entry.status === "yes") shipped.add(entry.id);
        return shipped.has(entry.id) ? entry : { ...entry, reverses: false };
      }),
    },
  },
];
