import type { Command } from "commander";
import { CommandError, EXIT, UsageError } from "../exit_codes.ts";
import { jsonLine, line } from "../io.ts";
import { openInput } from "../input.ts";
import { textLines } from "../lines.ts";
import { jsonOption, ledgerOptions, type SharedFlags } from "../options.ts";
import type { Cli } from "../cli.ts";
import { progress } from "../progress.ts";
import { upToDate, withLedger } from "../with_ledger.ts";

/** `ledger verify | stats | refold | export | import | backup`. */
export function addLedger(program: Command, cli: Cli): void {
  const ledger = program.command("ledger").description(
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
  jsonOption(ledgerOptions(command), "one JSON object")
    .option(
      "--expect <count:hash>",
      "a pair that `ledger stats` printed earlier, to see a cut tail",
    )
    .addHelpText(
      "after",
      "\nExit code 3 when something is wrong.\n\nExample:\n  rampkit ledger verify --json",
    )
    .action(cli.run(async (flags: SharedFlags & { expect?: string }) => {
      const expect = flags.expect === undefined
        ? undefined
        : readExpect(flags.expect);
      return await withLedger(cli.io, flags, async (ledger) => {
        await ledger.chain({ signal: cli.io.signal });
        const found = await ledger.verify(
          expect === undefined ? {} : { expect },
        );
        if (flags.json) jsonLine(cli.io, found);
        else if (found.ok) {
          line(cli.io, `Whole: ${found.events} events, chain ${found.hash}`);
          line(cli.io, `Keep elsewhere: ${found.events}:${found.hash}`);
        } else {
          line(
            cli.io,
            `Broken at position ${found.firstBrokenPosition}: ${found.detail}`,
          );
        }
        return found.ok ? EXIT.fine : EXIT.disagreement;
      });
    }));
}

function readExpect(text: string): { count: number; hash: string } {
  const parts = /^(\d+):([0-9a-f]{64})$/.exec(text);
  if (parts?.[1] !== undefined && parts[2] !== undefined) {
    return { count: Number(parts[1]), hash: parts[2] };
  }
  throw new UsageError(
    `Wrong --expect: "${text}" is not COUNT:HASH as \`ledger stats\` prints it`,
  );
}

function addStats(ledger: Command, cli: Cli): void {
  const command = ledger.command("stats").description(
    "how much the ledger holds and how far it is folded",
  );
  jsonOption(ledgerOptions(command), "one JSON object")
    .addHelpText("after", "\nExample:\n  rampkit ledger stats")
    .action(cli.run(async (flags: SharedFlags) => {
      await withLedger(cli.io, flags, async (ledger) => {
        const stats = await ledger.stats();
        if (flags.json) return jsonLine(cli.io, stats);
        const rows: [string, string | number][] = [
          ["Environment", ledger.environment],
          ...Object.entries(stats.events).map((
            [kind, count],
          ): [string, number] => [`  ${kind}`, count]),
          ["Quarantined", stats.quarantined],
          ["Orders", stats.orders],
          ["Users", stats.users],
          ["Position", stats.position],
          ["Not folded", stats.lag],
          ["Chain", `${stats.chain.count}:${stats.chain.hash}`],
        ];
        for (const [label, value] of rows) {
          line(cli.io, `${label.padEnd(22)} ${value}`);
        }
      });
    }));
}

function addRefold(ledger: Command, cli: Cli): void {
  const command = ledger.command("refold").description(
    "fold every event again from nothing, beside the live states, and swap",
  );
  jsonOption(ledgerOptions(command), "one JSON object")
    .option("--dry-run", "say which states would change, and change nothing")
    .addHelpText("after", "\nExample:\n  rampkit ledger refold --dry-run")
    .action(cli.run(async (flags: SharedFlags & { dryRun?: boolean }) => {
      return await withLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        const { position } = await ledger.stats();
        const bar = progress(cli.io, "refolding", !flags.json, position);
        const result = await ledger.refold({
          dryRun: flags.dryRun ?? false,
          signal: cli.io.signal,
          onProgress: ({ position }) => bar.at(position),
        });
        bar.end();
        if (flags.json) jsonLine(cli.io, result);
        else {
          line(
            cli.io,
            `${
              flags.dryRun ? "Would fold" : "Folded"
            } ${result.events} events; ${result.changed} states differ`,
          );
          for (const change of result.changes) {
            line(cli.io, `  ${change.entity} ${change.id}`);
            for (const field of change.fields) {
              line(
                cli.io,
                `    ${field.field}: ${JSON.stringify(field.before)} -> ${
                  JSON.stringify(field.after)
                }`,
              );
            }
          }
        }
        return flags.dryRun && result.changed > 0
          ? EXIT.disagreement
          : EXIT.fine;
      });
    }));
}

function addExport(ledger: Command, cli: Cli): void {
  ledgerOptions(
    ledger.command("export").description(
      "write every event as NDJSON; importing it gives the same ledger",
    ),
  )
    .addHelpText("after", "\nExample:\n  rampkit ledger export > events.ndjson")
    .action(cli.run(async (flags: SharedFlags) => {
      await withLedger(cli.io, flags, async (ledger) => {
        for await (const text of ledger.export()) {
          if (cli.io.signal.aborted) throw new CommandError("Interrupted");
          cli.io.out(text.endsWith("\n") ? text : `${text}\n`);
        }
      });
    }));
}

function addImport(ledger: Command, cli: Cli): void {
  const command = ledger.command("import").argument(
    "<file>",
    "what `ledger export` wrote, or - for standard input",
  ).description("append the events of an export, then fold and chain them");
  jsonOption(ledgerOptions(command), "one JSON object")
    .addHelpText("after", "\nExample:\n  rampkit ledger import events.ndjson")
    .action(cli.run(async (file: string, flags: SharedFlags) => {
      const input = await openInput(file);
      await withLedger(cli.io, flags, async (ledger) => {
        const result = await ledger.import(textLines(input));
        await ledger.project();
        await ledger.chain();
        if (flags.json) jsonLine(cli.io, result);
        else {
          line(
            cli.io,
            `Imported ${result.imported} events; ${result.skipped} were there already`,
          );
        }
      });
    }));
}

function addBackup(ledger: Command, cli: Cli): void {
  const command = ledger.command("backup").argument(
    "<file>",
    "file to write; it must not exist",
  ).description("copy a ledger while it is in use");
  jsonOption(ledgerOptions(command), "one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit ledger backup rampkit-2026-11-20.db",
    )
    .action(cli.run(async (file: string, flags: SharedFlags) => {
      await withLedger(cli.io, flags, async (ledger) => {
        await ledger.backup(file);
        if (flags.json) jsonLine(cli.io, { file });
        else {
          line(
            cli.io,
            `Copied to ${file}; check it with: rampkit ledger verify --database-url file:${file}`,
          );
        }
      });
    }));
}
