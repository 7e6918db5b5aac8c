import {
  type CustomEnvironment,
  type Environment,
  resolveEnvironment,
} from "../core/assets/environment.ts";
import { closest } from "../core/text.ts";
import { requireExactJson } from "../core/json/json.ts";
import { sleep, steadyClock } from "../core/waiting/waiting.ts";
import { type Api, redactor } from "./transport.ts";
import type { RequestHook, ResponseHook } from "./call_options.ts";
import { type CallerOptions, makeCall } from "./caller.ts";
import { type CardsApi, cardsApi } from "./cards.ts";
import { type OrdersApi, ordersApi, type UsersApi, usersApi } from "./lists.ts";
import { RateLimiter } from "./rate_limiter.ts";
import { type SessionsApi, sessionsApi } from "./sessions.ts";

/** How to reach the service, and within which limits. */
export interface OnrampClientOptions {
  /**
   * A preset's name, or addresses of your own: `{ ...sandbox, baseUrl }` is the
   * preset behind a proxy or a local stand-in.
   */
  readonly environment: "production" | "sandbox" | CustomEnvironment;
  /**
   * Origin of the partner API, in place of the environment's: a proxy, or a
   * sandbox on this machine.
   *
   * @default {the environment's}
   */
  readonly baseUrl?: string;
  /** API key of this environment. Never shown, logged or traced. */
  readonly apiKey: string;
  /** Sends requests. @default {globalThis.fetch} */
  readonly fetch?: typeof fetch;
  /** Clock, milliseconds since 1970. @default {Date.now} */
  readonly now?: () => number;
  /**
   * Monotonic clock in ms, for waits, deadlines and the rate limit.
   *
   * @default {performance.now, or where `now` is given that clock, standing
   * still while it is set back}
   */
  readonly steadyNow?: () => number;
  /** Waits, and rejects when aborted. Defaults to a timer. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Random numbers from 0 up to 1, for jitter. @default {Math.random} */
  readonly random?: () => number;
  /** Requests that may start in one second, over all calls. @default {4} */
  readonly requestsPerSecond?: number;
  /** Most requests in flight at a time. @default {4} */
  readonly maxInFlight?: number;
  /** Limit of one attempt to its last byte, in ms. @default {10000} */
  readonly timeoutMs?: number;
  /**
   * Time limit of a whole call, waits and retries included, in ms.
   *
   * @default {30000}
   */
  readonly deadlineMs?: number;
  /** Further attempts where repeating is safe. @default {3} */
  readonly retries?: number;
  /**
   * Accepts pairs of commodity and network that are not in the asset table.
   *
   * @default {false}
   */
  readonly allowUnlistedAssets?: boolean;
  /** Watches requests. */
  readonly onRequest?: RequestHook;
  /** Called when an attempt ends. */
  readonly onResponse?: ResponseHook;
  /** Shows bodies to the watchers, card registration apart. @default {false} */
  readonly hookBodies?: boolean;
}

/**
 * A client of the partner API. Its only state is its settings and its rate
 * limiter: make one and share it, so that all calls share one rate limit.
 *
 * @example Create a session when the user clicks
 * ```ts
 * import { OnrampClient } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * const client = new OnrampClient({
 *   environment: "sandbox",
 *   apiKey: "key",
 *   fetch: () => Promise.resolve(Response.json({ sessionId: "S", requestId: "R" })),
 * });
 * const session = await client.sessions.create({
 *   flow_type: "simple",
 *   commodity: "POL",
 *   network: "amoy",
 *   currency: "USD",
 *   currency_amount: "25.50",
 * });
 * assert.equal(session.sessionId, "S");
 * ```
 */
export class OnrampClient {
  /** The environment, resolved. */
  readonly environment: Environment;
  /** Widget sessions. */
  readonly sessions: SessionsApi;
  /** Orders. */
  readonly orders: OrdersApi;
  /** Users. */
  readonly users: UsersApi;
  /** Cards. */
  readonly cards: CardsApi;

