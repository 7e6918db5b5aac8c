import { broke } from "../world/broke.ts";
import { altering, replacing, without } from "../world/broken_ports.ts";
import { editingLog, released, shippingFor } from "../shop/release_ports.ts";
import type { Mutation } from "./mutation.ts";

/** What is shipped, and for what. */
export const RELEASE_MUTATIONS: readonly Mutation[] = [
  {
    name: "ship what another amount was paid for",
    within: 40,
    ports: { handler: shippingFor("not_as_requested") },
  },
  {
    name: "ship what was never recorded",
    within: 20,
    ports: { handler: shippingFor("nothing_recorded") },
  },
  {
    name: "ship for each payment of a purchase",
    within: 40,
    ports: { handler: shippingFor("paid_twice") },
  },
  {
    name: "ship before the service shows success",
    within: 20,
    ports: {
      handler: (next) => (transition, context) => {
        const { machine, status } = transition;
        return machine === "order" && status === "pending"
          ? next(released(transition), context)
          : next(transition, context);
      },
    },
  },
  {
    name: "release what the click id stands for",
    within: 40,
    ports: {
      handler: (next) => (transition, context) => {
        if (context.reference !== null) broke();
        return next(transition, { ...context, reference: null });
      },
    },
  },
  {
    name: "log no withdrawal of a release",
    within: 20,
    ports: {
      driver: editingLog((entry) =>
        entry.machine === "release" && entry.reverses ? null : entry
      ),
    },
  },
  {
    name: "never log that a release is restored",
    within: 80,
    ports: {
      driver: editingLog((entry) =>
        entry.machine === "release" && entry.status === "restored"
          ? null
          : entry
      ),
    },
  },
  {
    name: "log a matched order as unchecked",
    within: 40,
    ports: {
      driver: editingLog((entry) =>
        entry.status === "yes"
          ? { ...entry, status: "unchecked", reason: "nothing_recorded" }
          : entry
      ),
    },
  },
  {
    name: "hand over a yes that was withdrawn",
    within: 40,
    ports: {
      driver: replacing(
        "THEN 'begun' ELSE 'parked' END",
        "THEN 'begun' ELSE 'begun' END",
      ),
    },
  },
  {
    name: "never hand over a yes that was parked",
    within: 80,
    ports: {
      driver: replacing(
        /seq = excluded\.seq,\s+state = CASE WHEN excluded.*?END/s,
        "seq = excluded.seq",
      ),
    },
  },
  {
    name: "release a purchase for each order that pays it",
    within: 40,
    ports: {
      driver: (next) =>
        without(next, (sql) => sql.startsWith("INSERT INTO purchases")),
    },
  },
  {
    name: "hand over no release",
    within: 20,
    ports: {
      handler: (next) => async (transition, context) => {
        if (transition.logged?.release === "yes") return broke();
        await next(transition, context);
      },
    },
  },
  {
    name: "take a ledger's whole past for new",
    within: 20,
    ports: {
      driver: altering((statement) =>
        statement.sql.startsWith("UPDATE ledger SET live_from")
          ? { ...statement, args: [Date.UTC(2000)] }
          : statement
      ),
    },
  },
  {
    name: "tell nobody of a claw-back from before the ledger went live",
    within: 80,
    ports: {
      driver: editingLog((entry) =>
        entry.status === "cancelled" || entry.status === "no"
          ? { ...entry, live: false }
          : entry
      ),
    },
  },
  {
    name: "list no success that waits for a person",
    within: 20,
    ports: {
      driver: replacing(
        "instr(attention, ?) > 0",
        "instr(attention, ?) > 9999",
      ),
    },
  },
];
