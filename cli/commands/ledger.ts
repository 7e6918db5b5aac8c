import type { Command } from "commander";
import { backUp } from "../backup.ts";
import { counted } from "../counted.ts";
import { EXIT, UsageError } from "../exit_codes.ts";
import { type Io, jsonLine, line, lines, note } from "../io.ts";
import { openInput } from "../input.ts";
import { labelled } from "../labelled.ts";
import { textLines } from "../lines.ts";
import {
  jsonOption,
  ledgerOptions,
  outputOption,
  type SharedFlags,
} from "../options.ts";
import { openOutput } from "../output.ts";
import type { Cli } from "../cli.ts";
import { progress } from "../progress.ts";
import { stoppable, untilStopped } from "../stoppable.ts";
import {
  upToDate,
  withLedger,
  withReadLedger,
  withStoredLedger,
} from "../with_ledger.ts";

/** `ledger verify | stats | refold | export | import | backup`. */
export function addLedger(program: Command, cli: Cli): void {
  const ledger = program.command("ledger").summary(
    "verify, copy, export and refold the ledger",
  ).description(
    "the evidence behind the states: check it, copy it, fold it again",
  );
  addVerify(ledger, cli);
  addStats(ledger, cli);
  addRefold(ledger, cli);
  addExport(ledger, cli);
  addImport(ledger, cli);
  addBackup(ledger, cli);
}

function addVerify(ledger: Command, cli: Cli): void {
  const command = ledger.command("verify").description(
    "check that no event was altered, removed, inserted or reordered",
  );
  jsonOption(ledgerOptions(command), "one object")
    .option(
      "--expect <count:hash>",
      "what `ledger verify` printed earlier, to see a cut tail",
    )
    .addHelpText(
      "after",
      "\nExit code 3 when something is wrong.\n\nExample:\n  rampkit ledger verify --json",
    )
    .action(cli.run((flags: VerifyFlags) => verify(cli.io, flags)));
}

interface VerifyFlags extends SharedFlags {
  readonly expect?: string;
}

async function verify(io: Io, flags: VerifyFlags): Promise<number> {
  const expect = flags.expect === undefined
    ? undefined
    : readExpect(flags.expect);
  return await withStoredLedger(io, flags, async (ledger) => {
    const { signal } = io;
    using bar = progress(io, "events verified", !flags.json);
    let events = 0;
    const found = await stoppable(
      signal,
      async () => {
        await ledger.chain({ signal });
        return await ledger.verify({
          signal,
          onProgress: (count) => bar.at(events = count),
          ...(expect === undefined ? {} : { expect }),
        });
      },
      () =>
        `${events} events were looked at and are right, the others were not ` +
        "looked at; nothing was changed",
    );
    bar.end();
    if (flags.json) jsonLine(io, found);
    else if (found.ok) {
      line(io, `Whole: ${counted(found.events, "event")}`);
      line(
        io,
        "Keep this elsewhere; --expect holds a later ledger against it:",
      );
      line(io, `  ${found.chained}:${found.hash}`);
    } else {
      line(
        io,
        `Broken at position ${found.firstBrokenPosition}: ${found.detail}`,
      );
      line(io, "Change nothing; RUNBOOK.md says what to do");
    }
    return found.ok ? EXIT.fine : EXIT.disagreement;
  });
}

function readExpect(text: string): { count: number; hash: string } {
  const parts = /^(\d+):([0-9a-f]{64})$/.exec(text);
  if (parts?.[1] !== undefined && parts[2] !== undefined) {
    return { count: Number(parts[1]), hash: parts[2] };
  }
  throw new UsageError(
    `Wrong --expect: "${text}" is not COUNT:HASH as \`ledger verify\` prints it`,
  );
}

function addStats(ledger: Command, cli: Cli): void {
  const command = ledger.command("stats").description(
    "how much the ledger holds and how far it is folded",
  );
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText("after", "\nExample:\n  rampkit ledger stats")
    .action(cli.run(async (flags: SharedFlags) => {
      await withReadLedger(cli.io, flags, async (ledger) => {
        const stats = await ledger.stats();
        if (flags.json) return jsonLine(cli.io, stats);
        const kinds = Object.entries(stats.events);
        const events = kinds.reduce((sum, [, count]) => sum + count, 0);
        const rows: [string, string | number][] = [
          ["Environment", ledger.environment],
          ["Events", events],
          ...kinds.map(([kind, count]): [string, number] => [
            `  ${kind}`,
            count,
          ]),
          ["Quarantined", `${stats.quarantined} webhooks`],
          ["Orders", stats.orders],
          ["Users", stats.users],
          ["Last position", stats.position],
          ["Not folded", `${stats.lag} events`],
          ["Chain", `${stats.chain.count}:${stats.chain.hash}`],
        ];
        lines(
          cli.io,
          labelled(
            rows.map(([label, value]) => [label, String(value)]),
            cli.io.columns,
            23,
          ),
        );
      });
    }));
}

function addRefold(ledger: Command, cli: Cli): void {
  const command = ledger.command("refold").description(
    "fold every event again from nothing, then swap the states in one moment",
  );
  jsonOption(ledgerOptions(command), "one object")
    .option("--dry-run", "say which states would change, and change nothing")
    .addHelpText(
      "after",
      "\nExit code 3 when a dry run finds states that would change.\n\nExample:\n  rampkit ledger refold --dry-run",
    )
    .action(cli.run((flags: RefoldFlags) => refold(cli.io, flags)));
}

