import * as z from "zod";
import type { ForwardedAlarm } from "../alarms/alarm_message.ts";
import type { AlarmArea, AlarmCode } from "../alarms/standing_alarm.ts";
import type { ForwardedTransition } from "../forwarding/transition_message.ts";
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
import type { Same } from "./_same.ts";
import { orderStateSchema, releaseSchema } from "./order.ts";
import { trustSchema } from "./status.ts";
import { userStateSchema } from "./user.ts";

const transition = named(
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
    release: releaseSchema.nullable(),
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

const alarm = named(
  "AlarmMessage",
  "What is forwarded of an alarm",
  z.object({
    key: text,
    area: oneOf<AlarmArea>({
      delivery: true,
      polling: true,
      backlog: true,
      disk: true,
      evidence: true,
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
      chain_broken: true,
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

true satisfies Same<z.infer<typeof transition>, ForwardedTransition>;
true satisfies Same<z.infer<typeof alarm>, ForwardedAlarm>;
