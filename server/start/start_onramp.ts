import process from "node:process";
import type { OnrampClient } from "../../client/mod.ts";
import { defined } from "../../core/guards.ts";
import { requireExactJson } from "../../core/json/json.ts";
import { readLastSeq } from "../../ledger/for_resources.ts";
import type { Ledger, TransitionPattern } from "../../ledger/mod.ts";
import { type Finding, found, stands } from "../../resources/health/finding.ts";
import {
  type Config,
  givenEnv,
  readConfig,
} from "../../core/settings/config.ts";
import { redact } from "../../core/settings/settings.ts";
import {
  type AskOptions,
  lookAtBaseUrl,
  lookAtService,
} from "../health/service_health.ts";
import {
  composeWitness,
  type WitnessService,
} from "../compose/compose_witness.ts";
import { openSpool } from "../http/open_spool.ts";
import { holdLedger } from "../ledger_file/ledger_lock.ts";
import { openConfigured } from "../ledger_file/open_configured.ts";
import { serviceMetrics } from "../monitoring/metrics.ts";
import {
  type ComposedOnramp,
  composeOnramp,
  settingFindings,
} from "./compose_onramp.ts";
import type { Handler } from "./handlers.ts";
import {
  type ListenOptions,
  type Onramp,
  serveOnramp,
  type StartOptions,
  type StopSignal,
} from "./onramp.ts";
import { type OnProblem, problemOf } from "../alarms/alarm_message.ts";
import { problemPort, problemPrinter } from "./problem.ts";

/**
 * Starts everything: opens the ledger, takes webhooks and sales, and from then
 * on folds, asks the service and calls handlers, until it is closed.
 *
 * Nothing that fails is silent: `onProblem` is called once for polling, database,
 * handlers, dead letters and webhooks that no longer come, and once when it is
 * over; unless you give one, each is a line on standard error that says what to
 * do. Within seconds it also says when the API key is missing, is refused, or is
 * that of another environment.
 *
 * Any number of processes may start on one ledger: one of them polls, one calls
 * each handler, and another takes over when it ends.
 *
 * @param options Settings, each in place of its variable; handlers and more.
 * @returns What the program serves and sells with. Close it in the end.
 * @throws {UsageError} For a setting that cannot be right: it names it.
 * @throws {LedgerError} When the ledger cannot be opened, or belongs to another
 * environment.
 * @throws {TypeError} For a handler whose pattern names no state, or on a runtime
 * without exact JSON numbers (Node 20).
 *
 * @example A handler, and a callback for problems
 * ```ts
 * import { type Problem, startOnramp } from "@rampkit/onramp/start";
 * import assert from "node:assert/strict";
 *
 * const problems: Problem[] = [];
 * await using onramp = await startOnramp({
 *   databaseUrl: ":memory:",
 *   env: () => undefined, // no variables
 *   onProblem: (problem) => problems.push(problem),
 * });
 * assert.deepEqual(problems.map(({ code }) => code), [
 *   "api_key_missing",
 *   "webhook_secret_missing",
 * ]);
 * ```
 */
