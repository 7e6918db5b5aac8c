import { type Command, Option } from "commander";
import { defined } from "../../core/guards.ts";
import { ValidationError } from "../../client/mod.ts";
import { createSession } from "../../resources/operations/sessions.ts";
import {
  refusedExpectation,
  type TermFlags,
  termOptions,
  termsOf,
  validForOption,
} from "../program/expected_terms.ts";
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
    );
  termOptions(command)
    .option(
      "--click <id>",
      "click id for the widget (default: a new one)",
    )
    .option(
      "--reference <text>",
      "your own reference; it identifies one purchase",
    )
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
      "a field or value that this version does not know; may be " +
        "repeated",
      extraField,
    );
  termOptions(
    command,
    EXPECTED,
    "compare the order with this, not with the session's: ",
  );
  command.options.find(({ long }) => long === "--currency")
    ?.argParser(listedCurrency);
  validForOption(command, "how long after the session an order may still match")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit session create --commodity POL --network amoy --currency USD --currency-amount 25 --reference basket-17",
    )
    .action(cli.run(async (flags: SessionFlags) => {
      await withService(cli.io, flags, async (ledger, client) => {
        const { signal } = cli.io;
        const session = await stoppable(
          signal,
          () =>
            createSession(
              {
                ledger,
                sessions: client.sessions,
                newClickId: () => crypto.randomUUID(),
                signal,
              },
              defined({
                ...termsOf(flags),
                flowType: flags.flowType,
                smartContract: flags.smartContract,
                clickId: flags.click,
                reference: flags.reference,
                expected: termsOf(flags, EXPECTED),
                validForMs: flags.validFor,
              }),
              flags.extra,
            ).catch(usage).catch(refusedExpectation(EXPECTED)),
          () =>
            "no answer came; if the service made a session, it lapses after " +
            "30 seconds, and the ledger does not know it",
        );
        if (flags.json) jsonLine(cli.io, session);
        else {
          line(
            cli.io,
            `Session ${session.sessionId}: for one opening of the widget, ` +
              `within 30 seconds, with the click id ${session.clickId}`,
          );
          for (const warning of session.warnings) note(cli.io, warning);
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
