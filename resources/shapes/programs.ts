import * as z from "zod";
import type { ExpectationJson, SessionJson } from "../views/session_view.ts";
import type { Check } from "../health/check.ts";
import {
  count,
  countOrNull,
  decimalOrNull,
  flag,
  ms,
  named,
  oneOf,
  text,
  textOrNull,
  time,
} from "./_building.ts";
import type { Same } from "./same.ts";
import { entitySchema } from "./status.ts";

/** A session that was created. */
export const sessionSchema = named(
  "Session",
  "A widget session: valid for 30 seconds, and for one use",
  z.object({
    sessionId: text,
    requestId: textOrNull,
    clickId: text,
    validForMs: ms,
    warnings: z.array(text),
  }),
);

/** What `expect` prints. */
export const expectationSchema = named(
  "Expectation",
  "What an order is expected to be, as it was recorded",
  z.object({ id: text }),
);

/** One finding of `doctor`. */
export const checkSchema = z.object({
  name: text,
  status: oneOf<Check["status"]>({
    ok: true,
    warn: true,
    fail: true,
    skip: true,
  }),
  detail: text,
  advice: z.exactOptional(text),
});

/** What `doctor` found. */
export const checksSchema = named(
  "Checks",
  "What was checked, what was found, and what to do about it",
  z.object({ ok: flag, checks: z.array(checkSchema) }),
);

/** Where the sandbox is. */
export const sandboxSchema = named(
  "Sandbox",
  "Where the service in a box is reached",
  z.object({
    url: text,
    control: text,
    apiKey: textOrNull,
    webhooksTo: textOrNull,
  }),
);

/** Where everything is that `listen` runs. */
export const listeningSchema = named(
  "Listening",
  "Where everything is that `listen` runs: its first line",
  z.object({
    kind: z.literal("listening"),
    sandbox: text,
    control: text,
    webhooks: text,
    ledger: text,
    forwardTo: z.array(text),
  }),
);

/** Something that happened while it was listened. */
export const activitySchema = named(
  "Activity",
  "Something that happened: a delivery, a transition, a forwarded webhook",
  z.object({
    kind: oneOf<"in" | "now" | "out">({ in: true, now: true, out: true }),
    time,
    type: text,
    entity: entitySchema.nullable(),
    id: textOrNull,
    currencyAmount: decimalOrNull,
    currency: textOrNull,
    cryptoAmount: decimalOrNull,
    commodity: textOrNull,
    answer: countOrNull,
    tookMs: countOrNull,
    target: textOrNull,
    detail: textOrNull,
  }),
);

/** What happened in a sandbox, step by step. */
/** Part of a shape. */
export const playedSchema = z.object({
  orderId: textOrNull,
  userId: textOrNull,
  steps: z.array(z.object({
    action: text,
    status: textOrNull,
    webhook: oneOf<"sent" | "none" | "lost" | "broken">({
      sent: true,
      none: true,
      lost: true,
      broken: true,
    }),
  })),
});

/** What `trigger` let happen. */
export const triggeredSchema = named(
  "Triggered",
  "What happened in a sandbox, step by step",
  z.object({ scenario: text, sandbox: text, ...playedSchema.shape }),
);

/** How a demo went. */
export const demoSchema = named(
  "Demo",
  "What became of the orders of a demo",
  z.object({
    seed: count,
    ordersAtService: count,
    ordersInLedger: count,
    webhooksSent: count,
    webhooksLost: count,
    webhooksRepeated: count,
    webhooksLate: count,
    answeredAndMissing: count,
    wrongBeforePoll: count,
    differences: count,
    differing: z.array(z.object({
      orderId: text,
      field: text,
      service: textOrNull,
      ledger: textOrNull,
    })),
    exampleOrderId: textOrNull,
    databaseUrl: text,
  }),
);

const simulation = z.object({
  runs: count,
  virtualMs: ms,
  steps: count,
  orders: count,
  events: count,
  slowestAgreementMs: ms,
  faults: z.record(text, count),
  chores: z.record(text, count),
  broken: z.array(z.object({ seed: count, rule: text })),
  tookMs: ms,
});

const flood = z.object({
  forged: count,
  knownAfterMs: ms.nullable(),
  newAfterMs: ms.nullable(),
  userAfterMs: ms.nullable(),
  requests: count,
  tookMs: ms,
});

const mutations = z.array(z.object({
  name: text,
  within: count,
  seed: count.nullable(),
  rule: textOrNull,
}));

/** What seeds of the simulator found. */
export const simSchema = named(
  "Simulation",
  "What seeds of the simulator found; of --flood, how soon true orders were " +
    "confirmed; of --mutations, which seed noticed",
  z.union([simulation, flood, mutations]),
);

/** What was measured. It is not promised, so nothing within is described. */
export const benchSchema = named(
  "Benchmark",
  "What was measured; its shape follows that, and is not promised",
  z.object({
    rows: z.array(z.unknown()),
    problems: z.array(z.unknown()),
    notes: z.array(z.unknown()),
  }),
);

/** A day's total of orders. */
export const dailyTotalSchema = named(
  "DailyTotal",
  "Orders of one day, status, asset, currency and trust, added up",
  z.object({
    day: text,
    status: text,
    commodity: text,
    network: text,
    currency: text,
    orders: text,
    currency_amount: text,
    crypto_amount: text,
    partner_fee_usd: text,
    service_fee_usd: text,
    trust: text,
    currency_amount_missing: text,
    crypto_amount_missing: text,
    partner_fee_missing: text,
    service_fee_missing: text,
  }),
);

/** A shape that `rampkit schema` knows. */
export const listedShapeSchema = named(
  "ListedShape",
  "A shape, and the commands that print it",
  z.object({ name: text, description: text, commands: z.array(text) }),
);

true satisfies Same<z.infer<typeof sessionSchema>, SessionJson>;
true satisfies Same<z.infer<typeof expectationSchema>, ExpectationJson>;
true satisfies Same<z.infer<typeof checkSchema>, Check>;
