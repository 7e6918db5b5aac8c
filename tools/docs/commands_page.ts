import type { Command, Help, Option } from "commander";
import { buildProgram } from "../../cli/program.ts";
import { SETTINGS_HEADING } from "../../cli/program/options.ts";
import { API_ROUTES } from "../../server/api/api_app.ts";
import {
  COMPONENTS,
  type JsonSchema,
} from "../../resources/schemas/json_schema.ts";
import { SHAPES } from "../../resources/schemas/shapes.ts";
import { markdownTable } from "../../resources/views/table.ts";
import { describeAnomaly } from "../../resources/wording/anomaly.ts";
import {
  describeChainBreak,
  describeDamage,
} from "../../resources/wording/damage_reason.ts";
import {
  describeEffectReason,
  describeEventContent,
} from "../../resources/wording/explanation.ts";
import {
  describeFinding,
  describeUnproven,
} from "../../resources/wording/reconcile.ts";
import {
  describeOrderReason,
  describeUserReason,
} from "../../resources/wording/state_reasons.ts";
import { describeUserVerdict } from "../../resources/wording/user_verdict.ts";

/** What holds for all commands. */
const RULES = `# Commands

\`rampkit COMMAND --help\` prints the same. In a checkout the program is
\`deno task -q rampkit\`, with Deno alone \`deno run -A
jsr:@rampkit/onramp/rampkit\`.

- Answers go to standard output; progress, notes and errors to standard error.
- \`--json\` prints one object, or one object a line (NDJSON) for lists. Fields
  are only ever added: pass over those that you do not know. \`rampkit schema
  NAME\` prints the JSON Schema of a shape, with what each field means.
- A list printed as a table shows the newest 50 and says so; with \`--json\` it is
  all of it, unless \`--limit\` says otherwise.
- Amounts are decimal strings. Times are UTC, ISO 8601. What is not known is
  \`null\`. A window holds its \`--from\` and not its \`--to\`; a day as \`--to\` is
  in it whole.
- Texts come from outside. In JSON, control characters and direction marks are
  escaped, which changes no value; elsewhere they are printed as \`�\`. Ids in
  printed commands are quoted for the shell.
- Narrow terminals leave columns out and say which; through a pipe everything is
  shown. \`NO_COLOR\` is honoured. \`source <(rampkit complete bash)\` completes
  commands and flags in bash; zsh, fish and powershell likewise.

| exit code | meaning |
| --- | --- |
| 0 | fine |
| 1 | it failed, or Ctrl-C or SIGTERM stopped it before its end |
| 2 | wrong usage, or a setting is missing; nothing was done |
| 3 | it worked, and found a disagreement |
| 130 | it ended at once, by a second Ctrl-C or one before it had begun |

They are the same when the reader of a pipe leaves early. Through \`npx\` a shell
sees 130 for every Ctrl-C, because npm ends by it.

**Ctrl-C** ends a command, which says on standard error what was done and what
was not; the ledger stays whole. \`serve\`, \`poll\`, \`console\`, \`sandbox\`,
\`listen\` and \`demo\` run until they are stopped. What was read, imported, pruned,
refolded or replayed stays, and running it again goes on. A month is closed, a
person erased, a release recorded, or nothing is. Backups and \`--output\` leave no
file; an export on standard output ends in a line with \`NOT WHOLE\`, or lacks its
last line, which an import notices. A session may exist at the service; it lapses
after 30 seconds. \`kill -9\` can leave \`FILE.partial\` or \`LEDGER.vacuum\`:
remove it.

**Errors under \`--json\`** are one object on the last line of standard error:
\`rampkit schema error\`. \`error.code\` is \`usage\`, \`not_found\`, \`in_use\`,
\`stopped\`, \`lease_lost\`, \`failed\`, \`unexpected\`, a code of the ledger
(\`busy\`, \`full\`, \`unreachable\`, \`wrong_environment\` …) or of the service
(\`rate_limited\`, \`unauthorized\`, \`timeout\` …). \`faults\` has each rule that an
input breaks, \`service\` what the service answered. Exit code 3, and 1 of
\`doctor\`, \`recover\`, \`webhook replay\` and \`webhook send\` with an answer on
standard output, are no errors: the answer says what was found.

Commands that work on a ledger take \`--database-url\` and \`--environment\`, those
that ask the service also \`--base-url\`; [settings](settings.md) has these and
the variables. They are left out below, and so are \`--json\` and \`--help\`.
`;

