import { fold, replacing } from "../world/broken_ports.ts";
import type { Mutation } from "./mutation.ts";

/** When the service had changed an order as a person last dealt with it. */
const dealtWith = new Map<string, string>();

/** What follows from what people do about orders that wait for them. */
export const CASE_MUTATIONS: readonly Mutation[] = [
  {
    name: "record what a person did about a case, and go on as if nobody had",
    within: 20,
    ports: {
      fold: fold((fact) =>
        fact.kind === "case_changed" ? { ...fact, orderId: null } : fact
      ),
    },
  },
  {
    name: "keep a case closed, whatever the service changes of its order",
    within: 20,
    ports: {
      fold: fold((fact) => {
        if (fact.orderId === null) return fact;
        if (fact.kind === "case_changed") {
          const at = fact.change?.changedAt ?? null;
          if (at !== null) dealtWith.set(fact.orderId, at);
        }
        const changedAt = dealtWith.get(fact.orderId);
        return fact.kind !== "order_snapshot" || changedAt === undefined
          ? fact
          : { ...fact, reading: { ...fact.reading, changedAt } };
      }),
    },
  },
  {
    name: "list no order as waiting once a person has asked about it",
    within: 40,
    ports: {
      driver: replacing(
        "instr(attention, ?) > 0",
        "instr(attention, ?) > 0 AND case_state IS NOT 'asked'",
      ),
    },
  },
];
