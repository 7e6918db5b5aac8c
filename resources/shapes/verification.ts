import * as z from "zod";
import type { StatesVerification } from "../../ledger/mod.ts";
import type { VerificationJson } from "../views/verification_view.ts";
import {
  count,
  countOrNull,
  flag,
  named,
  oneOf,
  text,
  textOrNull,
  time,
  withoutFields,
  worded,
} from "./_building.ts";
import type { Same } from "./same.ts";

const reason = named(
  "DamageReason",
  "Why a position of the ledger counts as damaged",
  worded({
    ...withoutFields({
      event_gone: true,
      link_missing: true,
      event_altered: true,
      erased_event_altered: true,
      link_altered: true,
      erased_with_body: true,
      erased_in_part: true,
      erasure_not_recorded: true,
      erased_with_ids: true,
    }),
    event_moved: { from: count },
    column_not_derived: { column: text },
    fewer_than_head: { events: count, chained: count },
    fewer_than_expected: { expected: count, chained: count },
    other_hash_than_expected: { chained: count },
    chain_gone: { events: count, anchoredAt: time },
    fewer_than_anchored: { events: count, anchoredAt: time, chained: count },
    other_hash_than_anchored: { chained: count, anchoredAt: time },
    anchored_head_of_other_ledger: { ledgerId: text },
    anchored_head_unreadable: { error: text },
  }),
);

const verification = {
  ok: flag,
  events: count,
  chained: count,
  unchained: count,
  erased: count,
  anchors: z.array(oneOf<"expect" | "stored">({ expect: true, stored: true })),
  anchoredHead: z.object({
    ledgerId: text,
    position: count,
    events: count,
    hash: text,
    anchoredAt: time,
  }).nullable(),
  resets: z.array(z.object({
    at: time,
    events: countOrNull,
    hash: textOrNull,
  })),
  hash: text,
  firstBrokenPosition: countOrNull,
  damage: oneOf<NonNullable<VerificationJson["damage"]>>({
    altered: true,
    reordered: true,
    inserted: true,
    removed: true,
    underived: true,
    unexpected: true,
  }).nullable(),
  reason: reason.nullable(),
};

/** What `ledger verify` found. */
export const verificationSchema = named(
  "Verification",
  "Whether the ledger is as its evidence chain says, and where it is not",
  z.object(verification),
);

/** A field that differs between two states. */
export const stateDifferenceSchema = z.object({
  field: text,
  before: textOrNull,
  after: textOrNull,
});

const states = z.object({
  ok: flag,
  events: count,
  position: count,
  rows: z.record(text, count),
  different: count,
  differences: z.array(z.object({
    table: text,
    key: z.array(text),
    kind: oneOf<"missing" | "unfounded" | "changed">({
      missing: true,
      unfounded: true,
      changed: true,
    }),
    columns: z.array(stateDifferenceSchema),
  })),
});

/** What `ledger verify --states` found. */
export const statesVerificationSchema = named(
  "StatesVerification",
  "The same, and whether every stored state follows from the events",
  z.object({ ...verification, states }),
);

true satisfies Same<z.infer<typeof verificationSchema>, VerificationJson>;
true satisfies Same<z.infer<typeof states>, StatesVerification>;
