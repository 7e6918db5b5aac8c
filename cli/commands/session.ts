import { type Command, Option } from "commander";
import { defined } from "../../core/guards.ts";
import { sessionValidityMs, ValidationError } from "../../client/mod.ts";
import type { SessionJson } from "../../resources/views/session_view.ts";
import {
  refusedExpectation,
  type TermFlags,
  termOptions,
  termsOf,
} from "./expected_terms.ts";
import { UsageError } from "../../settings/errors.ts";
import { jsonLine, line, note } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  serviceOptions,
  type SharedFlags,
} from "../program/options.ts";
import type { Cli } from "../program/cli.ts";
import { stoppable } from "../../settings/stoppable.ts";
import { withService } from "../program/with_service.ts";

/** What the flags of stated terms begin with. */
const EXPECTED = "expect-";

interface SessionFlags extends SharedFlags, TermFlags {
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
  readonly smartContract?: boolean;
  readonly allowUnlistedAssets?: boolean;
  readonly extra?: Readonly<Record<string, string>>;
  readonly validFor?: number;
}

/** `session create`: ask the service for a widget session. */
export function addSession(program: Command, cli: Cli): void {
  const session = program.command("session").summary(
    "create widget sessions",
  ).description("widget sessions");
  const command = session.command("create").description(
    "create a session (valid once, for 30 seconds) and record its request",
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
    .option("--currency <code>", "fiat currency: USD or EUR", listedCurrency)
    .option("--currency-amount <decimal>", "fiat amount")
    .option("--wallet <address>", "address the asset goes to")
    .option(
      "--click <id>",
      "click id for the widget; one is made where it is left out",
    )
    .option("--reference <text>", "your own reference; it names one purchase")
    .option(
      "--smart-contract",
      "for a smart contract: simple_full_restrict then needs no wallet and no amount",
    )
    .option(
      "--allow-unlisted-assets",
      "allow an asset that this version does not list",
    )
    .option(
      "--extra <name=value>",
      "a field, or a value of one, that this version does not know; may be repeated",
      extraField,
    );
  termOptions(command, EXPECTED)
    .addHelpText(
      "after",
      "\nExample:\n  rampkit session create --commodity POL --network amoy --currency USD --currency-amount 25 --reference basket-17",
    )
    .action(cli.run(async (flags: SessionFlags) => {
      await withService(cli.io, flags, async (ledger, client) => {
        const { signal } = cli.io;
        const request = sessionRequest(flags);
        const created = await stoppable(
          signal,
          () =>
            client.sessions.create(request, {
              signal,
              smartContract: flags.smartContract ?? false,
              extra: flags.extra ?? {},
            }).catch(usage),
          () =>
            "no answer came; if the service made a session, it lapses after " +
            "30 seconds, and the ledger does not know it",
        );
        const clickId = flags.click ?? crypto.randomUUID();
        await ledger.recordSession(defined({
          session_id: created.sessionId,
          request_id: created.requestId ?? undefined,
          ...request,
          ...flags.extra,
          click_id: clickId,
          reference: flags.reference,
          valid_for_ms: flags.validFor,
          expected: termsOf(flags, EXPECTED),
        })).catch(refusedExpectation(EXPECTED));
        const { sessionId, requestId, warnings } = created;
        const json: SessionJson = {
          sessionId,
          requestId,
          clickId,
          validForMs: sessionValidityMs,
          warnings,
        };
        if (flags.json) jsonLine(cli.io, json);
        else {
          line(
            cli.io,
            `Session ${created.sessionId}: for one opening of the widget, ` +
              `within 30 seconds, with the click id ${clickId}`,
          );
          for (const warning of created.warnings) note(cli.io, warning);
        }
      });
    }));
}

function listedCurrency(code: string): "USD" | "EUR" {
  if (code === "USD" || code === "EUR") return code;
  throw new UsageError(
    `Wrong --currency: ${code} is neither USD nor EUR; if the service has ` +
      `added it since this version, use --extra currency=${code}`,
  );
}

function extraField(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const [, name = "", value = ""] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name !== "") return { ...before, [name]: value };
  throw new UsageError(`Wrong --extra: ${text} is not NAME=VALUE`);
}

/** A request that the rules refuse was not sent: the flags are wrong. */
function usage(error: unknown): never {
  if (!(error instanceof ValidationError)) throw error;
  // The message names options of the client; here they are flags.
  throw new UsageError(
    error.message
      .replaceAll("allowUnlistedAssets: true", "--allow-unlisted-assets")
      .replaceAll("smartContract: true", "--smart-contract"),
    { cause: error },
  );
}

/** The flags as the service names them. */
function sessionRequest(flags: SessionFlags) {
  return defined({
    flow_type: flags.flowType,
    user_id: flags.user,
    commodity: flags.commodity,
    network: flags.network,
    commodity_amount: flags.commodityAmount,
    currency: flags.currency,
    currency_amount: flags.currencyAmount,
    wallet_address: flags.wallet,
  });
}
