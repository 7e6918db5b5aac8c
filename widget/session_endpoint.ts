import { textWithin } from "../core/bytes.ts";
import { defined, jsonRecord } from "../core/guards.ts";
import { sessionValidityMs } from "../core/rules/session_limits.ts";
import { clickId } from "./click_id.ts";
import type { SessionFields } from "./ignored_options.ts";

/** What an order is compared with, under the session's field names. */
export type ExpectedFields = Omit<SessionFields, "flow_type">;

/** The same as texts: amounts are decimal strings. */
export type ExpectedTexts = {
  readonly [Field in keyof ExpectedFields]?: string;
};

/** What to ask the service for, and what to remember of it. */
export interface SessionPlan<Input extends SessionFields> {
  /** The session to create; your server decides, never the browser. */
  readonly session: Input;
  /**
   * Your own reference of this purchase, for example a basket or an invoice.
   * Not of the user: an order of one basket would be compared with another.
   */
  readonly reference?: string;
  /**
   * What counts in place of the session's own fields: a session of a smart
   * contract has no amount.
   *
   * @default {what the session says}
   */
  readonly expected?: ExpectedFields;
  /** How long an order of it is expected, in ms. @default {seven days} */
  readonly validForMs?: number;
}

/** A session as created, to be remembered; the ledger's own shape. */
export interface SessionRecord extends ExpectedTexts {
  /** `sessionId` that the service returned. */
  readonly session_id: string;
  /** `requestId` that the service returned. */
  readonly request_id?: string;
  /** Click id that the widget carries. */
  readonly click_id: string;
  /** Your own reference. */
  readonly reference?: string;
  /** `simple` or `simple_full_restrict`. */
  readonly flow_type: string;
  /** What the plan expects apart from the session's own fields. */
  readonly expected?: ExpectedTexts;
  /** How long it is valid, in milliseconds; seven days unless stated. */
  readonly valid_for_ms?: number;
}

/** What makes a session, and what remembers it. */
export interface SessionPorts<Input extends SessionFields> {
  /** Creates a session: the client's `sessions.create`. */
  readonly createSession: (session: Input) => Promise<
    { readonly sessionId: string; readonly requestId?: string | null }
  >;
  /**
   * Records the session: the ledger's `recordSession`. One that cannot be
   * recorded is not handed out: its order could be compared with nothing.
   */
  readonly recordSession: (record: SessionRecord) => Promise<void>;
}

/** Options of {@linkcode sessionEndpoint}. */
export interface SessionEndpointOptions<User, Input extends SessionFields>
  extends SessionPorts<Input> {
  /** The signed-in user; null when there is none. */
  readonly authorise: (request: Request) => User | null | Promise<User | null>;
  /**
   * Decides what session the user gets; null refuses. Amounts and addresses are
   * to come from your own records: `input` is what the page sent along,
   * untrusted and of any shape. `clickId` is what the widget will carry.
   */
  readonly plan: (ask: {
    readonly user: User;
    readonly clickId: string;
    readonly input: unknown;
  }) => SessionPlan<Input> | null | Promise<SessionPlan<Input> | null>;
  /**
   * Origins of the pages that may ask, where they live elsewhere; their
   * preflights are answered.
   *
   * @default {the endpoint's own origin}
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * Address of the endpoint from outside, which says its own origin.
   *
   * @default {the request's host, with http or https}
   */
  readonly publicUrl?: string;
  /** Largest body that is read, in bytes. @default {16384} */
  readonly maxBodyBytes?: number;
  /**
   * Called with the error behind a 5xx response, which does not show it, and
   * with why an origin was refused, once for each of the first twenty.
   *
   * @default {(error) => console.error(error)}
   */
  readonly report?: (error: unknown) => void;
}

/** An answer of JSON that nobody may cache. */
type Answer = readonly [
  status: number,
  body: Readonly<Record<string, unknown>> | null,
  headers?: Readonly<Record<string, string>>,
];

/**
 * Makes the handler that a page asks for a session when a signed-in user
 * clicks: `POST`, JSON, from its own origin or a listed one. The API key stays
 * behind it.
 *
 * It answers `{ session_id, click_id, valid_for_ms }`, or `{ error }` with 400,
 * 401, 403, 405, 413, 415, 422 (the plan refused), 502 or 503. It makes the
 * click id itself, one for each session: a page that sends one gets 400
 * `send_no_click_id`, since a customer could otherwise choose which purchase an
 * order is compared with. **It does not limit rates**: each call creates a
 * session at the service, so put your framework's limiter before it, by user.
 *
 * @param options Who may ask, for what, and where sessions come from.
 * @returns A handler for `Deno.serve`, Hono, or any other fetch router.
 * @throws {TypeError} When `recordSession` is missing or `publicUrl` is no
 * address.
 *
 * @example Mount it
 * ```ts
 * import { sessionEndpoint } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const baskets = new Map([["u-1", 17]]); // the open basket of each user
 * const endpoint = sessionEndpoint({
 *   authorise: ({ headers }) => headers.has("cookie") ? { id: "u-1" } : null,
 *   plan: ({ user }) => ({
 *     session: { flow_type: "simple" },
 *     reference: `basket-${baskets.get(user.id)}`,
 *   }),
 *   createSession: () => Promise.resolve({ sessionId: "s-1" }),
 *   recordSession: () => Promise.resolve(), // the ledger's
 * });
 * const response = await endpoint(
 *   new Request("https://shop.example/session", {
 *     method: "POST",
 *     headers: {
 *       "content-type": "application/json",
 *       cookie: "login=1",
 *       origin: "https://shop.example",
 *     },
 *     body: "{}",
 *   }),
 * );
 * assert.equal((await response.json()).session_id, "s-1");
 * ```
 */