interface RefoldFlags extends SharedFlags {
  readonly dryRun?: boolean;
}

async function refold(io: Io, flags: RefoldFlags): Promise<number> {
  const dryRun = flags.dryRun ?? false;
  return await withReadLedger(io, flags, async (ledger) => {
    const { signal } = io;
    const result = await stoppable(
      signal,
      async () => {
        await upToDate(ledger, io);
        const { position } = await ledger.stats();
        using bar = progress(io, "events folded", !flags.json, position);
        const result = await ledger.refold({
          dryRun,
          signal,
          onProgress: ({ position }) => bar.at(position),
        });
        bar.end();
        return result;
      },
      () =>
        dryRun
          ? "the states are as they were"
          : "readers see whole states, as ever; run it again and it goes on " +
            "where it stopped",
    );
    if (flags.json) jsonLine(io, result);
    else {
      line(
        io,
        `${dryRun ? "Would fold" : "Folded"} ${result.events} events; ` +
          `${result.changed} orders and users ${
            dryRun ? "would change" : "changed"
          }`,
      );
      for (const change of result.changes) {
        line(io, `  ${change.entity} ${change.id}`);
        for (const { field, before, after } of change.fields) {
          const [was, is] = [JSON.stringify(before), JSON.stringify(after)];
          line(io, `    ${field}: ${was} -> ${is}`, 6);
        }
      }
      const more = result.changed - result.changes.length;
      if (more > 0) line(io, `  and ${more} more`);
    }
    return dryRun && result.changed > 0 ? EXIT.disagreement : EXIT.fine;
  });
}

function addExport(ledger: Command, cli: Cli): void {
  outputOption(ledgerOptions(
    ledger.command("export").description(
      "write every event as NDJSON; importing it gives the same ledger",
    ),
  ))
    .addHelpText(
      "after",
      "\nExample:\n  rampkit ledger export --output events.ndjson",
    )
    .action(cli.run((flags: ExportFlags) => exportEvents(cli.io, flags)));
}

interface ExportFlags extends SharedFlags {
  readonly output?: string;
}

async function exportEvents(io: Io, flags: ExportFlags): Promise<void> {
  await withStoredLedger(io, flags, async (ledger) => {
    using output = openOutput(io, flags.output);
    // The first line and the last are no events.
    let lines = 0;
    const events = () => Math.max(lines - 1, 0);
    await stoppable(
      io.signal,
      async () => {
        for await (const text of untilStopped(ledger.export(), io.signal)) {
          output.write(`${text}\n`);
          lines++;
        }
        output.finish();
      },
      () =>
        `after ${events()} events; ` +
        (flags.output === undefined
          ? "the output has no last line, so an import will say that it is cut"
          : `${flags.output} was not written`),
    );
    if (flags.output !== undefined) {
      note(io, `Wrote ${lines - 2} events to ${flags.output}`);
    }
  });
}

function addImport(ledger: Command, cli: Cli): void {
  const command = ledger.command("import").argument(
    "<file>",
    "what `ledger export` wrote, or - for standard input",
  ).description("append the events of an export, then fold and chain them");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText("after", "\nExample:\n  rampkit ledger import events.ndjson")
    .action(
      cli.run((file: string, flags: SharedFlags) =>
        importEvents(cli.io, file, flags)
      ),
    );
}

async function importEvents(
  io: Io,
  file: string,
  flags: SharedFlags,
): Promise<void> {
  const { signal } = io;
  const input = await openInput(file, signal);
  await withLedger(io, flags, async (ledger) => {
    const { position } = await ledger.stats();
    using bar = progress(io, "events read", !flags.json);
    let read = 0;
    const lines = async function* () {
      for await (const text of textLines(input)) {
        signal.throwIfAborted();
        yield text;
        bar.at(++read);
      }
    };
    let imported = false;
    const result = await stoppable(signal, async () => {
      const result = await ledger.import(lines());
      imported = true;
      bar.end();
      await ledger.project({ signal });
      await ledger.chain({ signal });
      return result;
    }, async () => {
      const after = (await ledger.stats()).position;
      return imported
        ? `all events are imported, ${await ledger
          .lag()} are not folded yet; ` +
          "the next command that reads goes on"
        : `${after - position} events are imported and stay; import the same ` +
          "file again for the others";
    });
    if (flags.json) jsonLine(io, result);
    else {
      line(
        io,
        `Imported ${
          counted(result.imported, "event")
        }; ${result.skipped} were there already`,
      );
    }
  });
}

function addBackup(ledger: Command, cli: Cli): void {
  const command = ledger.command("backup").argument(
    "<file>",
    "file to write; it must not exist",
  ).description("copy a ledger while it is in use");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit ledger backup rampkit-2026-11-20.db",
    )
    .action(cli.run(async (file: string, flags: SharedFlags) => {
      await backUp(cli.io, flags, file);
      if (flags.json) jsonLine(cli.io, { file });
      else {
        line(cli.io, `Copied to ${file}; check the copy with:`);
        lines(cli.io, [
          `  rampkit ledger verify --database-url file:${file}`,
        ]);
      }
    }));
}
