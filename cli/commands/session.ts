import { type Command, Option } from "commander";
import { ValidationError } from "../../client/mod.ts";
import { UsageError } from "../exit_codes.ts";
import { jsonLine, line, note } from "../io.ts";
import {
  jsonOption,
  ledgerOptions,
  serviceOptions,
  type SharedFlags,
} from "../options.ts";
import type { Cli } from "../cli.ts";
import { stoppable } from "../stoppable.ts";
import { withService } from "../with_service.ts";

interface SessionFlags extends SharedFlags {
  readonly flowType: "simple" | "simple_full_restrict";
  readonly user?: string;
  readonly commodity?: string;
  readonly network?: string;
  readonly commodityAmount?: string;
  readonly currency?: "USD" | "EUR";
  readonly currencyAmount?: string;
  readonly wallet?: string;
  readonly click?: string;
  readonly reference?: string;
}

/** `session create`: ask the service for a widget session. */
export function addSession(program: Command, cli: Cli): void {
  const session = program.command("session").summary(
    "create widget sessions",
  ).description("widget sessions");
  const command = session.command("create").description(
    "create a session (valid 30 seconds, once) and record what it asked for",
  );
  serviceOptions(jsonOption(ledgerOptions(command), "one object"))
    .addOption(
      new Option("--flow-type <type>", "what the user may change").choices([
        "simple",
        "simple_full_restrict",
      ]).default("simple"),
    )
    .option("--user <id>", "user the session is for")
    .option("--commodity <code>", "asset, for example USDC")
    .option("--network <name>", "network of the asset")
    .option("--commodity-amount <decimal>", "asset amount")
    .addOption(
      new Option("--currency <code>", "fiat currency").choices(["USD", "EUR"]),
    )
    .option("--currency-amount <decimal>", "fiat amount")
    .option("--wallet <address>", "address the asset goes to")
    .option("--click <id>", "click id the widget will be opened with")
    .option("--reference <text>", "your own reference, kept in the ledger")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit session create --commodity POL --network amoy --currency USD --currency-amount 25 --reference basket-17",
    )
    .action(cli.run(async (flags: SessionFlags) => {
      await withService(cli.io, flags, async (ledger, client) => {
        const { signal } = cli.io;
        const asked = wire(flags);
        const created = await stoppable(
          signal,
          () => client.sessions.create(asked, { signal }).catch(usage),
          () =>
            "no answer came; if the service made a session, it lapses after " +
            "30 seconds, and the ledger does not know it",
        );
        await ledger.recordSession({
          session_id: created.sessionId,
          ...(created.requestId === null
            ? {}
            : { request_id: created.requestId }),
          ...asked,
          ...(flags.click === undefined ? {} : { click_id: flags.click }),
          ...(flags.reference === undefined
            ? {}
            : { reference: flags.reference }),
        });
        if (flags.json) jsonLine(cli.io, created);
        else {
          line(
            cli.io,
            `Session ${created.sessionId}: for one opening of the widget, ` +
              "within 30 seconds",
          );
          for (const warning of created.warnings) note(cli.io, warning);
        }
      });
    }));
}

/** What the rules refuse came from the flags, and was not sent. */
function usage(error: unknown): never {
  throw error instanceof ValidationError
    ? new UsageError(error.message)
    : error;
}

function wire(flags: SessionFlags): {
  flow_type: SessionFlags["flowType"];
  user_id?: string;
  commodity?: string;
  network?: string;
  commodity_amount?: string;
  currency?: "USD" | "EUR";
  currency_amount?: string;
  wallet_address?: string;
} {
  return {
    flow_type: flags.flowType,
    ...(flags.user === undefined ? {} : { user_id: flags.user }),
    ...(flags.commodity === undefined ? {} : { commodity: flags.commodity }),
    ...(flags.network === undefined ? {} : { network: flags.network }),
    ...(flags.commodityAmount === undefined
      ? {}
      : { commodity_amount: flags.commodityAmount }),
    ...(flags.currency === undefined ? {} : { currency: flags.currency }),
    ...(flags.currencyAmount === undefined
      ? {}
      : { currency_amount: flags.currencyAmount }),
    ...(flags.wallet === undefined ? {} : { wallet_address: flags.wallet }),
  };
}