  /**
   * Creates a client; sends nothing yet.
   *
   * @throws {TypeError} When the environment or the key is unusable, or the
   * runtime cannot handle exact numbers (Node 20).
   * @throws {RangeError} When a limit is not a positive number.
   */
  constructor(options: OnrampClientOptions) {
    requireExactJson("create the client");
    refuseUnknown(options);
    this.environment = environmentOf(options);
    const apiKey = checkKey(options.apiKey);
    const caller = callerOptions(options, apiKey);
    const api: Api = {
      environment: this.environment,
      allowUnlistedAssets: options.allowUnlistedAssets ?? false,
      now: options.now ?? Date.now,
      ask: ({ secret = "", repeatable = true, ...ask }) =>
        makeCall({
          ...ask,
          repeatable,
          method: ask.operation.endsWith(".page") ? "GET" : "POST",
          redact: redactor([apiKey, secret], secret !== ""),
        }, caller),
    };
    this.sessions = sessionsApi(api);
    this.orders = ordersApi(api);
    this.users = usersApi(api);
    this.cards = cardsApi(api);
  }
}

/** Every option, so that a misspelt one is noticed in JavaScript too. */
const OPTIONS = {
  environment: true,
  baseUrl: true,
  apiKey: true,
  fetch: true,
  now: true,
  steadyNow: true,
  sleep: true,
  random: true,
  requestsPerSecond: true,
  maxInFlight: true,
  timeoutMs: true,
  deadlineMs: true,
  retries: true,
  allowUnlistedAssets: true,
  onRequest: true,
  onResponse: true,
  hookBodies: true,
} as const satisfies Readonly<Record<keyof OnrampClientOptions, true>>;

function refuseUnknown(options: OnrampClientOptions): void {
  const unknown = Object.keys(options).find((name) =>
    !Object.hasOwn(OPTIONS, name)
  );
  if (unknown === undefined) return;
  throw new TypeError(
    `Cannot create the client: there is no option ${unknown}; did you mean ` +
      `${closest(unknown, Object.keys(OPTIONS))}?`,
  );
}

function environmentOf(
  { environment, baseUrl }: OnrampClientOptions,
): Environment {
  const resolved = resolveEnvironment(environment);
  return baseUrl === undefined
    ? resolved
    : resolveEnvironment({ ...resolved, baseUrl });
}

/** A wrong key must not reach `Headers`, whose error would quote it. */
function checkKey(apiKey: unknown): string {
  if (typeof apiKey === "string" && /^[\x21-\x7e]+$/.test(apiKey)) {
    return apiKey;
  }
  throw new TypeError(
    "Cannot create the client: apiKey is empty or has characters that no " +
      "header can carry; check for spaces and line ends around it",
  );
}

/** What holds where an option of a number is left out. */
const USUAL = {
  requestsPerSecond: 4,
  maxInFlight: 4,
  timeoutMs: 10_000,
  deadlineMs: 30_000,
  retries: 3,
} as const;

function callerOptions(
  options: OnrampClientOptions,
  apiKey: string,
): CallerOptions {
  const { now = Date.now, random = Math.random, onRequest, onResponse } =
    options;
  const steadyNow = options.steadyNow ??
    (options.now === undefined ? () => performance.now() : steadyClock(now));
  const wait = options.sleep ?? sleep;
  const send = options.fetch ?? globalThis.fetch;
  const limit = (name: keyof typeof USUAL): number => {
    const value = options[name] ?? USUAL[name];
    const isOff = name === "retries" && value === 0;
    if (typeof value === "number" && (value > 0 || isOff)) return value;
    throw new RangeError(
      `Cannot create the client: ${name} is ${String(value)}; use a positive ` +
        "number",
    );
  };
  return {
    // A bare call: some runtimes refuse fetch as a method of another object.
    fetch: (input, init) => send(input, init),
    headers: { "accept": "application/json", "x-api-key": apiKey },
    budget: new RateLimiter({
      requestsPerSecond: limit("requestsPerSecond"),
      maxInFlight: limit("maxInFlight"),
      now: steadyNow,
      sleep: wait,
    }),
    timeoutMs: limit("timeoutMs"),
    deadlineMs: limit("deadlineMs"),
    retries: limit("retries"),
    hookBodies: options.hookBodies ?? false,
    sleep: wait,
    ...{ now, steadyNow, random, onRequest, onResponse },
  };
}
