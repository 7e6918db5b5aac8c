import { defined } from "../../core/guards.ts";
import { textLines } from "../../core/lines.ts";
import type { Import } from "../../ledger/mod.ts";
import { flagParam, needed, textParam } from "../../core/settings/params.ts";
import { stoppable } from "../../core/settings/stoppable.ts";
import { shellWord } from "../views/shell_word.ts";
import { counted, fitted } from "../views/text.ts";
import { filesOf } from "./ledger_files.ts";
import { type Operation, operation, type WrittenText } from "./operation.ts";
import { notWritten, OUTPUT } from "./written_text.ts";

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
