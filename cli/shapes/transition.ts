import * as z from "zod";
import type {
  QueuedTransition,
  SubscriptionStatus,
  Transition,
} from "../../ledger/mod.ts";
import type { Unfired } from "../../ledger/subscriptions/subscriptions.ts";
import {
  count,
  flag,
  named,
  oneOf,
  text,
  textOrNull,
  time,
} from "./_building.ts";
import type { Same } from "./_same.ts";
import { entitySchema, trustSchema } from "./status.ts";

const state = {
  key: text,
  entity: entitySchema,
  machine: oneOf<Transition["machine"]>({
    order: true,
    lkyc: true,
    fkyc: true,
    ban: true,
    user: true,
  }),
  id: text,
  trust: text,
  status: text,
  entry: count,
};

/** A machine of an order or user entered a status. */
export const transitionSchema = named(
  "Transition",
  "An order, or a machine of a user, entered a status with a trust; the key " +
    "is its permanent id",
  z.object({
    ...state,
    previous: z.object({ status: text, trust: trustSchema }).nullable(),
    reverses: z.array(text),
    position: count,
    recordedAt: time,
    seq: count,
    live: flag,
  }),
);

/** A state that no subscription was told of. */
export const unfiredSchema = named(
  "Unfired",
  "A state that no subscription was told of",
  z.object(state),
);

const queued = z.object({
  transition: transitionSchema,
  state: oneOf<QueuedTransition["state"]>({
    retrying: true,
    waiting: true,
    dead: true,
  }),
  attempts: count,
  dueAt: text,
  error: textOrNull,
  passed: flag,
});

const subscription = z.object({
  name: text,
  on: z.array(text),
  createdAt: time,
  behind: count,
  retrying: count,
  waiting: count,
  dead: count,
  lastError: textOrNull,
  target: z.object({
    url: text,
    offAt: time.nullable(),
    offReason: textOrNull,
  }).nullable(),
});

/** How far a subscription is. */
export const subscriptionSchema = named(
  "Subscription",
  "How far a subscription is, and what it has given up on",
  z.object({
    ...subscription.shape,
    deadLetters: z.array(z.object({ name: text, ...queued.shape })),
  }),
);

/** What `subscriptions retry` did. */
export const retriedSchema = named(
  "Retried",
  "How many dead letters are tried again, and how many others are tried at once",
  z.object({ retried: count, hastened: count }),
);

/** What `subscriptions drop` did. */
export const droppedSchema = named(
  "Dropped",
  "How many dead letters were given up",
  z.object({ dropped: count }),
);

/** What `subscriptions resume` did. */
export const resumedSchema = named(
  "Resumed",
  "Whether the target was switched off before",
  z.object({ resumed: flag }),
);

/** What `subscriptions fire KEY` did. */
export const firedSchema = named(
  "Fired",
  "How many states will be told",
  z.object({ fired: count }),
);

true satisfies Same<z.infer<typeof transitionSchema>, Transition>;
true satisfies Same<z.infer<typeof unfiredSchema>, Unfired>;
true satisfies Same<z.infer<typeof queued>, QueuedTransition>;
true satisfies Same<z.infer<typeof subscription>, SubscriptionStatus>;
