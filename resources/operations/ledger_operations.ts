import { defined } from "../../core/guards.ts";
import { printable, textLines } from "../../core/text.ts";
import { UsageError } from "../../core/settings/errors.ts";
import {
  flagParam,
  needed,
  type Param,
  textParam,
} from "../../core/settings/params.ts";
import {
  chainStateJson,
  type LedgerStatsJson,
  ledgerStatsJson,
  serviceStatus,
} from "../queries/service_status.ts";
import { counted, fitted, labelled, shellWord, wrap } from "../views/text.ts";
import {
  statesLines,
  verificationJson,
  verificationLines,
} from "../views/ledger_view.ts";
import {
  filesOf,
  notWritten,
  type Operation,
  operation,
  type OperationContext,
  OUTPUT,
  type WrittenText,
} from "./operation.ts";
import type { Import } from "../../ledger/mod.ts";
import { stoppable } from "../../core/settings/values.ts";

/** `ledger stats`. */
export const LEDGER_STATS: Operation = operation({
  command: "ledger stats",
  path: "/v1/stats",
  scope: "read",
  operationId: "getStats",
  summary: "Show how much the ledger holds and how far it is folded",
  description:
    "It counts every row, which takes a second or more where there " +
    "are millions: do not ask for it often.",
  params: {},
  result: {
    schema: "LedgerStats",
    description: "How much there is of each kind",
  },
  run: ({ ledger }) => ledgerStatsJson(ledger),
  says: (stats, _, { columns }) => labelled(rows(stats), columns, 23),
});

function rows(stats: LedgerStatsJson): [string, string | null][] {
  const kinds = Object.entries(stats.events);
  const events = kinds.reduce((sum, [, count]) => sum + count, 0);
  const { chain } = stats;
  return [
    ["Environment", stats.environment],
    ["Events", `${events}`],
    ...kinds.map((
      [kind, count],
    ): [string, string] => [`  ${kind}`, `${count}`]),
    ["Quarantined", `${stats.quarantined} webhooks`],
    ["Orders", `${stats.orders}`],
    ["Users", `${stats.users}`],
    ["Last position", `${stats.position}`],
    ["Not folded", `${stats.lag} events`],
    ["Chain", `${chain.count}:${chain.hash}`],
    ["Chain broken", chain.broken],
  ];
}

/** How everything is: `doctor` looks at the settings as well. */
export const STATUS: Operation = operation({
  command: null,
  onlyRequest: "`doctor` looks at the settings as well, and needs no ledger.",
  path: "/v1/status",
  scope: "read",
  operationId: "getStatus",
  summary: "Show the health of webhook delivery, polling and all else",
  description: "What `doctor` finds, and the figures behind it. `ok` is " +
    "false when a check fails; docs/reference/health.md explains its `code`.",
  params: {},
  result: {
    schema: "ServiceStatus",
    description: "Delivery, polling and checks",
  },
  run: ({ ledger, nowMs, look }) => serviceStatus(ledger, nowMs, look),
});

/** The head of the evidence chain. */
export const EVIDENCE: Operation = operation({
  command: null,
  onlyRequest: "`ledger verify` gives it, once everything was looked at.",
  path: "/v1/evidence",
  scope: "read",
  operationId: "getEvidence",
  summary: "Head of the evidence chain: keep it elsewhere",
  description: "`ledger verify --expect EVENTS:HASH` compares with it.",
  params: {},
  result: { schema: "ChainState", description: "How far the chain reaches" },
  run: async ({ ledger }) => chainStateJson(await ledger.evidence()),
});

