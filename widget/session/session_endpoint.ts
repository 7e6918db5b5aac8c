import { isRecord } from "../../core/guards.ts";
import { sessionValidityMs } from "../../core/rules/session_validity.ts";
import { clickId } from "../options/click_id.ts";
import type { SessionFields } from "../options/ignored_options.ts";
import {
  recordedSession,
  type SessionPlan,
  type SessionRecord,
} from "./recorded_session.ts";

/** What a session's plan is made from. */
export interface SessionPlanContext<User> {
  /** The user that `authorise` returned. */
  readonly user: User;
  /** Click id that the widget will carry. */
  readonly clickId: string;
  /** What the page sent along: untrusted, of any shape. */
  readonly input: unknown;
}

/** Options of {@linkcode sessionEndpoint}. */
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
   * recorded is not handed out, because there would be nothing to compare its
   * order with.
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
 * Makes the handler that a page asks for a session when a signed-in user
 * clicks: `POST`, JSON, same origin only. The API key stays behind it.
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
  const record = await recordedSession(plan, { ...options, clickId: click });
  return json(200, {
    session_id: record.session_id,
    click_id: click,
    valid_for_ms: sessionValidityMs,
  });
}

/**
 * Whether the request comes from an allowed page. Browsers send the origin of
 * every POST. A request without one is not from a browser, so it is refused.
 */
function isSameOrigin(
  request: Request,
  allowed: readonly string[] | undefined,
): boolean {
  const origin = request.headers.get("origin");
  if (origin === null) return false;
  return (allowed ?? [new URL(request.url).origin]).includes(origin);
}

/** The body's text, or null when it is longer than allowed. */
async function readText(
  request: Request,
  maxBytes: number,
): Promise<string | null> {
  if (request.body === null) return "";
  const reader = request.body.getReader();
  const decoder = new TextDecoder();
  let size = 0;
  let text = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** The page's request, or null when it cannot be read. */
function parseBody(
  text: string,
): Readonly<Record<string, unknown>> | null {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) ? body : null;
  } catch {
    return null;
  }
}

/** A refusal, as one code. */
function refusal(
  status: number,
  error: string,
  headers: Record<string, string> = {},
): Response {
  return json(status, { error }, headers);
}

/** An answer that must not be cached. */
function json(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Response {
  return Response.json(body, {
    status,
    headers: {
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}
