import type { ChainSettings, Look } from "../../../witness/mod.ts";
import { broke } from "../world/broke.ts";
import { fold } from "../world/broken_ports.ts";
import type { Ports } from "../world/ports.ts";
import { mistaking } from "./broken_table.ts";
import type { Mutation } from "./mutation.ts";

/** What the partner's chain nodes show, and what follows from it. */
export const CHAIN_MUTATIONS: readonly Mutation[] = [
  {
    name: "take a shallow block for deep enough",
    within: 40,
    ports: { chains: settings({ confirmations: 1 }) },
  },
  {
    name: "believe one node alone",
    within: 80,
    ports: { chains: settings({ quorum: 1 }) },
  },
  {
    name: "take every look at the chain for final",
    within: 40,
    ports: { witness: answering((look) => ({ ...look, final: true })) },
  },
  {
    name: "take what is short for the whole amount",
    within: 40,
    ports: {
      witness: answering((look) =>
        look.verdict === "short" ? { ...look, verdict: "delivered" } : look
      ),
    },
  },
  {
    name: "ask the chain once, and go by its answer for ever",
    within: 40,
    ports: { witness: remembering(() => true) },
  },
  {
    name: "go on when the chain has lost a transaction again",
    within: 40,
    ports: { witness: remembering(({ verdict }) => verdict === "reorged") },
  },
  {
    name: "record what the chain shows, and go on as if nobody had asked it",
    within: 40,
    ports: {
      fold: fold((fact) =>
        fact.kind === "chain_reading" ? { ...fact, orderId: null } : fact
      ),
    },
  },
  {
    name: "let any look at the chain count, and not the last",
    within: 40,
    ports: {
      fold: fold((fact) =>
        fact.kind === "chain_reading"
          ? { ...fact, look: { ...fact.look, readAt: "2026-01-01T00:00:00Z" } }
          : fact
      ),
    },
  },
  {
    name: "release what has to be seen on the chain without it",
    within: 40,
    ports: {},
    table: mistaking("required", { yes: "no" }),
  },
  {
    name: "take what the chain leaves open for arrived",
    within: 40,
    ports: {},
    table: mistaking("chain", { open: "agrees" }),
  },
  {
    name: "take another transfer for that of the order",
    within: 40,
    ports: {},
    table: mistaking("chain", { differs: "agrees" }),
  },
  {
    name: "tell nobody that the chain shows another transfer",
    within: 40,
    ports: {},
    table: mistaking("chain", { differs: "open" }),
  },
  {
    name: "wait for the chain although it has shown the transfer",
    within: 40,
    ports: {},
    table: mistaking("chain", { agrees: "open" }),
  },
];

/** The partner's file, with other settings. */
function settings(other: Partial<ChainSettings>): Ports["chains"] {
  return (file) =>
    Object.fromEntries(
      Object.entries(file).map(([network, one]) => {
        broke();
        return [network, { ...one, ...other }];
      }),
    );
}

/** A witness whose answers are changed. */
function answering(change: (look: Look) => Look): Ports["witness"] {
  return (next) => ({
    look: async (question, signal) => {
      const look = await next.look(question, signal);
      const changed = change(look);
      if (JSON.stringify(changed) !== JSON.stringify(look)) broke();
      return changed;
    },
  });
}

/**
 * A witness that gives an earlier answer about a transaction in place of a
 * later one.
 *
 * @param replaced Of which later ones.
 */
function remembering(replaced: (look: Look) => boolean): Ports["witness"] {
  const known = new Map<string, Look>();
  return (next) => ({
    look: async (question, signal) => {
      const now = await next.look(question, signal);
      const before = known.get(question.txId);
      if (before !== undefined && replaced(now)) {
        broke();
        return before;
      }
      known.set(question.txId, now);
      return now;
    },
  });
}
