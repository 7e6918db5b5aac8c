import type { Command } from "commander";
import { chainPairs } from "../../core/chain/chain_network.ts";
import {
  type AssetJson,
  assetLines,
  witnessLines,
} from "../../resources/views/ledger_view.ts";
import { openWitness } from "../../server/compose/compose_witness.ts";
import { type ConfigFlags, readConfig } from "../../core/settings/config.ts";
import { whyNotAsked } from "../../witness/chain_witness.ts";
import { type Cli, type Io, jsonLine, lines } from "../program/io.ts";
import { jsonOption, settingOption } from "../program/options.ts";

interface AssetsFlags extends Pick<ConfigFlags, "environment"> {
  readonly witness?: true;
  readonly json?: boolean;
}

/** `assets`: what can be sold, and of what the chain can be looked at. */
export function addAssets(program: Command, cli: Cli): void {
  const command = program.command("assets").summary(
    "list the assets, and which of them the chain can be looked at for",
  ).description(
    "list every asset and network that the service documents; with --witness " +
      "also how its transactions can be looked at on the chain, or why not",
  ).option(
    "--witness",
    "how transactions can be looked at, or why not; JSON always says so",
  );
  settingOption(jsonOption(command, "one object a line"), "environment", {
    otherwise: "production",
  })
    .addHelpText("after", "\nExample:\n  rampkit assets --witness")
    .action(cli.run((flags: AssetsFlags) => list(cli.io, flags)));
}

async function list(io: Io, flags: AssetsFlags): Promise<void> {
  const config = readConfig(io.env, { environment: flags.environment });
  const table = config.environment ?? "production";
  const nodes = await openWitness({ config, now: io.now }, table);
  const pairs = chainPairs(table).map((pair): AssetJson => ({
    ...pair,
    notAsked: whyNotAsked(nodes?.chains ?? new Map(), {
      network: pair.network,
      asset: pair.commodity,
    }),
  }));
  if (flags.json) {
    for (const pair of pairs) jsonLine(io, pair);
  } else if (flags.witness) {
    lines(io, witnessLines(pairs, nodes !== null, io.columns));
  } else lines(io, assetLines(pairs, io.columns));
}
