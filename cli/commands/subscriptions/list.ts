import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { type Io, jsonLine, line, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { withReadLedger } from "../../program/with_ledger.ts";
import { subscriptionList } from "../../../resources/queries/subscriptions.ts";
import { nextCommand, operands } from "../../../resources/views/shell_word.ts";
import { drawTable } from "../../../resources/views/table.ts";

/** `subscriptions list`. */
export function addList(subscriptions: Command, cli: Cli): void {
  const command = subscriptions.command("list").description(
    "how far each subscription is, and its dead letters",
  );
  jsonOption(ledgerOptions(command), "one object a line")
    .addHelpText("after", "\nExample:\n  rampkit subscriptions list")
    .action(cli.run((flags: SharedFlags) => list(cli.io, flags)));
}

async function list(io: Io, flags: SharedFlags): Promise<void> {
  await withReadLedger(io, flags, async (ledger) => {
    const all = await subscriptionList(ledger);
    if (flags.json) {
      for (const one of all) jsonLine(io, one);
      return;
    }
    if (all.length === 0) return line(io, "No subscriptions");
    lines(io, [
      drawTable(
        [
          { title: "Subscription", whole: true },
          { title: "Takes", spare: 1 },
          { title: "Behind", align: "right" },
          { title: "Retrying", align: "right" },
          { title: "Waiting", align: "right" },
          { title: "Dead", align: "right" },
        ],
        all.map((one) => [
          one.name,
          one.on.join(" "),
          ...[one.behind, one.retrying, one.waiting, one.dead].map(String),
        ]),
        io.columns,
      ),
    ]);
    const dead = all.flatMap(({ deadLetters }) => deadLetters);
    for (const { name, target } of all) {
      if (target === null || target.offAt === null) continue;
      line(io);
      line(
        io,
        `${name}: switched off since ${target.offAt}, because the target ` +
          target.offReason,
        2,
      );
      line(io, "  when it wants webhooks again:");
      lines(io, [
        `  ${nextCommand(flags, "subscriptions resume", operands(name))}`,
      ]);
    }
    for (const { name, retrying, lastError } of all) {
      if (lastError === null) continue;
      line(io);
      line(io, `${name}: ${retrying} sent again; one failed: ${lastError}`, 2);
    }
    for (const { name, transition, attempts, error } of dead) {
      line(io);
      line(
        io,
        `${name}: ${transition.key} failed ${attempts} times: ${error}`,
        2,
      );
      line(io, "  mend what fails, then:");
      lines(io, [
        `  ${nextCommand(flags, "subscriptions retry", operands(name))}`,
      ]);
    }
  });
}
