import packageFile from "../../deno.json" with { type: "json" };
import type { Command } from "commander";
import {
  AuthenticationError,
  NetworkError,
  OnrampError,
  TimeoutError,
} from "../../client/mod.ts";
import {
  type ConformJson,
  conformJson,
  conformLines,
} from "../../resources/views/conform_view.ts";
import {
  type Config,
  readConfig,
  requireApiKey,
  requireWebhookSecrets,
} from "../../core/settings/config.ts";
import { CommandError, EXIT, UsageError } from "../../core/settings/errors.ts";
import {
  serviceClient,
  serviceEnvironment,
} from "../../server/compose/service_client.ts";
import { stoppable } from "../../core/settings/stoppable.ts";
import { wholeNumber } from "../../core/settings/values.ts";
import {
  conform,
  judge,
  readTranscript,
  sampleLedger,
  type Transcript,
  writeTranscript,
} from "../../sync/for_conform.ts";
import { askByClient } from "../conform/ask_by_client.ts";
import { waitForTest } from "../conform/await_button.ts";
import type { Cli } from "../program/cli.ts";
import { openInput } from "../program/input.ts";
import { type Io, jsonLine, line, note } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  rateOption,
  serviceOptions,
  type SharedFlags,
} from "../program/options.ts";
import { openOutput } from "../program/output.ts";
import { progress } from "../program/progress.ts";
import { isStored } from "../program/with_ledger.ts";
import { openConfigured } from "../../server/ledger_file/open_configured.ts";

interface ConformFlags extends SharedFlags {
  readonly rate: number;
  readonly createSession?: boolean;
  readonly wrongKey?: boolean;
  readonly waitForTest?: number;
  readonly transcript?: string;
  readonly replay?: string;
}

/** `conform`: the service beside what is assumed of it. */
export function addConform(program: Command, cli: Cli): void {
  const command = program.command("conform").summary(
    "check that the service behaves as this version assumes",
  ).description(
    "check row by row that the service behaves as this version assumes, by " +
      "reading orders and users; it never creates users, registers cards or pays",
  );
  jsonOption(
    rateOption(serviceOptions(ledgerOptions(command))),
    "one object",
  )
    .option(
      "--create-session",
      "also create widget sessions; nobody opens them, and they expire",
    )
    .option(
      "--wrong-key",
      "also send one request with a wrong key, at the end",
    )
    .option(
      "--wait-for-test <port>",
      "first listen on this port in place of `serve`, until somebody presses " +
        "Test in the sandbox's dashboard",
      wholeNumber("--wait-for-test", 0, 65_535),
    )
    .option(
      "--transcript <file>",
      "write what was seen to this file, without keys, ids, amounts and addresses",
    )
    .option(
      "--replay <file>",
      "evaluate a transcript again, without asking the service",
    )
    .addHelpText(
      "after",
      "\nExit code 3 when anything differs.\n\nExample:\n  rampkit conform --transcript conform.json",
    )
    .action(cli.run((flags: ConformFlags) => look(cli.io, flags)));
}

async function look(io: Io, flags: ConformFlags): Promise<number> {
  const transcript = flags.replay === undefined
    ? await seenNow(io, flags)
    : await replayed(io, flags.replay, flags);
  if (flags.transcript !== undefined) {
    using file = openOutput(io, flags.transcript);
    file.write(writeTranscript(transcript));
    file.finish();
  }
  const json = conformJson(transcript, judge(transcript.observations));
  if (flags.json) jsonLine<ConformJson>(io, json);
  else print(io, json, flags.transcript);
  return json.counts.differs === 0 ? EXIT.fine : EXIT.disagreement;
}

