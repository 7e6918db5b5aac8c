import { CONTRADICTED_AFTER_MS } from "../../../sync/for_resources.ts";
import type { Entity } from "../../../ledger/for_sync.ts";
import {
  type Machine,
  MACHINES,
  type StateRow,
} from "../../../ledger/for_resources.ts";
import {
  arrowsOf,
  decisionsTable,
  eventsTable,
  movesTable,
  otherEvents,
  statesTable,
} from "./machine_tables.ts";
import { markdownTable } from "../table.ts";
import { wrap } from "../text.ts";
import { adviceTable, factsTable, outcomesTable } from "./outcome_tables.ts";

/** STATES.md: every state machine, as the tables have it. */
export function machinePage(): string {
  const lines = [
    "# States",
    "",
    ...paragraph(
      "This page is printed from the tables that the ledger runs, and a test " +
        "holds it to them. The first command writes it, the others draw it as text:",
    ),
    "```sh",
    "deno task -q machine --markdown > STATES.md",
    "rampkit machine order",
    "rampkit machine user",
    "```",
    "",
    ...paragraph(
      "The ledger hears of an entity in two ways. A **webhook** makes a claim: " +
        "anyone who knows the address of the endpoint can make one. A " +
        "**reading** of the Data API is confirmed by the service. A is the " +
        "latest reading, W the highest claim that counts. Both, looked up in " +
        "one table, give a state and its trust: `confirmed` by the service, or " +
        "only `claimed` by a webhook.",
    ),
    ...paragraph(
      "No order of arrival, repeat or delay changes the outcome: the fold keeps " +
        "maxima and minima, and looks the state up. No move is refused. The " +
        "service's later word counts, and a move that is odd raises an anomaly.",
    ),
    ...entityLines("order", ORDER_NOTES),
    ...outcomeLines(),
    ...entityLines("user", USER_NOTES),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

const ORDER_NOTES: readonly string[] = [
  "A claim counts until a reading has shown its status: then it is used up, " +
  "and a late or repeated webhook takes nothing back. It also stops counting " +
  "when the service contradicts it: it was asked and, for " +
  `**${CONTRADICTED_AFTER_MS / 60_000} minutes** since the claim was last ` +
  "received, has not agreed (a setting: `--contradicted-after`). The service agrees with " +
  "a final status only by showing it, and with another also by having moved " +
  "past it. A claim that is received again later counts again.",
  "A is the latest reading by the service's own time of change; of two with " +
  "the same time, the one of higher rank, then the one read later.",
  "A final status is changed by nothing but a later reading. Where that shows " +
  "another status, the anomaly is `final_changed`, and `release` is never " +
  "`yes` after it. Final claims beside a final reading are `contested`.",
];

const USER_NOTES: readonly string[] = [
  "A user is in three machines at once: the light verification (`lkyc`), the " +
  "document verification (`fkyc`) and the `ban`. The combined status is " +
  "`banned`, else that of `fkyc` once it has begun, else that of `lkyc`, and " +
  "says what the user must do next.",
  "A is the reading that was made last. A claim counts when it was received " +
  "after that reading. A later claim that does not rank higher moves nothing: " +
  "it is shown beside the state, and the service is asked again.",
];

function entityLines(entity: Entity, notes: readonly string[]): string[] {
  const machines = MACHINES[entity];
  if (machines.length === 0) return [];
  return [
    `## The machine${machines.length > 1 ? "s" : ""} of ${ARTICLES[entity]}`,
    "",
    ...notes.flatMap(paragraph),
    ...machines.flatMap((machine) => machineLines(machine)),
  ];
}

/** The table of outcomes, and what follows from each row. */
function outcomeLines(): string[] {
  return [
    "## Outcomes of an order",
    "",
    ...paragraph(
      "One order, one row. The ledger goes down the table and takes the first " +
        "row that applies. That row alone says the release, its reason, what " +
        "a month books, the next step and the words for the customer. Only " +
        "attention may name more: the kind of the row that applies, and those " +
        "of later rows that apply as well.",
    ),
    ...paragraph("A row asks for nothing but these facts, one word each:"),
    ...markdownTable(factsTable()),
    "",
    ...paragraph(
      "A state is worked out with `overdue` and `twice` as `no`: they depend on " +
        "the time and on other orders, and only readers look at them. " +
        "`not_comparable` is listed only where the ledger has ever recorded what " +
        "it expects: else it is one condition of the ledger, and not something " +
        "to do about each order.",
    ),
    ...paragraph(
      "What a person delivered or refunded is recorded (`rampkit release`) and " +
        "changes no row: release and booking stay what the row says, and no " +
        "handler gets a yes of the order any more. Attention leaves out what is " +
        "settled by it: every kind of an order that the service shows as a " +
        "success; and of an ended one that was refunded `refund_due`, " +
        "`cancelled_after_payment`, `amount_mismatch` and `final_changed`. " +
        "Nothing is settled that the service showed only afterwards.",
    ),
    "### The table of outcomes",
    "",
    ...markdownTable(outcomesTable()),
    "",
    ...paragraph(
      "Booked: `sale` books or restates what the reading says, `reversal` takes " +
        "back what a closed month has booked, `nothing` books nothing new and " +
        "leaves what is booked.",
    ),
    "### What to do, and what to tell the customer",
    "",
    ...markdownTable(adviceTable()),
    "",
  ];
}

const ARTICLES: Readonly<Record<Entity, string>> = {
  order: "an order",
  user: "a user",
};

function machineLines(machine: Machine): string[] {
  const { name } = machine;
  return [
    `### ${name}`,
    "",
    ...diagram(machine),
    "",
    ...paragraph(
      "Solid arrows are usual, dotted ones unusual. Steps between may pass " +
        "unseen, so a usual way may be read as one move.",
    ),
    `#### ${name}: states`,
    "",
    ...markdownTable(statesTable(machine)),
    "",
    `#### ${name}: what each event contributes`,
    "",
    ...markdownTable(eventsTable(machine)),
    "",
    ...paragraph(otherEvents(machine)),
    `#### ${name}: the latest reading (A) and the highest claim (W)`,
    "",
    ...markdownTable(decisionsTable(machine)),
    "",
    `#### ${name}: readings that follow each other`,
    "",
    ...paragraph(
      "By the service's own times. The service does not document its moves: " +
        "`usual` follows from what the states mean, `unusual` does not, and " +
        "`impossible` would undo what has happened. An odd move counts all the same, and raises the anomaly that the table names.",
    ),
    ...markdownTable(movesTable(machine)),
    "",
  ];
}

function diagram(machine: Machine): string[] {
  const id = (state: string) => state.replaceAll(" ", "_");
  return [
    "```mermaid",
    "flowchart LR",
    ...Object.entries<StateRow>(machine.states).map(([state, { final }]) =>
      `  ${id(state)}${final ? `(["${state}, final"])` : `["${state}"]`}`
    ),
    ...arrowsOf(machine).map(({ from, to, anomaly }) =>
      anomaly === null
        ? `  ${id(from)} --> ${id(to)}`
        : `  ${id(from)} -. ${anomaly} .-> ${id(to)}`
    ),
    "```",
  ];
}

function paragraph(text: string): string[] {
  return [...wrap(text, PAGE_COLUMNS, 0).split("\n"), ""];
}

/** Width of a page, as the formatter has it. */
const PAGE_COLUMNS = 80;
