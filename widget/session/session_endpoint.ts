import { validityMs } from "./_session_validity.ts";
import { clickId } from "../options/click_id.ts";
import {
  isSameOrigin,
  json,
  parseBody,
  readText,
  refusal,
} from "./_session_request.ts";
import type { SessionFields } from "../options/ignored_options.ts";

/** Fields that an order is compared with. */
const TERMS = [
  "user_id",
  "commodity",
  "network",
  "commodity_amount",
  "currency",
  "currency_amount",
  "wallet_address",
] as const satisfies readonly (keyof ExpectedFields)[];

/** What to ask the service for, and what to remember of it. */
export interface SessionPlan<Input extends SessionFields> {
  /** The session to create; your server decides, never the browser. */
  readonly session: Input;
  /**
   * Your own reference of this purchase, for example a basket or an invoice: it
   * is stored in the ledger. Not of the user: an order of one basket would then
   * be compared with another.
   */
  readonly reference?: string;
  /**
   * What the order is to be compared with where the session does not say it: a
   * session of a smart contract has no amount. What is stated here counts in
   * place of the session's own field.
   *
   * @default {what the session says}
   */
  readonly expected?: ExpectedFields;
  /**
   * How long an order of this session is expected, in milliseconds.
   *
   * @default {seven days}
   */
  readonly validForMs?: number;
}

/** What an order is compared with, in the session's own words. */
export interface ExpectedFields {
  /** User of the service. */
  readonly user_id?: string;
  /** Asset. */
  readonly commodity?: string;
  /** Network. */
  readonly network?: string;
  /** Asset amount. */
  readonly commodity_amount?: string | number;
  /** Fiat currency. */
  readonly currency?: string;
  /** Fiat amount. */
  readonly currency_amount?: string | number;
  /** Address. */
  readonly wallet_address?: string;
}

/** What a session's plan is made from. */
export interface SessionPlanContext<User> {
  /** The user that `authorise` returned. */
  readonly user: User;
  /** Click id that the widget will carry. */
  readonly clickId: string;
  /** What the page sent along: untrusted, of any shape. */
  readonly input: unknown;
}

/** A session as created, to be remembered; the ledger's own shape. */
export interface SessionRecord {
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
  /** User the session is for. */
  readonly user_id?: string;
  /** Asset asked for. */
  readonly commodity?: string;
  /** Network asked for. */
  readonly network?: string;
  /** Asset amount asked for, a decimal string. */
  readonly commodity_amount?: string;
  /** Fiat currency asked for. */
  readonly currency?: string;
  /** Fiat amount asked for, a decimal string. */
  readonly currency_amount?: string;
  /** Address asked for. */
  readonly wallet_address?: string;
  /** What the plan expects apart from the session's own fields. */
  readonly expected?: {
    readonly [Field in keyof ExpectedFields]?: string;
  };
  /** How long it is valid, in milliseconds; seven days unless stated. */
  readonly valid_for_ms?: number;
}

/** What the endpoint works with. */
export interface SessionEndpointOptions<User, Input extends SessionFields> {
  /** The signed-in user; null when there is none. */
  readonly authorise: (
    request: Request,
  ) => User | null | Promise<User | null>;
  /**
   * Decides what session the user gets; null refuses. Amounts and addresses
   * are to come from your own records.
   */
  readonly plan: (
    ask: SessionPlanContext<User>,
  ) => SessionPlan<Input> | null | Promise<SessionPlan<Input> | null>;
  /** Creates a session: the client's `sessions.create`. */
  readonly createSession: (
    session: Input,
  ) => Promise<
    { readonly sessionId: string; readonly requestId?: string | null }
  >;
  /**
   * Records the session: the ledger's `recordSession`. A session that cannot be
   * recorded is not handed out, since its order could be compared with nothing.
   */
  readonly recordSession: (record: SessionRecord) => Promise<void>;
  /**
   * Origins that may ask, where the page lives elsewhere or a proxy hides the
   * public name.
   *
   * @default {[the request's own origin]}
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * Largest body that is read, in bytes.
   *
   * @default {16384}
   */
  readonly maxBodyBytes?: number;
  /**
   * Called with the error behind a 5xx response, which does not show it.
   *
   * @default {(error) => console.error(error)}
   */
  readonly report?: (error: unknown) => void;
}

