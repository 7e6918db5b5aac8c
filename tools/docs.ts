/**
 * Writes into pages of `docs/` what the tables of the program say, between
 * `<!-- printed: NAME -->` and `<!-- end -->`: `deno task docs`. People write the
 * rest of a page; the benchmark writes its own.
 *
 * @module
 */
import type { Command } from "commander";
import { settingsTable } from "../core/settings/settings.ts";
import { type Machine, MACHINES } from "../ledger/for_resources.ts";
import {
  ALARM_CODES,
  CONDITIONS,
  STANDING_CODES,
  SUBJECTS,
} from "../resources/health/conditions.ts";
import { ON_CALL } from "../resources/health/on_call.ts";
import { SHAPES } from "../resources/schemas/shapes.ts";
import {
  adviceTable,
  attentionTable,
  decisionsTable,
  eventsTable,
  factsTable,
  movesTable,
  otherEvents,
  outcomesTable,
  reconcileTable,
  releaseTable,
  statesTable,
} from "../resources/views/machine/machine_view.ts";
import { markdownTable, type WordTable } from "../resources/views/text.ts";
import {
  POLL_FAILURE_CAUSES,
  pollFailureAdvice,
  REFUSALS,
} from "../resources/wording/poll_failure.ts";
import { API_ROUTES } from "../server/api/api_app.ts";
import {
  ALL_CLEARS,
  LOG_ADVICE,
  LOG_EVENTS,
  type LogEvent,
} from "../server/monitoring/logger.ts";
import {
  CONFORMANCE_ROWS,
  RISKS,
  SUBJECTS as ROW_SUBJECTS,
} from "../sync/check/conform.ts";
import { RECONCILE_SEVERITY } from "../sync/reconciliation/reconcile_order.ts";
import { everyCommand } from "../tests/kit/commands.ts";

/** What is printed into each page of `docs/`, by the name that the page gives it. */
const PRINTED: Record<string, Record<string, () => string[] | WordTable>> = {
  "reference/commands.md": {
    commands: () => commandLines(everyCommand(), []),
    routes: () =>
      API_ROUTES.map(({ method, path, summary, scope, body }) =>
        `- \`${method} ${path}\` (${scope ?? "no token"}${
          body === undefined ? "" : ", body"
        }): ${sentence(summary)}`
      ),
  },
  "reference/health.md": {
    conditions: conditionLines,
    polling: () => ({
      head: ["cause", "what to do"],
      rows: POLL_FAILURE_CAUSES
        .map((cause) => [`\`${cause}\``, pollFailureAdvice(cause)]),
    }),
    refusals: () => ({
      head: ["reason", "what it may mean"],
      rows: Object.entries(REFUSALS)
        .map(([reason, text]) => [`\`${reason}\``, text]),
    }),
    reconcile: () => reconcileTable(RECONCILE_SEVERITY),
    log: logLines,
  },
  "reference/settings.md": { settings: settingsTable },
  "reference/states.md": {
    outcomes: outcomesTable,
    facts: factsTable,
    advice: adviceTable,
    releases: releaseTable,
    attention: attentionTable,
    order: () => MACHINES.order.flatMap(machineLines),
    user: () => MACHINES.user.flatMap(machineLines),
  },
  "how_we_read_the_service.md": { rows: rowLines },
};

const FOLDER = new URL("../docs/", import.meta.url);

/** The pages as they are to be, by their path in `docs/`. */
export async function printedPages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for (const [path, parts] of Object.entries(PRINTED)) {
    let page = await Deno.readTextFile(new URL(path, FOLDER));
    for (const [name, print] of Object.entries(parts)) {
      const said = print();
      const lines = "head" in said ? markdownTable(said) : said;
      const [before = "", rest = ""] = page.split(`<!-- printed: ${name} -->`);
      const at = rest.indexOf("<!-- end -->");
      if (at < 0) throw new Error(`Cannot print ${name}: not in ${path}`);
      page = [
        `${before}<!-- printed: ${name} -->`,
        lines.join("\n").trim(),
        rest.slice(at),
      ].join("\n\n");
    }
    pages.set(path, page);
  }
  return pages;
}