/** What a chain is compared with. */
const EXPECTED_HEAD: Param<{ readonly count: number; readonly hash: string }> =
  {
    description: "What `ledger verify` printed earlier; detects a truncated " +
      "chain",
    schema: { type: "string", pattern: "^\\d+:[0-9a-f]{64}$" },
    read: (name, text) => {
      const [, count, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
      if (count !== undefined && hash !== undefined) {
        return { count: Number(count), hash };
      }
      throw new UsageError(
        `Wrong ${name}: "${text}" is not COUNT:HASH as \`ledger verify\` ` +
          "prints it",
      );
    },
  };

/** `ledger verify`: the evidence, and with `--states` what follows from it. */
export const VERIFY: Operation = operation({
  command: "ledger verify",
  path: null,
  onlyCommand: "Evidence is worth little from the process that keeps the " +
    "ledger; a request gives the head to compare with.",
  scope: "read",
  operationId: "verifyLedger",
  summary: "Check that no event was altered, removed, inserted or reordered",
  description: "It changes nothing.",
  examples: ["--states"],
  params: {
    expect: { ...EXPECTED_HEAD, operand: "<count:hash>" },
    states: flagParam(
      "Also fold every event from nothing, in a temporary file, and compare " +
        "every stored state with it",
    ),
  },
  result: {
    schema: "Verification",
    description: "Whether everything verifies",
    exitCodes: "Exit code 3 when something is wrong.",
  },
  opens: "unchanged",
  counts: "events verified",
  stopped: (events) =>
    `${events} events were looked at and are right, the others were not ` +
    "looked at; nothing was changed",
  run: async (context, { expect, states = false }) => {
    const { ledger, signal, onProgress } = context;
    const found = await ledger.verify({
      signal,
      onProgress: (count) => onProgress(count),
      ...defined({ expect }),
    });
    const json = verificationJson(found);
    if (!states) return json;
    const compared = await filesOf(context).compareStates();
    return { ...json, ok: found.ok && compared.ok, states: compared };
  },
  exit: ({ ok }) => ok ? "fine" : "disagreement",
  says: (found, _, { columns, remote }) =>
    fitted(
      columns,
      ...verificationLines(found, remote),
      ...("states" in found ? statesLines(found.states, found.erased) : []),
    ),
});

/** `ledger refold`. */
export const REFOLD: Operation = operation({
  command: "ledger refold",
  path: null,
  onlyCommand: "It works for minutes, and `serve` does it by itself where a " +
    "new version needs it.",
  scope: "operate",
  operationId: "refoldLedger",
  summary: "Fold all events again from the start, then swap the states in at " +
    "once",
  examples: ["--dry-run"],
  params: {
    dryRun: flagParam("Say which states would change, and change nothing"),
  },
  result: {
    schema: "Refold",
    description: "What changed",
    exitCodes: "Exit code 3 when a dry run finds states that would change.",
  },
  counts: "events folded",
  stopped: (_, { dryRun = false }) =>
    dryRun
      ? "the states are as they were"
      : "readers see whole states, as ever; run it again and it goes on " +
        "where it stopped",
  run: async ({ ledger, signal, onProgress }, { dryRun = false }) => {
    // Folding what waits would swap the states of an older version first.
    const { position: total } = await ledger.stats();
    const result = await ledger.refold({
      dryRun,
      signal,
      onProgress: (position) => onProgress(position, total),
    });
    if (!dryRun) await ledger.project({ signal });
    return result;
  },
  exit: ({ changed }, { dryRun = false }) =>
    dryRun && changed > 0 ? "disagreement" : "fine",
  says: ({ events, changed, changes }, { dryRun = false }, { columns }) => [
    ...fitted(
      columns,
      `${dryRun ? "Would fold" : "Folded"} ${events} events; ${changed} ` +
        `orders and users ${dryRun ? "would change" : "changed"}`,
    ),
    ...changes.flatMap(({ entity, id, fields }) => [
      ...fitted(columns, `  ${entity} ${id}`),
      ...fields.map(({ field, before, after }) => {
        const [was, is] = [JSON.stringify(before), JSON.stringify(after)];
        return wrap(printable(`    ${field}: ${was} -> ${is}`), columns, 6);
      }),
    ]),
    ...(changed > changes.length
      ? [`  and ${changed - changes.length} more`]
      : []),
  ],
});

/** How many bodies are gone, and how many that are as old stay. */
export interface PruneJson {
  /** Bodies of events before this were meant, UTC ISO 8601. */
  readonly before: string;
  /** Bodies that are gone. */
  readonly pruned: number;
  /** Bodies that are as old and stay. */
  readonly left: number;
  /** Whether the freed pages of the file were overwritten. */
  readonly cleaned: boolean;
}

const DAY_MS = 24 * 3_600_000;

/** Days as `400d`. */
const DAYS: Param<number> = {
  description: "Delete bodies recorded longer ago than this, for example 400d",
  schema: { type: "string", pattern: "^[1-9]\\d{0,4}d$" },
  read: (name, text) => {
    const [, number] = /^([1-9]\d{0,4})d$/.exec(text) ?? [];
    if (number !== undefined) return Number(number);
    throw new UsageError(
      `Wrong ${name}: "${text}" is not a number of days; write for example ` +
        "400d",
    );
  },
};

/** Bodies that stay however old they are. */
const STAYING = "the latest reading of each user, and what belongs to orders " +
  "that are under way or whose refund is due";

/** `ledger prune`. */
export const PRUNE: Operation = operation({
  command: "ledger prune",
  path: null,
  onlyCommand: "It cannot be undone, and writes the file of the ledger anew.",
  scope: "operate",
  operationId: "pruneBodies",
  summary: "Delete the bodies of old events; states, books and ids stay",
  description: "It can be stopped, and continues where it stopped. It keeps " +
    `${STAYING}. Earlier backups and exports still hold the bodies.`,
  examples: ["--bodies-older-than 400d"],
  params: {
    bodiesOlderThan: { ...needed(DAYS), operand: "<days>" },
  },
  result: { schema: "Pruning", description: "How many bodies were deleted" },
  folds: true,
  counts: "bodies pruned",
  stopped: () =>
    "what was pruned is; run it again and it goes on where it stopped",
  confirms: async (context, { bodiesOlderThan }) => {
    const before = daysAgo(context, bodiesOlderThan);
    const old = await context.ledger.erasures.countOldBodies(before);
    if (old === 0) return null;
    const told = `${bodies(old)} recorded before ${before}`;
    return {
      shows: [],
      question: `${told}: delete them, except ${STAYING}? It cannot be ` +
        "undone. Type yes: ",
      instead: null,
      refusal: `Nothing was pruned: add --yes to delete ${told}, except ` +
        STAYING,
    };
  },
  run: async (context, { bodiesOlderThan }): Promise<PruneJson> => {
    const { ledger, signal, onProgress, note } = context;
    const before = daysAgo(context, bodiesOlderThan);
    const old = await ledger.erasures.countOldBodies(before);
    const done = await ledger.erasures.prune(before, {
      signal,
      onProgress: (pruned) => onProgress(pruned, old),
    });
    await ledger.project({ signal });
    if (done.pruned === 0) return { before, ...done, cleaned: false };
    note("Writing the file anew, so that no page holds what was pruned ...");
    return { before, ...done, cleaned: await ledger.erasures.clean() };
  },
  says: ({ before, pruned, left, cleaned }, _, { columns }) =>
    pruned + left === 0
      ? `Nothing to prune: no body was recorded before ${before}`
      : labelled([
        ["Pruned", `${bodies(pruned)} recorded before ${before}`],
        ["Left", left === 0 ? null : `${left} as old: ${STAYING}`],
        [
          "File",
          pruned === 0
            ? null
            : cleaned
            ? "written anew, its log emptied"
            : "on a server: see docs/operate.md, A person asks to be erased",
        ],
      ], columns),
});

function daysAgo({ nowMs }: OperationContext, days: number): string {
  return new Date(nowMs - days * DAY_MS).toISOString();
}

function bodies(count: number): string {
  return `${count} ${count === 1 ? "body" : "bodies"}`;
}

/** How a line about an erasure begins; it is no event. */
const ERASURE_LINE = `{"erasure":`;

/** An export, and how far it is. */
interface LedgerExport extends WrittenText {
  /** How many lines were written, but those of erasures. */
  readonly lines: () => number;
}

const BESIDE_FILES = "It works on files beside the command.";

/** `ledger export`. */
export const EXPORT_LEDGER: Operation = operation({
  command: "ledger export",
  path: null,
  onlyCommand: "It holds all that is known of every person; a request gives " +
    "the head of the chain.",
  scope: "operate",
  operationId: "exportLedger",
  summary: "Write every event as NDJSON; importing it gives the same ledger",
  description: "With --move it writes the whole ledger, with what is told, " +
    "sent and still owed: stop serve first, import it with --move into an " +
    "empty ledger, and never use the old one again",
  examples: ["--output events.ndjson", "--move --output moved.ndjson"],
  params: {
    output: OUTPUT,
    move: flagParam(
      "Write everything that the ledger holds, to go on elsewhere",
    ),
  },
  result: {
    schema: null,
    description: "Every event",
    text: { "application/x-ndjson": "One ExportedLine a line" },
  },
  holds: ({ move = false }) => move ? "alone" : undefined,
  stopped: (lines, { output, move = false }) =>
    `after ${lines} ${move ? "lines" : "events"}; ` +
    notWritten(
      { ...defined({ output }) },
      "the output has no last line, so an import will say that it is cut",
    ),
  run: async (context, { move = false }): Promise<LedgerExport> => {
    const { ledger, onProgress } = context;
    // What processes that were killed have left would stay behind.
    if (move) await filesOf(context).drain();
    let lines = 0;
    const parts = async function* () {
      for await (const text of move ? ledger.exportMoved() : ledger.export()) {
        yield `${text}\n`;
        if (text.startsWith(ERASURE_LINE)) continue;
        onProgress(lines++);
      }
    };
    return {
      parts: parts(),
      mediaType: "application/x-ndjson",
      lines: () => lines,
    };
  },
  notes: ({ lines }, { output, move = false }) =>
    output === undefined ? [] : move
      ? [
        `Wrote the ledger to ${output}; import it with --move into an empty ` +
        "one, and never use this one again",
      ]
      // The first and the last line are not events.
      : [`Wrote ${lines() - 2} events to ${output}`],
});

/** `ledger import`. */
export const IMPORT_LEDGER: Operation = operation({
  command: "ledger import",
  path: null,
  onlyCommand: BESIDE_FILES,
  scope: "operate",
  operationId: "importLedger",
  summary: "Append the events of an export, then fold and chain them",
  description: "With --move the ledger becomes the one that `ledger export " +
    "--move` wrote: it has to be empty, and nobody may use it meanwhile",
  examples: ["events.ndjson", "moved.ndjson --move"],
  params: {
    file: {
      ...needed(
        textParam("What `ledger export` wrote, or - for standard input"),
      ),
      place: "<file>",
      isFile: true as const,
    },
    move: flagParam("The file is a whole ledger, of `ledger export --move`"),
  },
  result: { schema: "Imported", description: "How many are new" },
  opens: "begins",
  holds: ({ move = false }) => move ? "alone" : "shared",
  counts: "lines read",
  run: async (context, { file, move = false }): Promise<Import> => {
    const { ledger, signal, onProgress } = context;
    let read = 0;
    const lines = async function* () {
      for await (const text of textLines(filesOf(context).read(file))) {
        signal.throwIfAborted();
        yield text;
        onProgress(++read);
      }
    };
    if (move) {
      return await stoppable(
        signal,
        async () => {
          const imported = await ledger.importMoved(lines());
          return { imported, skipped: 0 };
        },
        () =>
          "the ledger is not whole, and nothing uses it; import the same file " +
          "again, which begins anew",
      );
    }
    const { position } = await ledger.stats();
    let imported = false;
    return await stoppable(signal, async () => {
      const result = await ledger.import(lines());
      imported = true;
      await ledger.project({ signal });
      return result;
    }, async () => {
      const after = (await ledger.stats()).position;
      return imported
        ? `all events are imported, ${await ledger.lag()} are not folded ` +
          "yet; the next command that reads goes on"
        : `${after - position} events are imported and stay; import the same ` +
          "file again for the others";
    });
  },
  says: ({ imported, skipped }, { move = false }, { columns }) =>
    fitted(
      columns,
      move
        ? `Moved in ${counted(imported, "event")}, with all that is owed; ` +
          "start serve on this ledger, and never on the old one again"
        : `Imported ${
          counted(imported, "event")
        }; ${skipped} were there already`,
    ),
});

/** Where the copy of the ledger is. */
export interface Backup {
  /** Path of the copy. */
  readonly file: string;
}

/** `ledger backup`. */
export const BACK_UP: Operation = operation({
  command: "ledger backup",
  path: null,
  onlyCommand: "The copy is a file beside the command; `serve --backup-to` " +
    "makes them regularly.",
  scope: "operate",
  operationId: "backUpLedger",
  summary: "Copy a ledger while it is in use",
  examples: ["rampkit-2026-11-20.db"],
  params: {
    file: {
      ...needed(textParam("File to write; it must not exist")),
      place: "<file>",
    },
  },
  result: { schema: "Backup", description: "Where the copy is" },
  opens: "closed",
  counts: "MB copied",
  run: async (context, { file }): Promise<Backup> => {
    await filesOf(context).backUp(file, context.onProgress);
    return { file };
  },
  says: ({ file }, _, { columns }) => [
    ...fitted(columns, `Copied to ${file}; check the copy with:`),
    `  rampkit ledger verify --database-url ${shellWord(`file:${file}`)}`,
  ],
});

/** `ledger restore`. */
export const RESTORE: Operation = operation({
  command: "ledger restore",
  path: null,
  onlyCommand: "Nobody may use the ledger meanwhile, and `serve` does.",
  scope: "operate",
  operationId: "restoreLedger",
  summary: "Replace the ledger with a copy, and keep the old file",
  description: "Stop serve first. The copy is verified before it is used",
  examples: ["rampkit-2026-11-20.db"],
  params: {
    file: {
      ...needed(
        textParam(
          "What `ledger backup` wrote, or another copy of a closed ledger",
        ),
      ),
      place: "<file>",
    },
  },
  result: { schema: "Restored", description: "What was restored" },
  opens: "closed",
  stopped: () => "the ledger is as it was",
  run: (context, { file }) => filesOf(context).restore(file),
  says: ({ file, events, environment, previousFile }, _, { columns }) => [
    ...fitted(
      columns,
      `Restored ${file}: ${counted(events, "event")}, environment ` +
        environment,
      ...(previousFile === null ? [] : [`The old ledger is ${previousFile}`]),
      "Start serve, then read again what came since the copy:",
    ),
    "  rampkit recover --from WHEN-IT-WAS-COPIED",
  ],
});
