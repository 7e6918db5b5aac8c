import * as z from "zod";
import type { Decision, Move } from "../../ledger/machines/machine.ts";
import type { MachineJson } from "../views/machine/machine_view.ts";
import { count, flag, named, oneOf, text, textOrNull } from "./_building.ts";
import type { Same } from "./_same.ts";

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

/** The state machines. */
export const machinesSchema = named(
  "Machines",
  "The state machines of orders, of users, or of both",
  z.object({ machines: z.array(machine) }),
);

type Tables = "webhooks" | "observations" | "decisions" | "moves" | "states";

// The tables have their own keys, which a record does not name.
true satisfies Same<
  Omit<z.infer<typeof machine>, Tables>,
  Omit<MachineJson, Tables>
>;