/** Flags that the head of the page names. */
const COMMON = [
  "--json",
  "--help",
  "--database-url",
  "--environment",
  "--base-url",
];

/** docs/reference/commands.md: every command, and the codes that they print. */
export function commandsPage(): string {
  const program = buildProgram({
    io: {
      out: () => {},
      err: () => {},
      env: () => undefined,
      columns: 100,
      colour: false,
      now: () => 0,
      signal: new AbortController().signal,
    },
    run: () => () => Promise.resolve(),
  }, { completing: false, json: false });
  const said = new Map<string, string>();
  return [
    RULES,
    ...leavesOf(program, []).flatMap(([path, command]) =>
      commandLines(path, command, said)
    ),
    "## HTTP API",
    "",
    "`serve --api-port` answers what commands of the same name do; " +
    "`GET /openapi.json` describes parameters and answers. What follows a path " +
    "is the token that it takes, and whether its parameters stand in a body.",
    "",
    ...API_ROUTES.map(routeLine),
    "",
    "## Codes",
    "",
    "Reasons and anomalies are a code, the data that it is about, and a " +
    "`message` made of both. Go by the code: the wording may change.",
    "",
    ...Object.entries(CODES).flatMap(([component, says]) =>
      codeLines(component, says)
    ),
  ].join("\n");
}

function routeLine(
  { method, path, summary, scope, body }: typeof API_ROUTES[number],
): string {
  const marks = [scope ?? "no token", ...body === undefined ? [] : ["body"]];
  return `- \`${method} ${path}\` (${marks.join(", ")}): ${sentence(summary)}`;
}

function leavesOf(
  command: Command,
  path: readonly string[],
): [string, Command][] {
  return command.commands.length === 0
    ? [[path.join(" "), command]]
    : command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]));
}

/** @param said What was said of flags so far, and of which command. */
function commandLines(
  path: string,
  command: Command,
  said: Map<string, string>,
): string[] {
  const help = command.createHelp();
  const options = help.visibleOptions(command)
    .filter((option) => !COMMON.includes(option.long ?? ""));
  const rows = [
    ...help.visibleArguments(command).map((argument) =>
      [`<${argument.name()}>`, help.argumentDescription(argument)] as const
    ),
    ...options.map((option) =>
      [option.flags, optionText(help, option)] as const
    ),
  ];
  const words = sentence(command.description());
  const shapes = Object.entries(SHAPES)
    .filter(([, { commands }]) => commands.some((one) => isOf(one, path)))
    .map(([name]) => `\`${name}\``);
  return [
    `## ${path}`,
    "",
    words,
    "",
    ...saidOnce(
      rows.map(([name, text]) => `- \`${name}\`: ${text}`),
      path,
      said,
    ),
    ...(rows.length === 0 ? [] : [""]),
    ...afterLines(command),
    ...(shapes.length === 0 ? [] : [`JSON: ${shapes.join(", ")}.`, ""]),
  ];
}

/** Lines of flags; those that another command has alike are named alone. */
function saidOnce(
  lines: readonly string[],
  path: string,
  said: Map<string, string>,
): string[] {
  const before = Map.groupBy(lines, (line) => said.get(line) ?? path);
  return [...before].flatMap(([other, same]) => {
    if (other === path || same.length < FEW) {
      for (const line of same) said.set(line, path);
      return same;
    }
    const flags = same.map((line) => /`(--[a-z-]+)/.exec(line)?.[1] ?? "");
    return [
      `- ${flags.map((flag) => `\`${flag}\``).join(", ")}: as of \`${other}\``,
    ];
  });
}

/** So many flags are said again rather than looked up. */
const FEW = 4;

/** Whether what prints a shape, `orders export --format ndjson`, is a command. */
function isOf(printing: string, path: string): boolean {
  return printing === path || printing.startsWith(`${path} `);
}

