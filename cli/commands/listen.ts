import type { Command } from "commander";
import { ActivityPrinter } from "../listen/activity_printer.ts";
import { type ListenPlaces, runListen } from "../listen/run_listen.ts";
import {
  type Forwarding,
  readForwarding,
} from "../../server/forwarding/read_targets.ts";
import { type Log, LOG_EVENTS } from "../../server/monitoring/logger.ts";
import { type Cli, type Io, jsonLine, line, note } from "../program/io.ts";
import { readConfig } from "../../core/settings/config.ts";
import { redact, VARIABLES } from "../../core/settings/settings.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { jsonOption, settingOption } from "../program/options.ts";
import { wholeNumber } from "../../core/settings/values.ts";

interface ListenFlags {
  readonly forwardTo?: readonly string[];
  readonly ledger?: string;
  readonly port: number;
  readonly endpointPort: number;
  readonly seed: number;
  readonly json?: boolean;
}

/** Port of the sandbox, where `trigger` looks for it. */
const PORT = 8788;

/**
 * What `listen` signs with unless it is told otherwise. The same on every
 * machine, so that a receiver in development can be configured once; it
 * protects nothing.
 */
const DEVELOPMENT_SECRET = `whsec_${btoa("for development only: no secret")}`;

/** `listen`: everything in one process, to develop a receiver against. */
export function addListen(program: Command, cli: Cli): void {
  const command = program.command("listen").summary(
    "develop against the sandbox: print each event as it happens",
  ).description(
    "run the sandbox, the endpoint, a ledger and forwarding in one " +
      "process, and print a line for each event: `in` a webhook arrived, " +
      "`now` an order or user entered a status, `out` it was forwarded to " +
      "you",
  );
  settingOption(jsonOption(command, "one object a line"), "port", {
    means: "port of the sandbox, 0 for a free one",
    fallback: PORT,
  })
    .option(
      "--forward-to <target>",
      "your receiver: an address, or 'ADDRESS PATTERN...', for example 'http://127.0.0.1:3000/hooks order.confirmed.*'; may be given several times",
      (value: string, before: readonly string[] = []) => [...before, value],
    )
    .option(
      "--ledger <file>",
      "keep the ledger in this file (default: one that is removed at the end)",
    )
    .option(
      "--endpoint-port <port>",
      "port of the endpoint, 0 for a free one",
      (text) => wholeNumber(0, 65_535)("--endpoint-port", text),
      0,
    )
    .option(
      "--seed <n>",
      "seed of ids and amounts",
      (text) => wholeNumber(0, 2 ** 32 - 1)("--seed", text),
      1,
    )
    .addHelpText(
      "after",
      `\nIt signs with ${VARIABLES.forwardSecrets}, or else with a secret for development\nthat it prints: your receiver needs the same. It ignores all other settings, so\nit touches nothing real. In a second terminal: rampkit trigger success\n\nExample:\n  rampkit listen --forward-to http://127.0.0.1:3000/hooks`,
    )
    .action(cli.run((flags: ListenFlags) => listen(cli.io, flags)));
}

async function listen(io: Io, flags: ListenFlags): Promise<void> {
  const printer = new ActivityPrinter(io, flags.json ?? false);
  await runListen({
    port: flags.port,
    endpointPort: flags.endpointPort,
    seed: flags.seed,
    ledgerFile: ledgerFile(flags),
    forwarding: forwardingTo(io, flags),
    log: troubleLog(io),
    now: io.now,
    signal: io.signal,
    onListening: (places) =>
      flags.json ? jsonLine(io, places) : welcome(io, places),
    onAnswer: printer.answered,
    onActivity: (activity) => printer.print(() => activity),
  });
  await printer.drain();
  note(
    io,
    "Stopped: the sandbox is gone" +
      (flags.ledger === undefined ? ", and its ledger with it" : ""),
  );
}

/**
 * The file that was named.
 *
 * @throws {UsageError} When it is an address: a real ledger may be there.
 */
function ledgerFile({ ledger }: ListenFlags): string | null {
  if (ledger === undefined) return null;
  const path = ledger.replace(/^file:/, "");
  if (path !== "" && !/^[a-z]+:/i.test(path)) return path;
  throw new UsageError(
    `Wrong --ledger: "${ledger}" is not a file; name one, for example dev.db`,
  );
}

/**
 * Where to send, and what it is signed with.
 *
 * @throws {UsageError} When a target or the secret is wrong.
 */
function forwardingTo(
  { env }: Io,
  { forwardTo = [] }: ListenFlags,
): Forwarding | undefined {
  return readForwarding(readConfig(() => undefined, {
    forwardTo,
    forwardSecrets: env(VARIABLES.forwardSecrets)?.trim() || DEVELOPMENT_SECRET,
  }));
}

/** Prints what fails, for people; what happens is printed elsewhere. */
function troubleLog(io: Io): Log {
  return (level, event, { message = "" } = {}) => {
    if (level === "info" || SHOWN.has(event)) return;
    const text = `${event}: ${LOG_EVENTS[event]}. ${message}`;
    note(io, redact(text.trim(), io.env));
  };
}

/** Events that have lines of their own. */
const SHOWN: ReadonlySet<string> = new Set([
  "quarantined",
  "unrecognised",
  "forward_failing",
]);

function welcome(io: Io, places: ListenPlaces): void {
  const { sandbox, control, apiKey, partnerId } = places;
  const { webhooks, ledger, forwardTo } = places;
  line(io, `The service in a box: ${control}`);
  line(io, `  sends webhooks to  ${webhooks}`);
  line(io, `  into the ledger    ${ledger}`);
  for (const target of forwardTo) line(io, `  and on to          ${target}`);
  if (forwardTo.length === 0) {
    line(io, "  and nowhere else: say --forward-to ADDRESS");
  } else if (!io.env(VARIABLES.forwardSecrets)?.trim()) {
    line(io, `  signed with        ${DEVELOPMENT_SECRET}`);
  }
  line(io, "A program of yours asks it with");
  line(io, `  export ${VARIABLES.environment}=sandbox`);
  line(io, `  export ${VARIABLES.baseUrl}=${sandbox}`);
  line(io, `  export ${VARIABLES.apiKey}=${apiKey}`);
  line(io, `  export ${VARIABLES.widgetOrigin}=${sandbox}`);
  line(io, `  export ${VARIABLES.partnerId}=${partnerId}`);
  const where = sandbox.endsWith(`:${PORT}`) ? "" : ` --sandbox ${sandbox}`;
  line(io, `Let something happen: rampkit trigger success${where}`);
  line(io);
}