/**
 * Makes the one small handler that a page asks for a session when a signed-in
 * user clicks: `POST`, JSON, same origin only. The API key stays behind it.
 *
 * It answers `{ session_id, click_id, valid_for_ms }`, or `{ error }` with
 * 401, 403, 405, 413, 415, 422 (the plan refused), 400, 502 or 503. It makes the
 * click id itself, one for each session: a page that sends one gets 400 `send_no_click_id`, since a
 * customer could otherwise choose which purchase an order is compared with. **It does
 * not limit rates**: each call creates a session at the service, so put your
 * framework's limiter before it, by user.
 *
 * @param options Who may ask, for what, and where sessions come from.
 * @returns A handler for `Deno.serve`, Hono, or any other fetch router.
 * @throws {TypeError} When `recordSession` is missing.
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
  if (typeof options.recordSession !== "function") {
    throw new TypeError(
      "Cannot answer with sessions: recordSession is missing",
    );
  }
  const report = options.report ?? ((error) => console.error(error));
  return async (request) => {
    try {
      return await answer(request, options);
    } catch (error) {
      report(error);
      const isTransient = Reflect.get(Object(error), "retryable") === true;
      return isTransient
        ? refusal(503, "try_again", { "retry-after": "1" })
        : refusal(502, "no_session");
    }
  };
}

async function answer<User, Input extends SessionFields>(
  request: Request,
  options: SessionEndpointOptions<User, Input>,
): Promise<Response> {
  if (request.method !== "POST") {
    return refusal(405, "method_not_allowed", { allow: "POST" });
  }
  if (!isSameOrigin(request, options.allowedOrigins)) {
    return refusal(403, "wrong_origin");
  }
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    return refusal(415, "not_json");
  }
  const user = await options.authorise(request);
  if (user === null) return refusal(401, "not_signed_in");
  const text = await readText(request, options.maxBodyBytes ?? 16_384);
  if (text === null) return refusal(413, "too_large");
  const body = parseBody(text);
  if (body === null) return refusal(400, "bad_body");
  if (body.click_id !== undefined) return refusal(400, "send_no_click_id");
  const click = clickId();
  const plan = await options.plan({ user, clickId: click, input: body.input });
  if (plan === null) return refusal(422, "refused");
  const created = await options.createSession(plan.session);
  const record = sessionRecord(plan, created, click);
  await options.recordSession(record);
  return json(200, {
    session_id: record.session_id,
    click_id: click,
    valid_for_ms: validityMs,
  });
}

function sessionRecord<Input extends SessionFields>(
  plan: SessionPlan<Input>,
  created: { readonly sessionId: string; readonly requestId?: string | null },
  click: string,
): SessionRecord {
  const { session, reference, expected, validForMs } = plan;
  return {
    session_id: created.sessionId,
    ...(created.requestId && { request_id: created.requestId }),
    click_id: click,
    ...(reference !== undefined && { reference }),
    flow_type: session.flow_type ?? "simple",
    ...termsOf(session),
    ...(expected && { expected: termsOf(expected) }),
    ...(validForMs && { valid_for_ms: validForMs }),
  };
}

function termsOf(
  fields: SessionFields | ExpectedFields,
): Partial<Record<typeof TERMS[number], string>> {
  const terms: Partial<Record<typeof TERMS[number], string>> = {};
  for (const name of TERMS) {
    const value = fields[name];
    if (value !== undefined) terms[name] = String(value);
  }
  return terms;
}
