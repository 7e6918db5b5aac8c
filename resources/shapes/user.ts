import * as z from "zod";
import type { NextStep, UserState } from "../../ledger/mod.ts";
import type { ErasureFinding } from "../../ledger/types.ts";
import type { ErasedPeople, ErasureJson } from "../views/erasure_view.ts";
import type { UserJson } from "../views/user_view.ts";
import {
  coded,
  count,
  decimalOrNull,
  flag,
  named,
  oneOf,
  open,
  text,
  textOrNull,
  time,
  timeOrNull,
  withoutFields,
  worded,
} from "./_building.ts";
import type { Same } from "./same.ts";
import { eventKindSchema } from "./explanation.ts";
import { anomalyDataSchema, anomalySchema } from "./anomaly.ts";
import { freshnessSchema } from "./order.ts";
import { trustSchema, verificationStateSchema } from "./status.ts";

const state = verificationStateSchema;
const both = z.object({ lkyc: state.nullable(), fkyc: state.nullable() });
const by = oneOf<"lkyc" | "fkyc">({ lkyc: true, fkyc: true });
const claims = { lkyc: state.nullable(), fkyc: state.nullable() };

const verdict = named(
  "UserVerdict",
  "The one thing to know of a user first",
  worded({
    ...withoutFields({ nothing_known: true, banned: true, not_begun: true }),
    not_confirmed: { by, claimed: state },
    doubted: { by, state, claimed: state },
    verified: { by },
    failed: { by, rejectReasons: z.array(text) },
    retry: { by },
    under_way: {
      by,
      state,
      next: oneOf<"finish_verification" | "wait" | "unknown">({
        finish_verification: true,
        wait: true,
        unknown: true,
      }),
    },
  }),
);

const reasons = {
  ...withoutFields({ not_read: true, reading_stands: true }),
  claim_after_reading: claims,
  lower_claim_after_reading: claims,
};

const reason = named(
  "UserReason",
  "Why the trust in the status of a user is what it is",
  worded(reasons),
);

const common = {
  userId: text,
  status: open({
    "not initiated": true,
    initiated: true,
    progress: true,
    retry: true,
    success: true,
    failed: true,
    banned: true,
    unknown: true,
  }),
  trust: trustSchema,
  next: oneOf<NextStep>({
    none: true,
    start_verification: true,
    finish_verification: true,
    wait: true,
    upload_documents: true,
    see_reject_reasons: true,
    cannot_buy: true,
    unknown: true,
  }),
  verification: both,
  verificationTrust: z.object({ lkyc: trustSchema, fkyc: trustSchema }),
  laterClaims: both,
  needsConfirm: flag,
  country: textOrNull,
  phone: textOrNull,
  phoneCountry: textOrNull,
  banned: flag.nullable(),
  createdAt: timeOrNull,
  limits: z.object({
    cryptoRemaining: decimalOrNull,
    cryptoSpending: decimalOrNull,
    digitalGoodsRemaining: decimalOrNull,
    digitalGoodsSpending: decimalOrNull,
  }).nullable(),
  cards: z.array(z.object({
    method: textOrNull,
    cardId: textOrNull,
    brand: textOrNull,
    lastDigits: textOrNull,
    createdAt: timeOrNull,
  })),
};

/** The state of a user as data, as handlers and receivers get it. */
export const userStateSchema = named(
  "UserState",
  "The state of a user as data, without sentences",
  z.object({
    ...common,
    reason: coded(reasons, {}),
    rejectReasons: z.array(text),
    anomalies: z.array(anomalyDataSchema),
  }),
);

const user = {
  ...common,
  verdict,
  reason,
  rejectReasons: z.array(z.object({ code: text, message: textOrNull })),
  anomalies: z.array(anomalySchema),
};

/** A user, as lists have it. */
export const userSchema = named(
  "User",
  "The state of a user, and the sentences made of its codes",
  z.object(user),
);

/** A user, as `users show` has it. */
export const userDetailSchema = named(
  "UserDetail",
  "A user, and how fresh it is",
  z.object({ ...user, freshness: freshnessSchema }),
);

true satisfies Same<z.infer<typeof userSchema>, UserJson>;

/** What an erasure took, or would take. */
export const erasureSchema = named(
  "Erasure",
  "What an erasure took of a person, or would take",
  z.object({
    userId: text,
    erased: flag,
    pseudonym: textOrNull,
    events: z.array(z.object({ kind: eventKindSchema, count })),
    fields: z.array(text),
    orders: z.array(z.object({
      orderId: text,
      status: text,
      trust: trustSchema,
      blocks: z.array(oneOf<"under_way" | "refund_due">({
        under_way: true,
        refund_due: true,
      })),
    })),
    claims: z.array(z.object({ orderId: text, isAsked: flag })),
    compared: z.object({ blanked: count, listed: count }).nullable(),
    cleaned: flag,
  }),
);

true satisfies Same<z.infer<typeof erasureSchema>, ErasureJson>;

/** Who was erased. */
export const erasedPeopleSchema = named(
  "ErasedPeople",
  "Who was erased, and what came of them later",
  z.object({
    user: z.object({ erasedAt: time, returnedAt: timeOrNull }).nullable(),
    people: z.array(z.object({
      pseudonym: text,
      erasedAt: time,
      events: count,
      orders: count,
    })),
    returned: z.array(z.object({ orderId: text, knownAt: time })),
    findings: z.array(z.object({
      position: count,
      eventId: text,
      kind: eventKindSchema,
      why: oneOf<ErasureFinding["why"]>({
        other_person: true,
        chosen_click_id: true,
        not_json: true,
      }),
      foundAt: time,
      settled: oneOf<NonNullable<ErasureFinding["settled"]>>({
        blanked: true,
        kept: true,
      }).nullable(),
    })),
    isCompared: flag,
    spool: z.object({ waiting: z.array(text), damaged: z.array(text) }),
  }),
);

true satisfies Same<z.infer<typeof erasedPeopleSchema>, ErasedPeople>;
true satisfies Same<z.infer<typeof userStateSchema>, UserState>;
