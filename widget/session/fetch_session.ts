import { SessionError } from "./session_error.ts";
import { SessionTicket } from "./session_ticket.ts";

/** How to ask your own endpoint for a session. */
export interface FetchSessionOptions {
  /** Data for the endpoint's `plan`, for example a basket id. */
  readonly input?: unknown;
  /**
   * How to ask.
   *
   * @default {fetch}
   */
  readonly fetch?: typeof fetch;
  /**
   * Clock, in milliseconds.
   *
   * @default {Date.now}
   */
  readonly now?: () => number;
  /** Stops asking. */
  readonly signal?: AbortSignal;
}

/**
 * Asks your own endpoint, made with {@linkcode sessionEndpoint}, for a
 * session. Runs in the browser; no key is involved.
 *
 * @param url The endpoint, usually on the page's own origin.
 * @param options What to tell it, and how to ask.
 * @returns A ticket for one widget.
 * @throws {SessionError} `refused`, `network` or `bad_answer`.
 *
 * @example Ask at the click
 * ```ts
 * import { fetchSession } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const ticket = await fetchSession("https://shop.example/session", {
 *   input: { basket: "b-1" },
 *   fetch: () => Promise.resolve(Response.json({ session_id: "s-1" })),
 * });
 * assert.equal(ticket.take(Date.now()), "s-1");
 * ```
 */
export async function fetchSession(
  url: string | URL,
  options: FetchSessionOptions = {},
): Promise<SessionTicket> {
  const { input, signal, now = Date.now } = options;
  const ask = options.fetch ?? fetch;
  const askedAt = now();
  const response = await reach(() =>
    ask(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        ...(input !== undefined && { input }),
      }),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      ...(signal && { signal }),
    }), signal);
  if (!response.ok) {
    await response.body?.cancel();
    const { status } = response;
    throw new SessionError(
      "refused",
      `Cannot get a session: the endpoint answered ${status}`,
      { status },
    );
  }
  const answer: unknown = await reach(() => response.text(), signal).then(json);
  const sessionId = field(answer, "session_id");
  if (sessionId === null) {
    const { status } = response;
    throw new SessionError(
      "bad_answer",
      "Cannot get a session: the endpoint answered without a session_id",
      { status },
    );
  }
  return new SessionTicket({
    sessionId,
    clickId: field(answer, "click_id") ?? null,
    askedAt,
  });
}

async function reach<T>(
  act: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw new SessionError(
      "network",
      "Cannot get a session: the endpoint could not be reached",
      { cause },
    );
  }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function field(answer: unknown, name: string): string | null {
  if (typeof answer !== "object" || answer === null) return null;
  const value: unknown = Reflect.get(answer, name);
  return typeof value === "string" && value !== "" ? value : null;
}
