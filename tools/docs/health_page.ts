import {
  ALARM_CODES,
  CONDITIONS,
  STANDING_CODES,
} from "../../resources/health/conditions.ts";
import { ON_CALL } from "../../resources/health/on_call.ts";
import { SUBJECTS } from "../../resources/health/subjects.ts";
import { reconcileTable } from "../../resources/views/machine/outcome_tables.ts";
import { markdownTable } from "../../resources/views/table.ts";
import {
  pollFailureAdvice,
  REFUSALS,
} from "../../resources/wording/poll_failure.ts";
import {
  ALL_CLEARS,
  LOG_ADVICE,
  LOG_EVENTS,
  type LogEvent,
} from "../../server/monitoring/logger.ts";
import { RECONCILE_SEVERITY } from "../../sync/testing/mod.ts";
import { POLL_FAILURE_CAUSES } from "../../resources/wording/poll_failure.ts";

/** docs/reference/health.md: what can be wrong, and what to do about it. */
export function healthPage(): string {
  return [
    HEAD,
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

const HEAD = `# Health

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
