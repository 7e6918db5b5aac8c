import { editingLog } from "../shop/release_ports.ts";
import { broke } from "../world/broke.ts";
import {
  altering,
  asReading,
  eachRow,
  fold,
  movesGuard,
  ofOneFold,
  replacing,
  unguarded,
  withoutBodies,
  wrap,
} from "../world/broken_ports.ts";
import type { Mutation } from "./mutation.ts";

/** What is folded, logged, told and chained. */
export const FOLDING_MUTATIONS: readonly Mutation[] = [
  {
    name: "move the checkpoint outside the batch",
    within: 20,
    ports: {
      driver: (next) =>
        wrap(next, async (statements, mode) => {
          const rest = statements.slice(2);
          if (!movesGuard(statements[0]) || rest.length === 0) {
            return await next.batch(statements, mode);
          }
          broke();
          return [
            ...await next.batch(statements.slice(0, 2), mode),
            ...await next.batch(rest, mode),
          ];
        }),
    },
  },
  {
    name: "move the checkpoint whatever it was",
    within: 120,
    ports: {
      driver: altering(unguarded),
    },
  },
  {
    name: "log a transition each time",
    within: 20,
    ports: {
      driver: (next) =>
        forgetting(["times"])(
          replacing(/,\s*UNIQUE \(no, code, entry\)/, "")(next),
        ),
    },
  },
  {
    name: "log no entry again that was logged before",
    within: 10,
    ports: {
      driver: editingLog((entry) =>
        ["lkyc", "fkyc", "ban"].includes(entry.machine) && entry.entry > 1
          ? null
          : entry
      ),
    },
  },
  {
    name: "take a user's reading that arrives late for the latest",
    within: 40,
    ports: {
      fold: fold((fact) =>
        fact.kind === "user_snapshot"
          ? { ...fact, reading: { ...fact.reading, readAt: fact.recordedAt } }
          : fact
      ),
    },
  },
  {
    name: "take the way back from a claim for an entry",
    within: 20,
    ports: {
      driver: forgetting(["last"]),
    },
  },
  {
    name: "move a subscription before its receiver is done",
    within: 40,
    ports: {
      handler: (next, { clock }) => (transition, context) => {
        broke();
        clock.setTimer(2000, () => {
          Promise.resolve(next(transition, context)).catch(() => {});
        });
      },
    },
  },
  {
    name: "tell a receiver twice",
    within: 10,
    ports: {
      handler: (next) => async (transition, context) => {
        broke();
        await next(transition, context);
        await next(transition, context);
      },
    },
  },
  {
    name: "confirm what a webhook claims",
    within: 10,
    ports: {
      fold: fold((fact) =>
        fact.kind === "webhook" && fact.claim !== null && fact.orderId !== null
          ? asReading(fact)
          : fact
      ),
    },
  },
  {
    name: "let what arrived last win, webhook or reading",
    within: 10,
    ports: {
      fold: fold((fact) => {
        if (fact.kind === "webhook" && fact.claim !== null) {
          return asReading(fact);
        }
        if (fact.kind !== "order_snapshot") return fact;
        const changedAt = fact.recordedAt;
        return { ...fact, reading: { ...fact.reading, changedAt } };
      }),
    },
  },
  {
    name: "let the highest status win, whatever its time",
    within: 40,
    ports: {
      fold: fold((fact) =>
        fact.kind === "order_snapshot"
          ? { ...fact, reading: { ...fact.reading, changedAt: "" } }
          : fact
      ),
    },
  },
  {
    name: "drop the time of reading that breaks a user's ties",
    within: 20,
    ports: {
      fold: fold((fact) =>
        fact.kind === "user_snapshot"
          ? { ...fact, reading: { ...fact.reading, readAt: "" } }
          : fact
      ),
    },
  },
  {
    name: "leave bodies out of the evidence",
    within: 5,
    ports: {
      driver: altering(withoutBodies),
    },
  },
  {
    name: "go on from states that another version of the fold made",
    within: 40,
    ports: { driver: ofOneFold },
  },
];

/** A driver by which rows keep nothing of some of what was told of them. */
function forgetting(parts: readonly ("times" | "last")[]) {
  return eachRow((args, { at }) => {
    const told = JSON.parse(String(args[at("told")]));
    const left = { ...told };
    for (const part of parts) left[part] = {};
    return JSON.stringify(left) === JSON.stringify(told)
      ? args
      : args.with(at("told"), JSON.stringify(left));
  });
}
