import type { Command } from "commander";
import { OnrampClient, type OnrampClientOptions } from "../../client/client.ts";
import {
  AuthenticationError,
  NetworkError,
  OnrampError,
  TimeoutError,
  ValidationError,
} from "../../client/errors.ts";
import {
  type AskService,
  conform,
  type ConformRow,
  type ServiceAnswer,
  SUBJECTS,
} from "../../sync/check/conform.ts";
import { openConfigured } from "../../server/ledger_file/open_configured.ts";
import {
  type Config,
  readConfig,
  requireApiKey,
} from "../../core/settings/config.ts";
import { EXIT } from "../../core/settings/errors.ts";
import {
  serviceClient,
  serviceEnvironment,
} from "../../server/compose/service_client.ts";
import { stoppable } from "../../core/settings/values.ts";
import { type Cli, type Io, jsonLine, line } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  rateOption,
  serviceOptions,
  type SharedFlags,
} from "../program/options.ts";
import { progress } from "../program/output.ts";
import { isStored } from "../program/with_ledger.ts";

/** How the service is asked. */
interface AskByClientOptions extends OnrampClientOptions {
  /** Clock, milliseconds since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/**
 * Asks the service by the client, at its rate and with its retries, one request
 * at a time; what the client makes of an answer is put aside, and the answer
 * itself is given.
 */
export function askByClient(
  { signal, ...options }: AskByClientOptions,
): AskService {
  const { now, fetch: send = globalThis.fetch } = options;
  let seen: ServiceAnswer | null = null;
  const client = new OnrampClient({
    ...options,
    hookBodies: true,
    fetch: async (input, init) => {
      const askedAtMs = now();
      const response = await send(input, init);
      const dateMs = Date.parse(response.headers.get("date") ?? "");
      seen = {
        ...{ status: response.status, askedAtMs, answeredAtMs: now() },
        ...{ dateMs: Number.isNaN(dateMs) ? null : dateMs, text: null },
      };
      return response;
    },
    onResponse: ({ body }) => {
      if (seen !== null) seen = { ...seen, text: body };
    },
  });
  return async (list, extra) => {
    seen = null;
    try {
      await client[list].page({}, { extra, signal });
    } catch (error) {
      signal.throwIfAborted();
      // What the client refuses to send is a fault of the question.
      const isOurs = error instanceof ValidationError && seen === null;
      if (isOurs || !(error instanceof OnrampError)) throw error;
    }
    return seen;
  };
}

interface ConformFlags extends SharedFlags {
  readonly rate: number;
}

/** The service, compared with what is assumed of it. */
export interface ConformReport {
  /** Environment of the service. */
  readonly environment: "production" | "sandbox";
  /** Day on which it was looked at, UTC. */
  readonly day: string;
  /** Rows by verdict. */
  readonly counts: {
    readonly agrees: number;
    readonly differs: number;
    readonly not_seen: number;
  };
  /** Every row. */
  readonly rows: readonly ConformRow[];
}

/** `conform`: the service beside what is assumed of it. */
export function addConform(program: Command, cli: Cli): void {
  const command = program.command("conform").summary(
    "check that the service behaves as this version assumes",
  ).description(
    "check row by row that the service behaves as this version assumes, by " +
      "reading orders and users; it changes nothing there",
  );
  jsonOption(rateOption(serviceOptions(ledgerOptions(command))), "one object")
    .addHelpText(
      "after",
      "\nExit code 3 when anything differs.\n\nExample:\n  rampkit conform --json",
    )
    .action(cli.run((flags: ConformFlags) => look(cli.io, flags)));
}

async function look(io: Io, flags: ConformFlags): Promise<number> {
  const config = readConfig(io.env, flags);
  const apiKey = requireApiKey(config);
  const environment = await environmentOf(config, io);
  const client = serviceClient(config, environment, {
    requestsPerSecond: flags.rate,
  });
  using bar = progress(io, "rows looked at", !flags.json);
  let done = 0;
  const rows = await stoppable(io.signal, async () => {
    await reachable(() =>
      client.orders.page({ limit: 1 }, { signal: io.signal })
    );
    return await conform({
      ask: askByClient({
        environment: serviceEnvironment(config, environment),
        apiKey,
        requestsPerSecond: flags.rate,
        now: io.now,
        signal: io.signal,
      }),
      now: io.now,
      onProgress: (count) => bar.at(done = count),
      signal: io.signal,
    });
  }, () => `${done} rows were looked at, and nothing is concluded`);
  bar.end();
  const count = (verdict: ConformRow["verdict"]) =>
    rows.filter((one) => one.verdict === verdict).length;
  const report: ConformReport = {
    environment,
    day: new Date(io.now()).toISOString().slice(0, 10),
    counts: {
      agrees: count("agrees"),
      differs: count("differs"),
      not_seen: count("not_seen"),
    },
    rows,
  };
  if (flags.json) jsonLine(io, report);
  else print(io, report);
  return report.counts.differs === 0 ? EXIT.fine : EXIT.disagreement;
}

/** A ledger that is there belongs to one environment, and it is that one. */
async function environmentOf(config: Config, io: Io) {
  const named = config.environment ?? "sandbox";
  if (config.databaseUrl === ":memory:" || !await isStored(config)) {
    return named;
  }
  await using ledger = await openConfigured(config, { ...io, readOnly: true });
  return ledger.environment === "production" ? "production" : "sandbox";
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

const INDENT = 8;
const SIGN = { agrees: "ok", differs: "DIFF", not_seen: "-" } as const;

/**
 * Rows by subject: first what was seen, then by reason what was not. What
 * differs is listed with what was seen and what is at risk.
 */
function print(io: Io, { environment, day, counts, rows }: ConformReport) {
  const head = ({ verdict, taken }: ConformRow) =>
    line(io, `  ${SIGN[verdict].padEnd(INDENT - 2)}${taken}`, INDENT);
  const below = (text: string) =>
    line(io, `${" ".repeat(INDENT)}${text}`, INDENT + 2);
  for (const [subject, some] of Map.groupBy(rows, (row) => row.subject)) {
    line(io, SUBJECTS[subject], 2);
    for (const row of some) {
      if (row.facts === null) continue;
      head(row);
      if (row.verdict !== "differs") continue;
      below(`seen: ${factsText(row.facts)}`);
      below(`at risk: ${row.risk.message}`);
      below(`row: ${row.name}`);
    }
    const byReason = Map.groupBy(some, ({ reason }) => reason?.message ?? null);
    for (const [reason, same] of byReason) {
      if (reason === null) continue;
      line(io, `  Not seen: ${reason}`, INDENT);
      same.forEach(head);
    }
    line(io);
  }
  const { agrees, differs, not_seen } = counts;
  line(
    io,
    `${environment}, ${day}: ${agrees} agree, ${differs} ` +
      `${differs === 1 ? "differs" : "differ"}, ${not_seen} not seen`,
  );
}

/** Facts as words: `status 200, rows 21, unknown a and b`. */
function factsText(facts: NonNullable<ConformRow["facts"]>): string {
  return facts.map(({ name, value }) => {
    const words = Array.isArray(value) ? value.join(" and ") : value ?? "";
    return `${name} ${words === "" ? "none" : String(words)}`;
  }).join(", ");
}
