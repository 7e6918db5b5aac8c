import * as z from "zod";
import { EVENT_KINDS, type Statistics } from "../../ledger/for_resources.ts";
import type {
  ChainStateJson,
  LedgerStatsJson,
} from "../queries/ledger_stats.ts";
import {
  coded,
  count,
  each,
  ms,
  named,
  oneOf,
  text,
  textOrNull,
  time,
  withFields,
} from "./_building.ts";
import type { Same } from "./same.ts";

const chainBreak = named(
  "ChainBreak",
  "Why the evidence chain does not go on from the head that was kept of it",
  coded({
    other_ledger: { ledgerId: text },
    ...withFields({ link_gone: true, link_replaced: true }, {
      events: count,
      position: count,
      anchoredAt: time,
    }),
  }, {}),
);

/** How far the evidence chain reaches. */
export const chainStateSchema = named(
  "ChainState",
  "How far the evidence chain reaches: what to keep elsewhere",
  z.object({
    position: count,
    events: count,
    hash: text,
    broken: textOrNull,
    reason: chainBreak.nullable(),
  }),
);

/** Deliveries that were answered and wait to go into the ledger. */
export const waitingSchema = z.object({ count, oldestMs: ms, ended: count });

/** How much the ledger holds. */
export const statsSchema = named(
  "LedgerStats",
  "How much the ledger holds, and how far it is folded and chained",
  z.object({
    events: each(EVENT_KINDS, count),
    quarantined: count,
    orders: count,
    users: count,
    position: count,
    lag: count,
    waiting: waitingSchema.nullable(),
    chain: z.object({
      count,
      hash: text,
      position: count,
      broken: textOrNull,
      reason: chainBreak.nullable(),
    }),
  }),
);

const point = named(
  "StatisticsPoint",
  "What happened in one step",
  z.object({
    at: time,
    processes: count,
    answers: z.record(text, count),
    types: z.record(text, count),
    received: count,
    ordersMoved: count.nullable(),
    p50Ms: ms.nullable(),
    p99Ms: ms.nullable(),
    lag: count.nullable(),
    spooled: count.nullable(),
    backlogKnown: count.nullable(),
    backlogUnknown: count.nullable(),
    readingAgeMs: ms.nullable(),
  }),
);

/** Figures over time. */
export const statisticsSchema = named(
  "Statistics",
  "Figures over time, for plots: answers, types and how far the work was",
  z.object({
    from: time,
    to: time,
    step: oneOf<Statistics["step"]>({
      minute: true,
      ten_minutes: true,
      hour: true,
      day: true,
    }),
    points: z.array(point),
  }),
);

true satisfies Same<z.infer<typeof statsSchema>, LedgerStatsJson>;
true satisfies Same<z.infer<typeof chainStateSchema>, ChainStateJson>;
true satisfies Same<z.infer<typeof statisticsSchema>, Statistics>;