/** Reads a transcript; flags that ask the service make no sense beside it. */
async function replayed(
  io: Io,
  file: string,
  flags: ConformFlags,
): Promise<Transcript> {
  const { createSession, wrongKey, waitForTest, transcript } = flags;
  if (createSession || wrongKey || waitForTest !== undefined || transcript) {
    throw new UsageError(
      "Wrong --replay: it asks nobody, so it stands alone or with --json",
    );
  }
  const text = await new Response(await openInput(file, io.signal)).text();
  try {
    return readTranscript(text);
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new CommandError(`${error.message}: ${file}`);
    }
    throw error;
  }
}

async function seenNow(io: Io, flags: ConformFlags): Promise<Transcript> {
  const config = readConfig(io.env, flags);
  const apiKey = requireApiKey(config);
  const { ledger, environment } = await lookIntoLedger(config, io);
  const service = serviceEnvironment(config, environment);
  const test = await awaitTest(io, config, flags, environment);
  const client = serviceClient(config, environment, {
    requestsPerSecond: flags.rate,
  });
  using bar = progress(io, "rows looked at", !flags.json);
  let done = 0;
  const observations = await stoppable(io.signal, async () => {
    await reachable(() =>
      client.orders.page({ limit: 1 }, { signal: io.signal })
    );
    return await conform({
      ask: askByClient({
        environment: service,
        apiKey,
        requestsPerSecond: flags.rate,
        now: io.now,
        sessions: flags.createSession ?? false,
        wrongKey: flags.wrongKey ?? false,
        signal: io.signal,
      }),
      assets: environment,
      ledger,
      test: () => test,
      now: io.now,
      onProgress: (count) => bar.at(done = count),
      signal: io.signal,
    });
  }, () => `${done} rows were looked at, and nothing is concluded`);
  bar.end();
  return {
    form: 1,
    version: packageFile.version,
    environment,
    day: new Date(io.now()).toISOString().slice(0, 10),
    observations,
  };
}

/** A service that cannot be asked at all is a failure, and no difference. */
async function reachable(ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    if (
      error instanceof AuthenticationError || error instanceof NetworkError ||
      error instanceof TimeoutError
    ) throw error;
    // Any other answer is what the rows are there to see.
    if (!(error instanceof OnrampError)) throw error;
  }
}

async function lookIntoLedger(config: Config, io: Io) {
  const named = config.environment ?? "sandbox";
  // A ledger in memory is a new one, and shows nothing.
  const isKept = config.databaseUrl !== ":memory:" && await isStored(config);
  if (!isKept) return { ledger: null, environment: named };
  await using ledger = await openConfigured(config, { ...io, readOnly: true });
  return {
    ledger: await sampleLedger(ledger),
    environment: ledger.environment === "production"
      ? "production" as const
      : "sandbox" as const,
  };
}

async function awaitTest(
  io: Io,
  config: Config,
  { waitForTest: port }: ConformFlags,
  environment: "production" | "sandbox",
) {
  if (port === undefined) return "not_awaited";
  if (environment === "production") {
    throw new UsageError(
      "Wrong --wait-for-test: it listens in place of `serve`, and would miss " +
        "what happens in production; use it in the sandbox",
    );
  }
  const came = await stoppable(
    io.signal,
    () =>
      waitForTest({
        port,
        secrets: requireWebhookSecrets(config),
        signal: io.signal,
        onListening: (open) =>
          note(
            io,
            `Listening on 127.0.0.1:${open} for ten minutes: set the webhook ` +
              "address of the sandbox's dashboard to /webhooks/SECRET there, " +
              "and press Test",
          ),
      }),
    () => "the Test button's event did not come, and nothing was looked at",
  );
  return came ?? "none_came";
}

function print(io: Io, json: ConformJson, transcript?: string): void {
  for (const [text, hang] of conformLines(json)) line(io, text, hang);
  const { agrees, differs, not_seen } = json.counts;
  line(io);
  line(
    io,
    `${json.environment}, ${json.day}: ${agrees} agree, ${differs} ` +
      `${differs === 1 ? "differs" : "differ"}, ${not_seen} not seen`,
  );
  if (transcript !== undefined) line(io, `Written to ${transcript}`);
}