export async function startOnramp<User>(
  options: StartOptions<User> = {},
): Promise<Onramp> {
  requireExactJson("start");
  const { now = Date.now } = options;
  const env = options.env ?? ((name: string) => process.env[name]);
  const config = readConfig(env, options, (name) => name);
  const report = reporter(options.onProblem, givenEnv(options, env));
  const opened = new Opened();
  try {
    const held = opened.add(
      await holdLedger(config),
      (held) => held[Symbol.dispose](),
    );
    const ownFindings: Finding[] = [];
    const { threadModule } = options;
    const ledger = opened.add(
      await openConfigured(config, {
        now,
        ...defined({ threadModule }),
        onNoThread: (reason) =>
          ownFindings.push(found("database_thread_missing", { more: reason })),
      }),
      (ledger) => ledger.close(),
    );
    held.announce();
    const isNew = await readLastSeq(ledger.driver) === 0;
    await ledger.goLive(options.goLive);
    const { log } = problemPort(report);
    const { chains, fetch } = options;
    const witness = await composeWitness(
      defined({ config, ledger, log, now, chains, fetch }),
    );
    const composed = await compose(
      { config, ledger, report, now, isNew, ownFindings, witness },
      options,
    );
    const { service, handlers, onramp } = opened.add(
      composed,
      ({ service }) => service[Symbol.asyncDispose](),
    );
    for (const [pattern, handler] of Object.entries(options.on ?? {})) {
      await handlers.add(pattern as TransitionPattern, handler as Handler);
    }
    const running = new AbortController();
    const { signal } = running;
    const settings = settingFindings(config, options.poll !== false);
    ownFindings.push(...lookAtBaseUrl(config, ledger.environment));
    for (const finding of [...settings, ...ownFindings]) {
      if (stands(finding)) report(problemOf(finding));
    }
    const work = [
      service.poller?.run(signal),
      witness?.run(signal),
      composed.health.run(signal),
      composed.waiting.run(signal),
      onramp.client === null
        ? null
        : reportService(onramp.client, report, { now, signal }),
    ];
    opened.add(work, async () => {
      running.abort();
      await Promise.all(work);
      await Promise.all(handlers.subscriptions.map((one) => one.stop()));
    });
    const forget = stopOn(options.stopOn ?? [], () => close());
    const listen = async (where: ListenOptions = {}) => {
      const server = await serveOnramp(
        onramp,
        options.sessions !== undefined,
        where,
      );
      opened.add(server, (server) => server.shutdown());
      return { port: server.port };
    };
    let closing: Promise<void> | null = null;
    const close = () => {
      forget();
      return closing ??= opened.close();
    };
    return { ...onramp, listen, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** What was opened, to be closed in the opposite order. */
class Opened {
  readonly #ends: (() => unknown)[] = [];

  add<Thing>(thing: Thing, end: (thing: Thing) => unknown): Thing {
    this.#ends.push(() => end(thing));
    return thing;
  }

  async close(): Promise<void> {
    for (let end = this.#ends.pop(); end; end = this.#ends.pop()) await end();
  }
}

async function compose<User>(
  { report, config, now, ...parts }: {
    readonly config: Config;
    readonly ledger: Ledger;
    readonly report: OnProblem;
    readonly witness: WitnessService | null;
    readonly now: () => number;
    readonly isNew: boolean;
    readonly ownFindings: readonly Finding[];
  },
  options: StartOptions<User>,
): Promise<ComposedOnramp> {
  const { allowlist, clientAddress, fetch, requestsPerSecond } = options;
  const { log, onProblem } = problemPort(report);
  const metrics = serviceMetrics({ time: now });
  return composeOnramp(defined({
    ...parts,
    config,
    // No address is the right one while there is no secret.
    secrets: config.webhookSecrets.length > 0
      ? config.webhookSecrets
      : [crypto.randomUUID()],
    log,
    onProblem,
    metrics,
    now,
    longLived: true,
    poll: options.poll !== false && config.apiKey !== null,
    requestsPerSecond,
    admission: defined({ allowlist, clientAddress }),
    spool: await openSpool(config, { log, metrics }),
    fetch,
    options,
  }));
}

/** Asks the service once whether the key is valid and the clocks agree. */
async function reportService(
  client: OnrampClient,
  report: OnProblem,
  ask: AskOptions,
): Promise<void> {
  // It rejects only when it is stopped.
  const findings = await lookAtService(client, ask).catch(() => []);
  for (const finding of findings) {
    if (stands(finding)) report(problemOf(finding));
  }
}

/** Reports problems, without the values of secrets. */
function reporter(
  onProblem: OnProblem | undefined,
  env: (name: string) => string | undefined,
): OnProblem {
  const report = onProblem ?? problemPrinter((line) => console.error(line));
  return (problem) => {
    const { message, next } = problem;
    try {
      report({
        ...problem,
        message: redact(message, env),
        next: next === null ? null : redact(next, env),
      });
    } catch {
      // A listener that fails must not stop the work.
    }
  };
}

/** Closes on a signal of the system. @returns Listens no more. */
function stopOn(
  signals: readonly StopSignal[],
  close: () => Promise<void>,
): () => void {
  const heard = async (signal: StopSignal) => {
    await close();
    // Who listens as well ends the program in his own way.
    if (process.listenerCount(signal) === 0) process.exit(0);
  };
  for (const signal of signals) process.once(signal, heard);
  return () => {
    for (const signal of signals) process.off(signal, heard);
  };
}
