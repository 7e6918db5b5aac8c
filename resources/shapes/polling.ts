import * as z from "zod";
import type {
  DeliveryHealth,
  PollCompleted,
  PollStatus,
} from "../../sync/mod.ts";
import type {
  DeliveryHealthJson,
  PollReportJson,
} from "../queries/delivery_health.ts";
import {
  count,
  each,
  flag,
  ms,
  named,
  oneOf,
  text,
  textOrNull,
  time,
  timeOrNull,
} from "./_building.ts";
import type { Same } from "./same.ts";
import { entitySchema } from "./status.ts";

const countdown = z.object({
  firstFailureAt: time,
  offAtFromFirst: time,
  leftFromFirstMs: ms,
  offAtFromPrevious: time,
  leftFromPreviousMs: ms,
});

/** How webhook delivery is. */
export const deliveryHealthSchema = named(
  "DeliveryHealth",
  "Whether webhooks still come, and when the service gives up where they fail",
  z.object({
    state: oneOf<DeliveryHealth["state"]>({
      ok: true,
      suspected: true,
      failing: true,
      never_received: true,
    }),
    deliverySuspected: flag,
    since: timeOrNull,
    silentOrders: count,
    silentSince: timeOrNull,
    silentOrderIds: z.array(text),
    lastReceivedAt: timeOrNull,
    failingSince: timeOrNull,
    waitingSince: timeOrNull,
    countdown: countdown.nullable(),
    detail: text,
  }),
);

const backfill = z.object({
  complete: flag,
  why: textOrNull,
  from: timeOrNull,
  until: timeOrNull,
  doneUpTo: timeOrNull,
  gaps: z.array(z.object({ from: time, until: time, why: text })),
});

const backlog = z.object({ waiting: count, oldestAt: timeOrNull });

/** Where the poller stands. */
export const pollStatusSchema = named(
  "PollStatus",
  "How far the past was read, what waits to be read, and how old what the " +
    "ledger says can be",
  z.object({
    orders: backfill,
    users: backfill,
    deep: z.object({
      cycles: count,
      finishedAt: timeOrNull,
      lastCycleMs: ms.nullable(),
    }),
    counts: z.object({
      orders: count,
      users: count,
      openOrders: count,
      openUnknown: count,
      recentlyFinal: count,
      waiting: count,
      waitingUnknown: count,
      ordersInOverlap: count,
    }),
    backlog: z.object({ known: backlog, unknown: backlog }),
    isolatedIds: z.object({
      count,
      ids: z.array(z.object({
        entity: entitySchema,
        entityId: text,
        kind: oneOf<"refused" | "crowded" | "unnamed">({
          refused: true,
          crowded: true,
          unnamed: true,
        }),
        why: text,
        since: time,
        attempts: count,
        nextAttemptAt: time,
      })),
    }),
    staleness: z.object({
      newOrderMs: ms,
      namedByWebhookMs: ms,
      openOrderMs: ms,
      recentlyFinalMs: ms,
      anythingMs: ms,
    }),
  }),
);

const read = { orders: count, users: count, appended: count };

/** What the sweeps of `poll --once` did. */
export const pollReportSchema = named(
  "PollReport",
  "What every sweep read, and where the poller stands now",
  z.object({
    ran: z.literal(true),
    ...read,
    startedAt: time,
    finishedAt: time,
    requests: each<keyof PollCompleted["requests"], typeof count>(
      { new: true, open: true, confirm: true, deep: true },
      count,
    ),
    status: pollStatusSchema,
    delivery: deliveryHealthSchema,
  }),
);

true satisfies Same<z.infer<typeof deliveryHealthSchema>, DeliveryHealthJson>;
true satisfies Same<z.infer<typeof pollStatusSchema>, PollStatus>;
true satisfies Same<z.infer<typeof pollReportSchema>, PollReportJson>;
