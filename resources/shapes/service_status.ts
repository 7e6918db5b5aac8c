import * as z from "zod";
import type { PollFailureCause, PollPart } from "../../sync/mod.ts";
import type { ServiceStatusJson } from "../queries/service_status.ts";
import {
  count,
  countOrNull,
  flag,
  named,
  oneOf,
  text,
  textOrNull,
  time,
  timeOrNull,
} from "./_building.ts";
import type { Same } from "./same.ts";
import { deliveryHealthSchema, pollStatusSchema } from "./polling.ts";
import { checkSchema } from "./programs.ts";
import { waitingSchema } from "./stats.ts";

const cause = named(
  "PollFailureCause",
  "Why polling fails, as far as the advice differs",
  oneOf<PollFailureCause>({
    wrong_key: true,
    refused: true,
    bad_request: true,
    rate_limited: true,
    service_error: true,
    bad_answer: true,
    timeout: true,
    network: true,
    lease_lost: true,
    ledger: true,
    stalled: true,
    other: true,
  }),
);

const failing = {
  sweep: oneOf<PollPart>({
    new: true,
    open: true,
    confirm: true,
    deep: true,
    poller: true,
  }),
  attempts: count,
  since: time,
  nextAttemptAt: timeOrNull,
  cause,
  status: countOrNull,
};

const failure = z.object({ ...failing, lastAt: time, message: text });

/** The answer of `GET /readyz`. */
export const readinessSchema = named(
  "Readiness",
  "Whether deliveries are kept durably, and what else is wrong",
  z.object({
    ok: flag,
    writable: flag,
    lag: countOrNull,
    spooled: count,
    problem: textOrNull,
    degraded: z.array(text),
    polling: z.object(failing).nullable(),
  }),
);

/** How delivery and polling are. */
export const serviceStatusSchema = named(
  "ServiceStatus",
  "How delivery and polling are, by what the ledger has",
  z.object({
    ok: flag,
    environment: text,
    lag: count,
    waiting: waitingSchema.nullable(),
    delivery: deliveryHealthSchema,
    polling: z.object({
      polled: flag,
      failures: z.array(failure),
      workedAt: timeOrNull,
      ...pollStatusSchema.shape,
    }),
    checks: z.array(checkSchema),
  }),
);

true satisfies Same<z.infer<typeof serviceStatusSchema>, ServiceStatusJson>;
