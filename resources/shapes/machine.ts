import * as z from "zod";
import {
  ATTENTION_KINDS,
  type Decision,
  FACT_VALUES,
  type Move,
  type OutcomeFacts,
} from "../../ledger/for_resources.ts";
import type {
  MachineJson,
  OutcomeRowJson,
} from "../views/machine/machine_view.ts";
import {
  among,
  count,
  flag,
  named,
  oneOf,
  text,
  textOrNull,
} from "./_building.ts";
import { outcomeCode, outcomeFields, releaseSchema } from "./order.ts";
import type { Same } from "./same.ts";

/** What a reading and a claim make together. */
export const decisionSchema = oneOf<Decision>({
  reading: true,
  reading_contested: true,
  reading_in_doubt: true,
  claim: true,
  initial: true,
});

/** How a reading follows the one before it. */
export const moveKindSchema = oneOf<Move["kind"]>({
  same: true,
  usual: true,
  unusual: true,
  impossible: true,
});

const state = z.object({
  meaning: text,
  rank: count,
  final: flag,
  message: text,
});

const machine = named(
  "Machine",
  "A state machine as data: its states, and tables by state, event, reading " +
    "and claim",
  z.object({
    name: text,
    states: z.record(text, state),
    unlisted: state,
    initial: text,
    webhooks: z.record(text, textOrNull),
    observations: z.record(
      text,
      oneOf<"reads" | "absent" | "contradicts">({
        reads: true,
        absent: true,
        contradicts: true,
      }).nullable(),
    ),
    decisions: z.record(text, z.record(text, decisionSchema)),
    moves: z.record(
      text,
      z.record(text, z.object({ kind: moveKindSchema, anomaly: textOrNull })),
    ),
  }),
);

const outcomeRow = z.object({
  code: outcomeCode,
  when: z.array(z.object({
    fact: among(Object.keys(FACT_VALUES) as (keyof OutcomeFacts)[]),
    values: z.array(text),
  })),
  release: releaseSchema,
  reason: outcomeFields.releaseReason,
  attention: among(ATTENTION_KINDS).nullable(),
  booked: outcomeFields.booked,
});

true satisfies Same<z.infer<typeof outcomeRow>, OutcomeRowJson>;

/** The state machines. */
export const machinesSchema = named(
  "Machines",
  "The state machines of orders, of users, or of both",
  z.object({
    machines: z.array(machine),
    outcomes: z.array(outcomeRow),
  }),
);

type Tables = "webhooks" | "observations" | "decisions" | "moves" | "states";

// The tables have their own keys, which a record does not name.
true satisfies Same<
  Omit<z.infer<typeof machine>, Tables>,
  Omit<MachineJson, Tables>
>;