/** Flags that the head of the page names. */
const COMMON = /^--(?:json|help|database-url|environment|base-url)$/;

function commandLines(command: Command, names: readonly string[]): string[] {
  if (command.commands.length > 0) {
    return command.commands.flatMap((one) =>
      commandLines(one, [...names, one.name()])
    );
  }
  const path = names.join(" ");
  const help = command.createHelp();
  const rows = [
    ...help.visibleArguments(command)
      .map((one) => [`<${one.name()}>`, help.argumentDescription(one)]),
    ...help.visibleOptions(command)
      .filter(({ long }) => !COMMON.test(long ?? ""))
      .map((one) => [one.flags, help.optionDescription(one)]),
  ];
  let text = "";
  command.configureOutput({ writeOut: (part) => text += part }).outputHelp();
  const below = text.slice(command.helpInformation().length).trim();
  const shapes = Object.entries(SHAPES).filter(([, { commands }]) =>
    commands.some((one) => one === path || one.startsWith(`${path} `))
  );
  return [
    ...[`## ${path}`, "", sentence(command.description()), ""],
    ...rows.map(([name, means]) => `- \`${name}\`: ${means}`),
    ...(rows.length === 0 ? [] : [""]),
    ...(below === "" ? [] : ["```text", below, "```", ""]),
    ...(shapes.length === 0
      ? []
      : [`JSON: ${shapes.map(([name]) => `\`${name}\``).join(", ")}.`, ""]),
  ];
}

function machineLines(machine: Machine): string[] {
  const { name } = machine;
  return [
    ...[`### ${name}`, "", ...markdownTable(statesTable(machine)), ""],
    ...[...markdownTable(eventsTable(machine)), "", otherEvents(machine), ""],
    ...[`#### ${name}: latest reading (A) and highest claim (W)`, ""],
    ...[...markdownTable(decisionsTable(machine)), ""],
    ...[`#### ${name}: readings that follow each other`, ""],
    ...[...markdownTable(movesTable(machine)), ""],
  ];
}

function conditionLines(): string[] {
  return STANDING_CODES.flatMap((code) => {
    const { subject, level, means, next } = CONDITIONS[code];
    const { name, isLocal } = SUBJECTS[subject];
    const alarm = ALARM_CODES.includes(code)
      ? `, alarm \`${subject}\`${isLocal === true ? ", one per machine" : ""}`
      : "";
    const shown = code === "not_looked_at" ? "any check" : `check \`${name}\``;
    const details = ON_CALL[code];
    return [
      ...[`### ${code}`, ""],
      ...[`${sentence(`${level} of ${shown}${alarm}. ${means}`)}`, ""],
      ...[`**${next ?? "Follow the advice in the message"}.**`, ""],
      ...(details === undefined ? [] : [details, ""]),
    ];
  });
}

function logLines(): string[] {
  const clears = new Map<string, string>(Object.entries(ALL_CLEARS));
  const clearing = new Set(clears.values());
  return (Object.keys(LOG_EVENTS) as LogEvent[])
    .filter((event) => !clearing.has(event))
    .map((event) => {
      const clear = clears.get(event);
      const advice = LOG_ADVICE[event] ??
        (event in CONDITIONS ? "See its condition" : null);
      return `- \`${event}\`${clear === undefined ? "" : ` → \`${clear}\``}: ` +
        `${LOG_EVENTS[event]}.${advice === null ? "" : ` ${advice}.`}`;
    });
}

function rowLines(): string[] {
  const rows = Map.groupBy(
    Object.values(CONFORMANCE_ROWS),
    ({ subject }) => subject,
  );
  return [
    ...["What a row puts at risk stands behind it:", ""],
    ...Object.entries(RISKS).map(([risk, means]) => `- \`${risk}\`: ${means}`),
    ...[...rows].flatMap(([subject, some]) => [
      ...["", `### ${ROW_SUBJECTS[subject]}`, ""],
      ...some.map(({ taken, risk }) => `- ${taken} (\`${risk}\`)`),
    ]),
  ];
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(begun) ? begun : `${begun}.`;
}

if (import.meta.main) {
  for (const [path, page] of await printedPages()) {
    await Deno.writeTextFile(new URL(path, FOLDER), page);
  }
}