export function sessionEndpoint<User, Input extends SessionFields>(
  options: SessionEndpointOptions<User, Input>,
): (request: Request) => Promise<Response> {
  const { publicUrl, recordSession, report = console.error } = options;
  if (typeof recordSession !== "function") {
    throw new TypeError(
      "Cannot answer with sessions: recordSession is missing",
    );
  }
  if (publicUrl !== undefined && !URL.canParse(publicUrl)) {
    throw new TypeError(
      `Cannot answer with sessions: publicUrl is ${
        JSON.stringify(publicUrl)
      }; use a full http or https address`,
    );
  }
  const told = new Set<string | null>();
  return async (request) => {
    const origin = request.headers.get("origin");
    const allowed = options.allowedOrigins ?? ownOrigins(request, publicUrl);
    const isAllowed = origin !== null && allowed.includes(origin);
    if (!isAllowed && isAsked(request) && !told.has(origin) && told.size < 20) {
      told.add(origin);
      report(wrongOrigin(origin, allowed));
    }
    const [status, body, headers] = await answer(request, isAllowed, options)
      .catch((error): Answer => {
        report(error);
        return Reflect.get(Object(error), "retryable") === true
          ? [503, { error: "try_again" }, { "retry-after": "1" }]
          : [502, { error: "no_session" }];
      });
    return new Response(body && JSON.stringify(body), {
      status,
      headers: {
        ...(body && { "content-type": "application/json" }),
        ...(isAllowed && {
          "access-control-allow-origin": origin,
          "access-control-allow-credentials": "true",
        }),
        "cache-control": "no-store",
        vary: "origin",
        "x-content-type-options": "nosniff",
        ...headers,
      },
    });
  };
}

function isAsked({ method }: Request): boolean {
  return method === "POST" || method === "OPTIONS";
}

/** A proxy that ends TLS hides the scheme from us, not the host. */
function ownOrigins(request: Request, publicUrl?: string): string[] {
  if (publicUrl !== undefined) return [new URL(publicUrl).origin];
  const { host } = new URL(request.url);
  return ["https", "http"].map((scheme) =>
    new URL(`${scheme}://${host}`).origin
  );
}

function wrongOrigin(
  origin: string | null,
  allowed: readonly string[],
): TypeError & { readonly code: "wrong_origin" } {
  const from = origin === null
    ? "the request states no origin, as no browser does"
    : `the page's origin is ${JSON.stringify(origin.slice(0, 200))}`;
  const list = allowed.map((one) => JSON.stringify(one)).join(" or ");
  const error = new TypeError(
    `Cannot answer with a session: ${from}, not ${list}; if it is a page of ` +
      "yours, name its origin in allowedOrigins, or set publicUrl behind a " +
      "proxy",
  );
  return Object.assign(error, { code: "wrong_origin" as const });
}

async function answer<User, Input extends SessionFields>(
  request: Request,
  isAllowed: boolean,
  options: SessionEndpointOptions<User, Input>,
): Promise<Answer> {
  const refusal = (
    status: number,
    error: string,
  ): Answer => [status, { error }];
  if (!isAsked(request)) {
    return [405, { error: "method_not_allowed" }, { allow: "POST, OPTIONS" }];
  }
  if (!isAllowed) return refusal(403, "wrong_origin");
  if (request.method === "OPTIONS") {
    return [204, null, {
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": "content-type, authorization",
      "access-control-max-age": "600",
    }];
  }
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    return refusal(415, "not_json");
  }
  const user = await options.authorise(request);
  if (user === null) return refusal(401, "not_signed_in");
  const { maxBodyBytes = 16_384 } = options;
  const text = await textWithin(request.body, maxBodyBytes);
  if (text === null) return refusal(413, "too_large");
  const body = jsonRecord(text);
  if (body === null) return refusal(400, "bad_body");
  if (body.click_id !== undefined) return refusal(400, "send_no_click_id");
  const click = clickId();
  const plan = await options.plan({ user, clickId: click, input: body.input });
  if (plan === null) return refusal(422, "refused");
  const { session_id } = await recordedSession(plan, click, options);
  return [200, {
    session_id,
    click_id: click,
    valid_for_ms: sessionValidityMs,
  }];
}

/**
 * Makes a session, and records what was asked for, under the click id that the
 * widget will carry; gives what was recorded.
 */
export async function recordedSession<Input extends SessionFields>(
  { session, reference, expected, validForMs }: SessionPlan<Input>,
  click: string,
  { createSession, recordSession }: SessionPorts<Input>,
): Promise<SessionRecord> {
  const { sessionId, requestId } = await createSession(session);
  const record: SessionRecord = {
    session_id: sessionId,
    ...(requestId && { request_id: requestId }),
    click_id: click,
    ...(reference !== undefined && { reference }),
    flow_type: session.flow_type ?? "simple",
    ...termsOf(session),
    ...(expected && { expected: termsOf(expected) }),
    ...(validForMs && { valid_for_ms: validForMs }),
  };
  await recordSession(record);
  return record;
}

function termsOf(fields: ExpectedFields): ExpectedTexts {
  const { user_id, commodity, network, commodity_amount } = fields;
  const { currency, currency_amount, wallet_address } = fields;
  const terms = defined({
    ...{ user_id, commodity, network, commodity_amount },
    ...{ currency, currency_amount, wallet_address },
  });
  return Object.fromEntries(
    Object.entries(terms).map(([name, value]) => [name, String(value)]),
  );
}
