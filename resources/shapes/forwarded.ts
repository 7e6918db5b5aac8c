import type { AlarmArea, AlarmCode } from "../health/standing_alarm.ts";
import * as z from "zod";
import {
  count,
  flag,
  named,
  oneOf,
  text,
  textOrNull,
  time,
  timeOrNull,
} from "./_building.ts";
import { orderStateSchema, releaseSchema } from "./order.ts";
import { loggedReleaseSchema } from "./transition.ts";
import { trustSchema } from "./status.ts";
import { userStateSchema } from "./user.ts";

/** Part of a shape. */
export const transition = named(
  "TransitionMessage",
  "What is forwarded of a transition",
  z.object({
    key: text,
    seq: count,
    entity: text,
    machine: text,
    id: text,
    trust: text,
    status: text,
    entry: count,
    previous: z.object({ status: text, trust: trustSchema }).nullable(),
    reverses: z.array(text),
    logged: loggedReleaseSchema.nullable(),
    after: z.array(text),
    release: releaseSchema.nullable(),
    releaseReason: orderStateSchema.shape.releaseReason.nullable(),
    reference: textOrNull,
    current: flag,
    state: z.union([orderStateSchema, userStateSchema]).nullable(),
    position: count,
    missed: z.array(text),
    late: flag,
  }),
);

/** The body of the webhook that tells of a transition. */
export const forwardedTransitionSchema = named(
  "ForwardedTransition",
  "The body of a forwarded webhook that tells of a transition",
  z.object({ type: text, timestamp: time, data: transition }),
);

/** Part of a shape. */
export const alarm = named(
  "AlarmMessage",
  "What is forwarded of an alarm",
  z.object({
    key: text,
    area: oneOf<AlarmArea>({
      delivery: true,
      polling: true,
      backlog: true,
      disk: true,
      room: true,
      evidence: true,
      comparison: true,
    }),
    code: oneOf<AlarmCode>({
      delivery_suspected: true,
      delivery_failing: true,
      poll_failing: true,
      poll_stalled: true,
      deliveries_waiting: true,
      events_not_folded: true,
      confirmations_waiting: true,
      deliveries_refused: true,
      ledger_refuses: true,
      disk_nearly_full: true,
      spool_nearly_full: true,
      large_bodies_refused: true,
      chain_broken: true,
      released_unchecked: true,
    }),
    since: time,
    clearedAt: timeOrNull,
    environment: text,
    host: textOrNull,
    message: text,
    advice: textOrNull,
    facts: z.record(text, z.union([text, z.number()]).nullable()),
  }),
);

/** The body of the webhook that tells of an alarm. */
export const forwardedAlarmSchema = named(
  "ForwardedAlarm",
  "The body of a forwarded webhook that tells of an alarm, or that it is over",
  z.object({
    type: oneOf<"rampkit.alarm.raised" | "rampkit.alarm.cleared">({
      "rampkit.alarm.raised": true,
      "rampkit.alarm.cleared": true,
    }),
    timestamp: time,
    data: alarm,
  }),
);
