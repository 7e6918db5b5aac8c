import * as z from "zod";
import type {
  LoggedRelease,
  QueuedTransition,
  ReleaseEntry,
  SubscriptionStatus,
  Transition,
} from "../../ledger/mod.ts";
import type { Unfired } from "../../ledger/for_resources.ts";
import type { FeedEntry } from "../queries/transitions.ts";
import {
  count,
  flag,
  named,
  oneOf,
  text,
  textOrNull,
  time,
} from "./_building.ts";
import { orderStateSchema, releaseSchema } from "./order.ts";
import type { Same } from "./same.ts";
import { entitySchema, trustSchema } from "./status.ts";

const state = {
  key: text,
  entity: entitySchema,
  machine: oneOf<Transition["machine"]>({
    order: true,
    release: true,
    lkyc: true,
    fkyc: true,
    ban: true,
  }),
  id: text,
  trust: text,
  status: text,
  entry: count,
};

/** What a release was logged as. */
export const loggedReleaseSchema = z.object({
  entered: oneOf<ReleaseEntry>({
    yes: true,
    wait: true,
    no: true,
    unchecked: true,
    restored: true,
  }),
  release: oneOf<LoggedRelease["release"]>({
    yes: true,
    wait: true,
    no: true,
    unchecked: true,
  }),
  reason: text,
});

/** A machine of an order or user entered a status, or a release changed. */
export const transitionSchema = named(
  "Transition",
  "An order, or a machine of a user, entered a status with a trust, or the " +
    "release of an order changed; the key is its permanent id",
  z.object({
    ...state,
    previous: z.object({ status: text, trust: trustSchema }).nullable(),
    reverses: z.array(text),
    logged: loggedReleaseSchema.nullable(),
    after: z.array(text),
    position: count,
    recordedAt: time,
    seq: count,
    live: flag,
  }),
);

/** A transition of the feed, and what is decided of its order now. */
export const feedEntrySchema = named(
  "FeedEntry",
  "A transition, and whether its order is released now",
  z.object({
    ...transitionSchema.shape,
    release: releaseSchema.nullable(),
    releaseReason: orderStateSchema.shape.releaseReason.nullable(),
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
  overtaken: flag,
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

/** What `subscriptions fire NAME --historic` did. */
export const firedHistorySchema = named(
  "FiredHistory",
  "How much of the past a subscription is told of",
  z.object({ transitions: count, released: count, fired: count }),
);

true satisfies Same<z.infer<typeof loggedReleaseSchema>, LoggedRelease>;
true satisfies Same<z.infer<typeof transitionSchema>, Transition>;
true satisfies Same<z.infer<typeof feedEntrySchema>, FeedEntry>;
true satisfies Same<z.infer<typeof unfiredSchema>, Unfired>;
true satisfies Same<z.infer<typeof queued>, QueuedTransition>;
true satisfies Same<z.infer<typeof subscription>, SubscriptionStatus>;
