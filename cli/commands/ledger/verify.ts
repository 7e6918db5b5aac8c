import type { Command } from "commander";
import { defined } from "../../../core/guards.ts";
import type { Cli } from "../../program/cli.ts";
import { EXIT, UsageError } from "../../../settings/errors.ts";
import { type Io, jsonLine, line } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { stoppable } from "../../../settings/stoppable.ts";
import { verifyStatesBeside } from "../../ledger_file/verify_states_beside.ts";
import { withStoredLedger } from "../../program/with_ledger.ts";
import { progress } from "../../program/progress.ts";
import {
  statesLines,
  type StatesVerificationJson,
  verificationJson,
  verificationLines,
} from "../../../resources/views/verification_view.ts";

interface VerifyFlags extends SharedFlags {
  readonly expect?: string;
  readonly states?: boolean;
}

/** `ledger verify`: the evidence, and with `--states` what follows from it. */
export function addVerify(ledger: Command, cli: Cli): void {
  const command = ledger.command("verify").description(
    "check that no event was altered, removed, inserted or reordered",
  );
  jsonOption(ledgerOptions(command), "one object")
    .option(
      "--expect <count:hash>",
      "what `ledger verify` printed earlier; detects a truncated chain",
    )
    .option(
      "--states",
      "also fold every event from nothing, in a temporary file, and compare every stored state with it",
    )
    .addHelpText(
      "after",
      "\nIt changes nothing. Exit code 3 when something is wrong.\n\nExample:\n  rampkit ledger verify --states",
    )
    .action(cli.run((flags: VerifyFlags) => verify(cli.io, flags)));
}

async function verify(io: Io, flags: VerifyFlags): Promise<number> {
  const expect = flags.expect === undefined
    ? undefined
    : readExpect(flags.expect);
  return await withStoredLedger(io, flags, async (ledger) => {
    const { signal } = io;
    let events = 0;
    const { found, states } = await stoppable(
      signal,
      async () => {
        using bar = progress(io, "events verified", !flags.json);
        const found = await ledger.verify({
          signal,
          onProgress: (count) => bar.at(events = count),
          ...defined({ expect }),
        });
        bar.end();
        const states = flags.states
          ? await verifyStatesBeside(io, ledger, !flags.json)
          : null;
        return { found, states };
      },
      () =>
        `${events} events were looked at and are right, the others were not ` +
        "looked at; nothing was changed",
    );
    const ok = found.ok && (states?.ok ?? true);
    if (flags.json) {
      const json = verificationJson(found);
      if (states === null) jsonLine(io, json);
      else jsonLine<StatesVerificationJson>(io, { ...json, ok, states });
    } else {
      const remote = ledger.driver.location === "remote";
      for (const text of verificationLines(found, remote)) line(io, text);
      if (states !== null) {
        for (const text of statesLines(states, found.erased)) line(io, text);
      }
    }
    return ok ? EXIT.fine : EXIT.disagreement;
    // It is evidence: looking at it must not change it.
  }, true);
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
