/**
 * Writes `docs/reference/` from the tables that the program runs:
 * `deno task docs`. The benchmark writes its own page.
 *
 * @module
 */
import { settingsTable } from "../../core/settings/settings.ts";
import { type Machine, MACHINES } from "../../ledger/for_resources.ts";
import type { Entity } from "../../ledger/for_sync.ts";
import {
  ALARM_CODES,
  CONDITIONS,
  STANDING_CODES,
} from "../../resources/health/conditions.ts";
import { ON_CALL } from "../../resources/health/on_call.ts";
import { SUBJECTS } from "../../resources/health/subjects.ts";
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
  reconcileTable,
  releaseTable,
} from "../../resources/views/machine/outcome_tables.ts";
import { markdownTable } from "../../resources/views/table.ts";
import {
  POLL_FAILURE_CAUSES,
  pollFailureAdvice,
  REFUSALS,
} from "../../resources/wording/poll_failure.ts";
import {
  ALL_CLEARS,
  LOG_ADVICE,
  LOG_EVENTS,
  type LogEvent,
} from "../../server/monitoring/logger.ts";
import {
  CONFORMANCE_ROWS,
  RISKS,
  SUBJECTS as ROW_SUBJECTS,
} from "../../sync/conformance/rows.ts";
import { CONTRADICTED_AFTER_MS } from "../../sync/recording/readings.ts";
import { RECONCILE_SEVERITY } from "../../sync/reconciliation/reconcile_order.ts";
import { commandsPage } from "./commands_page.ts";

/** The pages of the folder, by name; each byte of them follows from the code. */
export const PAGES: Readonly<Record<string, () => string>> = {
  "commands.md": commandsPage,
  "health.md": healthPage,
  "settings.md": () =>
    [
      "# Settings",
      "",
      "Each is a variable; most are also a flag, which wins, and an option of " +
      "`startOnramp()`. Secrets have no flags, but for `--notify`: every " +
      "process of a machine can read a command line.",
      "",
      ...markdownTable(settingsTable()),
      "",
    ].join("\n"),
  "states.md": statesPage,
  "../how_we_read_the_service.md": readingPage,
};

const FOLDER = new URL("../../docs/reference/", import.meta.url);

/** The page of what we assume; a person writes it, but for the rows of the check. */
function readingPage(): string {
  const page = Deno.readTextFileSync(
    new URL("../how_we_read_the_service.md", FOLDER),
  );
  const rows = Object.values(CONFORMANCE_ROWS);
  const lines = [
    "What a row puts at risk stands behind it:",
    "",
    ...Object.entries(RISKS).map(([risk, means]) =>
      `- ${quoted(risk)}: ${means}`
    ),
    ...[...Map.groupBy(rows, ({ subject }) => subject)].flatMap(
      ([subject, some]) => [
        "",
        `### ${ROW_SUBJECTS[subject]}`,
        "",
        ...some.map(({ taken, risk }) => `- ${taken} (${quoted(risk)})`),
      ],
    ),
  ];
  return page.replace(
    /(?<=deno task docs` prints them. -->\n)[^]*(?=<!-- The end of the rows)/,
    () => `\n${lines.join("\n")}\n\n`,
  );
}

/** states.md: machines and outcomes, as the ledger runs them. */
function statesPage(): string {
  return [
    STATES_HEAD,
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

const STATES_HEAD = `# States and outcomes

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

/** health.md: what can be wrong, and what to do about it. */
function healthPage(): string {
  return [
    HEALTH_HEAD,
    ...STANDING_CODES.flatMap((code) => {
      const { subject, level, means, next } = CONDITIONS[code];
      const { name, isLocal } = SUBJECTS[subject];
      const alarm = ALARM_CODES.includes(code)
        ? `, alarm \`${subject}\`${isLocal === true ? ", one per machine" : ""}`
        : "";
      const shown = code === "not_looked_at"
        ? "any check"
        : `check \`${name}\``;
      const details = ON_CALL[code];
      return [
        `### ${code}`,
        "",
        `${capital(level)} of ${shown}${alarm}. ${means}.`,
        "",
        `**${next ?? "Follow the advice in the message"}.**`,
        "",
        ...(details === undefined ? [] : [details, ""]),
      ];
    }),
    "## Why polling fails",
    "",
    ...markdownTable({
      head: ["cause", "what to do"],
      rows: POLL_FAILURE_CAUSES.map((cause) => [
        quoted(cause),
        pollFailureAdvice(cause),
      ]),
    }),
    "",
    "## Why requests are refused",
    "",
    ...markdownTable({
      head: ["reason", "what it may mean"],
      rows: Object.entries(REFUSALS).map(([reason, text]) => [
        quoted(reason),
        text,
      ]),
    }),
    "",
    "## What `reconcile` finds",
    "",
    "The gravest first: money that is owed or may be lost, then states that " +
    "differ, then deliveries that never came.",
    "",
    ...markdownTable(reconcileTable(RECONCILE_SEVERITY)),
    "",
    "## Log",
    "",
    "`serve` writes one JSON object a line with `time`, `level` and `event`, " +
    "never a secret. What lasts is logged once when it begins, and once when " +
    "it is over (→).",
    "",
    ...(Object.keys(LOG_EVENTS) as LogEvent[])
      .filter((event) => !isAllClear(event))
      .map((event) => {
        const clear = Object.entries(ALL_CLEARS).find(([one]) => one === event);
        const advice = LOG_ADVICE[event] ??
          (event in CONDITIONS ? "See its condition" : null);
        return `- ${quoted(event)}${
          clear === undefined ? "" : ` → ${quoted(clear[1])}`
        }: ${LOG_EVENTS[event]}.${advice === null ? "" : ` ${advice}.`}`;
      }),
    "",
  ].join("\n");
}

const HEALTH_HEAD = `# Health

What can be wrong, and what to do. \`doctor\` (exit code 1 where there is a
problem), the console's bar, \`/readyz\`, \`/v1/status\`, the metric
\`rampkit_condition\` and the alarms show these conditions, under these codes.
\`serve\` looks every 15 seconds; what two looks agree on is an alarm, if it is
marked so: \`alarm_raised\` in the log, and a message to each target of
\`--forward-to\` and \`--notify\`; \`alarm_cleared\` when it is over.

First look: \`rampkit doctor\`, then \`rampkit ledger stats\` and
\`rampkit reconcile\`, which change nothing.

| what you see | what it is |
| --- | --- |
| \`No ledger at file:rampkit.db\` | another folder, or nothing was recorded yet: see \`RAMPKIT_DATABASE_URL\` |
| an order stays \`claimed\` | no API key, or no poller: \`serve\` with a key, or \`poll --once\` |
| \`Another poller … works on this ledger\` | \`serve\` polls already; \`recover\` reads a window beside it |
| every delivery answers 404 | the secret in the dashboard's address is not in \`RAMPKIT_WEBHOOK_SECRET\` |
| \`The ledger belongs to the environment …\` | a ledger is stamped once: name another database, or another environment |
| \`serve\` does not start | its last line says why: a setting (exit code 2), a port that is taken, a ledger of another environment or schema (1) |

## Conditions
`;

function isAllClear(event: LogEvent): boolean {
  return Object.values<string>(ALL_CLEARS).includes(event);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function quoted(text: string): string {
  return `\`${text}\``;
}

if (import.meta.main) {
  for (const [name, page] of Object.entries(PAGES)) {
    await Deno.writeTextFile(new URL(name, FOLDER), page());
  }
}
