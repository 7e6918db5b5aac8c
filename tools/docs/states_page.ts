import { CONTRADICTED_AFTER_MS } from "../../sync/for_resources.ts";
import type { Entity } from "../../ledger/for_sync.ts";
import { type Machine, MACHINES } from "../../ledger/for_resources.ts";
import {
  decisionsTable,
  eventsTable,
  movesTable,
  otherEvents,
  statesTable,
} from "../../resources/views/machine/machine_tables.ts";
import {
  adviceTable,
  attentionTable,
  factsTable,
  outcomesTable,
  releaseTable,
} from "../../resources/views/machine/outcome_tables.ts";
import { markdownTable } from "../../resources/views/table.ts";

/** docs/reference/states.md: machines and outcomes, as the ledger runs them. */
export function statesPage(): string {
  return [
    HEAD,
    ...outcomeLines(),
    "## The machine of an order",
    "",
    ORDER_NOTES,
    ...machinesOf("order"),
    "## The machines of a user",
    "",
    USER_NOTES,
    ...machinesOf("user"),
  ].join("\n");
}

const HEAD = `# States and outcomes

\`rampkit machine order\` and \`rampkit machine user\` print the same tables.

The ledger hears of an order or user in two ways. A **webhook** makes a claim:
anyone who knows the address of the endpoint can make one. A **reading** of the
partner API is confirmed by the service. A is the latest reading, W the highest
claim that counts. Both, looked up in one table, give a state and its trust:
\`confirmed\` by the service, or only \`claimed\` by a webhook.

No order of arrival, repeat or delay changes the outcome. No move is refused: the
service's later word counts, and a move that is odd raises an anomaly.
`;

const ORDER_NOTES =
  `A claim counts until a reading has shown its status: then it is used up, and a
late or repeated webhook takes nothing back. It also stops counting when the
service was asked and, for ${
    CONTRADICTED_AFTER_MS / 60_000
  } minutes since the claim was last received, has not agreed
(\`--contradicted-after\`). The service agrees with a final status only by showing
it, and with another also by having moved past it. A claim that is received again
later counts again.

A is the latest reading by the service's own time of change; of two with the same
time, the one of higher rank, then the one read later. A final status is changed
by nothing but a later reading: the anomaly is \`final_changed\`, and the release
is never \`yes\` after it. Final claims beside a final reading are \`contested\`.
`;

const USER_NOTES =
  `A user is in three machines at once: the light verification (\`lkyc\`), the
document verification (\`fkyc\`) and the \`ban\`. The combined status is \`banned\`,
else that of \`fkyc\` once it has begun, else that of \`lkyc\`, and says what the
user must do next.

A is the reading that was made last. A claim counts when it was received after
that reading. A later claim that does not rank higher moves nothing: it is shown
beside the state, and the service is asked again.
`;

/** The table of outcomes, and what follows from each row. */
function outcomeLines(): string[] {
  return [
    "## Outcomes of an order",
    "",
    "One order, one row: the first of the table that applies. It says the " +
    "release, its reason, what a month books, the next step and the words for " +
    "the customer. Attention has the kind of that row, and those of later rows " +
    "that apply as well. Release goods on `yes` only; where it is `unchecked`, " +
    "compare first what you can compare.",
    "",
    ...markdownTable(outcomesTable()),
    "",
    "Booked: `sale` books or restates what the reading says, `reversal` takes " +
    "back what a closed month has booked, `nothing` leaves what is booked.",
    "",
    "What a person delivered or refunded is recorded with `rampkit release` " +
    "and changes no row. No receiver gets a yes of the order any more, and " +
    "attention leaves out what is settled by it; whatever the service shows " +
    "only afterwards is listed.",
    "",
    "A row asks for nothing but these facts:",
    "",
    ...markdownTable(factsTable()),
    "",
    "### What to do, and what to tell the customer",
    "",
    ...markdownTable(adviceTable()),
    "",
    "### Reasons of a release",
    "",
    ...markdownTable(releaseTable()),
    "",
    "### What waits for a person",
    "",
    "The most serious first. `not_comparable` is listed only where the ledger " +
    "has ever recorded what it expects.",
    "",
    ...markdownTable(attentionTable()),
    "",
  ];
}

function machinesOf(entity: Entity): string[] {
  return MACHINES[entity].flatMap((machine) => machineLines(machine));
}

function machineLines(machine: Machine): string[] {
  const { name } = machine;
  return [
    `### ${name}`,
    "",
    ...markdownTable(statesTable(machine)),
    "",
    ...markdownTable(eventsTable(machine)),
    "",
    otherEvents(machine),
    "",
    `#### ${name}: latest reading (A) and highest claim (W)`,
    "",
    ...markdownTable(decisionsTable(machine)),
    "",
    `#### ${name}: readings that follow each other`,
    "",
    "By the service's own times. It does not document its moves: `usual` " +
    "follows from what the states mean, `unusual` does not, and `impossible` " +
    "would undo what has happened. An odd move counts all the same.",
    "",
    ...markdownTable(movesTable(machine)),
    "",
  ];
}
