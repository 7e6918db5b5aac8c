import type { Command } from "commander";
import { printable } from "../../core/printable.ts";
import {
  LOOK_AT_CHAIN,
  lookLine,
} from "../../resources/operations/witness_operation.ts";
import { readValues } from "../../resources/operations/operation.ts";
import { openWitness } from "../../server/compose/open_witness.ts";
import { EXIT, UsageError } from "../../settings/errors.ts";
import { VARIABLES } from "../../settings/settings.ts";
import {
  createWatcher,
  lookAtOrder,
  type OrderLook,
} from "../../witness/mod.ts";
import type { Cli } from "../program/cli.ts";
import { type Io, jsonLine, line } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../program/options.ts";
import { withLedger } from "../program/with_ledger.ts";

interface WitnessFlags extends SharedFlags {
  readonly since?: string;
}

/** `witness`: ask the partner's own chain nodes what a transaction did. */
export function addWitness(program: Command, cli: Cli): void {
  const command = program.command("witness").argument(
    "[order]",
    "order id; without it, all successes whose transaction is not settled",
  ).summary("ask your own chain nodes whether the crypto arrived")
    .description(
      "ask your own chain nodes what the transaction of an order did, and " +
        "record whatever is new",
    );
  jsonOption(ledgerOptions(command), "one object a line")
    .option(
      "--since <time>",
      "without an order: only orders created since, ISO 8601 (default: thirty days)",
    )
    .addHelpText(
      "after",
      "\nExample:\n  RAMPKIT_CHAINS=chains.json rampkit witness 01KA00000000000000000000",
    )
    .action(
      cli.run((order: string | undefined, flags: WitnessFlags) =>
        look(cli.io, order, flags)
      ),
    );
}

async function look(
  io: Io,
  orderId: string | undefined,
  flags: WitnessFlags,
): Promise<number> {
  const { since } = flags;
  if (since !== undefined && Number.isNaN(Date.parse(since))) {
    throw new UsageError(
      `Wrong --since: ${JSON.stringify(since)} is not a time; use ISO 8601`,
    );
  }
  return await withLedger(io, flags, async (ledger, config) => {
    const source = { config, now: io.now };
    const nodes = await openWitness(source, ledger.environment);
    if (nodes === null) {
      throw new UsageError(
        `Missing setting: no chain nodes are known; set ${VARIABLES.chainsFile}`,
      );
    }
    await ledger.project();
    const parts = { ...nodes, now: io.now };
    const looks = orderId === undefined
      ? await createWatcher({ ledger, ...parts }).once({
        signal: io.signal,
        ...(since === undefined ? {} : { since }),
      })
      : [
        await LOOK_AT_CHAIN.run({
          ledger,
          ...{ nowMs: io.now(), now: io.now, signal: io.signal },
          ...{ service: null, poller: null, onProgress: () => {} },
          ...{ note: () => {}, files: null },
          lookAtChain: (id) => lookAtOrder(ledger, id, parts),
          named: () => "<order>",
        }, readValues(LOOK_AT_CHAIN, () => orderId)) as OrderLook,
      ];
    await ledger.project();
    for (const one of looks) {
      if (flags.json) jsonLine(io, one);
      else line(io, printable(lookLine(one)));
    }
    if (looks.length === 0 && !flags.json) line(io, "Nothing is due.");
    return looks.some(isAgainst) ? EXIT.disagreement : EXIT.fine;
  });
}

/** Whether the chain says something else than the service. */
function isAgainst({ look }: OrderLook): boolean {
  return look !== null && look.final &&
    ["short", "more", "other_recipient_or_asset", "reverted"].includes(
      look.verdict,
    );
}
