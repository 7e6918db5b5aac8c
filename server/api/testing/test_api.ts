/** An API over a ledger in memory, for tests. */
import assert from "node:assert/strict";
import type { SessionsApi } from "../../../client/mod.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import type { Poller } from "../../../sync/mod.ts";
import type { OperationContext } from "../../../resources/operations/operation.ts";
import { hostGuard } from "../../http/http_app.ts";
import type { LogEvent } from "../../monitoring/logger.ts";
import { readApiTokens } from "../../../core/settings/values.ts";
import { apiApp } from "../api_app.ts";
import { callers } from "../problem.ts";
import { Operations } from "../operations.ts";
import { TransitionFeed } from "../follow_feed.ts";
import { emptyLedger } from "../../../ledger/testing/mod.ts";

/** A token that may read. */
export const READ = "read-read-read-read";

/** A token that may operate; its name is `night`. */
export const OPERATE = "operate-operate-operate";

/** The time of the tests, ms since the epoch. */
const NOW_MS = Date.parse("2026-11-20T12:00:00Z");

/** A line of the log. */
export interface Logged {
  readonly event: LogEvent;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An API, and what it works with. */
export interface TestApi extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly log: readonly Logged[];
  /** Asks with the token that may read. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Posts with the token that may operate; a body is sent as JSON. */
  post(path: string, body?: unknown): Promise<Response>;
  /** Asks anything. */
  fetch(request: Request): Promise<Response>;
  /** Ends streams and what waits, as when the server stops. */
  stop(): void;
}

/** What of an API a test decides. */
export interface TestApiOptions {
  readonly ledger?: Ledger;
  readonly tokens?: string;
  readonly poller?: Pick<Poller, "pollNow"> | null;
  readonly sessions?: Pick<SessionsApi, "create"> | null;
  readonly lookAtChain?: OperationContext["lookAtChain"];
  readonly now?: () => number;
}

/** A ledger in memory, at the time of the tests. */
export function memoryLedger(): Promise<Ledger> {
  return emptyLedger({
    now: () => NOW_MS,
  });
}

/** Makes an API over an empty ledger. */
export async function testApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { now = () => NOW_MS, poller = null } = options;
  const { sessions = null } = options;
  const ledger = options.ledger ?? await memoryLedger();
  const stop = new AbortController();
  const feed = new TransitionFeed(ledger);
  const log: Logged[] = [];
  const write = (
    _: string,
    event: LogEvent,
    fields: Readonly<Record<string, unknown>> = {},
  ) => {
    log.push({ event, fields });
  };
  const operations = new Operations({
    ledger,
    log: write,
    now,
    poller,
    service: sessions === null ? null : {
      lists: () => assert.fail("nothing reads the service's lists"),
      sessions: () => sessions,
      newClickId: () => "c-minted",
    },
    lookAtChain: options.lookAtChain ?? null,
    signal: stop.signal,
  });
  const tokens = options.tokens ?? `read:${READ},operate@night:${OPERATE}`;
  const fetch = apiApp({
    parts: { ledger, now, feed, operations, signal: stop.signal },
    callerOf: callers(readApiTokens("RAMPKIT_API_TOKENS", tokens)),
    isKnownHost: hostGuard([]),
    log: write,
    version: "1.2.3",
  });
  const request = (path: string, init: RequestInit) =>
    fetch(new Request(`http://127.0.0.1:8789${path}`, init));
  return {
    ledger,
    log,
    fetch,
    stop: () => stop.abort(),
    get: (path, headers = {}) =>
      request(path, {
        headers: { authorization: `Bearer ${READ}`, ...headers },
      }),
    post: (path, body) =>
      request(path, {
        method: "POST",
        headers: { authorization: `Bearer ${OPERATE}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await feed.stop();
      await ledger.close();
    },
  };
}