function optionText(help: Help, option: Option): string {
  const text = help.optionDescription(option);
  return option.helpGroupHeading === SETTINGS_HEADING
    ? text.replace(/ \((RAMPKIT_\w+)[^]*$/, " (`$1`)")
    : text;
}

/** What stands below the help: exit codes of its own, and examples. */
function afterLines(command: Command): string[] {
  let text = "";
  command.configureOutput({ writeOut: (part) => text += part })
    .outputHelp();
  const after = text.slice(
    text.indexOf(command.helpInformation()) +
      command.helpInformation().length,
  );
  const [notes = "", examples = ""] = after.split("Example:");
  return [
    ...(notes.trim() === "" ? [] : [notes.trim(), ""]),
    ...(examples.trim() === "" ? [] : [
      "```text",
      ...examples.trim().split("\n").map((line) => line.trim()),
      "```",
      "",
    ]),
  ];
}

/** Components that are codes with data, and what puts one into words. */
const CODES: Readonly<Record<string, (sample: never) => string>> = {
  OrderReason: describeOrderReason,
  Anomaly: describeAnomaly,
  EventContent: describeEventContent,
  EffectReason: describeEffectReason,
  UserVerdict: describeUserVerdict,
  UserReason: describeUserReason,
  ReconcileFinding: (finding) =>
    describeFinding({
      finding,
      differences: [{
        field: "`field`",
        service: "`service`",
        ledger: "`ledger`",
      }],
    } as never),
  UnprovenReason: describeUnproven,
  DamageReason: describeDamage,
  ChainBreak: describeChainBreak,
};

/** The table of the codes of a component, and of those that it includes. */
function codeLines(
  component: string,
  says: (sample: never) => string,
): string[] {
  const schema = COMPONENTS[component] ?? {};
  const rows = alternatives(schema).map((one) => {
    const { code, kind, message: _, ...data } = propertiesOf(one);
    const name = String((code ?? kind ?? {}).const);
    return [
      `\`${name}\``,
      Object.keys(data).map((field) => `\`${field}\``).join(", "),
      cell(says(sampleOf(one, "") as never)),
    ];
  });
  return [
    `### ${component}`,
    "",
    sentence(String(schema.description)),
    "",
    ...markdownTable({ head: ["code", "data", "what it says"], rows }),
    "",
  ];
}

/** The objects that a union is of, one for each code. */
function alternatives(schema: JsonSchema): JsonSchema[] {
  const { $ref, anyOf } = schema as {
    readonly $ref?: string;
    readonly anyOf?: readonly JsonSchema[];
  };
  if ($ref !== undefined) return alternatives(componentOf($ref));
  if (anyOf !== undefined) return anyOf.flatMap(alternatives);
  const { code, kind } = propertiesOf(schema);
  const words = (code ?? kind)?.enum;
  return Array.isArray(words)
    ? words.map((word) => ({
      ...schema,
      properties: {
        ...propertiesOf(schema),
        [code === undefined ? "kind" : "code"]: { const: word },
      },
    }))
    : [schema];
}

function propertiesOf(
  schema: JsonSchema,
): Readonly<Record<string, JsonSchema>> {
  return Object(schema.properties);
}

/** A value of a schema, whose texts are the names of their fields. */
function sampleOf(schema: JsonSchema, name: string): unknown {
  const { $ref, anyOf, items } = schema as {
    readonly $ref?: string;
    readonly anyOf?: readonly JsonSchema[];
    readonly items?: JsonSchema;
  };
  if ($ref !== undefined) return sampleOf(componentOf($ref), name);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (anyOf !== undefined) {
    const open = anyOf.find(({ type, enum: words }) =>
      type === "string" && words === undefined
    );
    return sampleOf(open ?? anyOf[0] ?? {}, name);
  }
  if (items !== undefined) return [sampleOf(items, name)];
  if (schema.type === "boolean") return true;
  if (schema.properties === undefined) return `\`${name}\``;
  return Object.fromEntries(
    Object.entries(propertiesOf(schema)).map(([field, inner]) => [
      field,
      sampleOf(inner, field),
    ]),
  );
}

function componentOf(ref: string): JsonSchema {
  return COMPONENTS[ref.split("/").at(-1) ?? ""] ?? {};
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(begun) ? begun : `${begun}.`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");
}
