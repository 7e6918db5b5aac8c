import { fold, replacing } from "../world/broken_ports.ts";
import { editingLog } from "../shop/release_ports.ts";
import type { Mutation } from "./mutation.ts";

/** Orders that were released, and not by hand. */
const shipped = new Set<string>();

/** Purchases of refunded orders are read as if nobody had taken them. */
function freeing(also: string) {
  return replacing(
    "ORDER BY p.since",
    `AND NOT (p.held = 1 AND EXISTS (SELECT 1 FROM mentions AS m
        JOIN events AS e ON e.position = m.position
        WHERE m.no = p.no AND e.kind = 'order_released'
          AND instr(CAST(e.body AS TEXT), '"refunded"') > 0 ${also}))
      ORDER BY p.since`,
  );
}

/** What follows from what a person delivered or refunded. */
export const HAND_MUTATIONS: readonly Mutation[] = [
  {
    name: "ship what a person has delivered or refunded",
    within: 80,
    ports: {
      driver: replacing(
        "'$.release.last.release' = 'yes'",
        "'$.release.last.release' IN ('yes', 'settled')",
      ),
    },
  },
  {
    name: "forget which orders persons dealt with",
    within: 40,
    ports: {
      fold: fold((fact) =>
        fact.kind === "order_released"
          ? { ...fact, hand: { ...fact.hand, outcome: "taken_back" } }
          : fact
      ),
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
      fold: fold((fact) =>
        fact.kind === "order_released" && fact.hand.purchase !== null
          ? { ...fact, hand: { ...fact.hand, purchase: null } }
          : fact
      ),
    },
  },
  {
    name: "free the purchase of an order that was refunded",
    within: 80,
    ports: { driver: freeing("") },
  },
  {
    name: "free a purchase that the shop may have shipped",
    within: 80,
    ports: {
      driver: freeing(`AND EXISTS (SELECT 1 FROM log AS l
        WHERE l.no = p.no AND l.code = 'release.yes')`),
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
