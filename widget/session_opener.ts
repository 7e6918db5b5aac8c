import { defined, jsonRecord } from "../core/guards.ts";
import { sessionValidityMs } from "../core/rules/session_limits.ts";
import type { WidgetDraft, WidgetOptions } from "./option_rows.ts";

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
  /**
   * Whether cookies go along: `include` for an endpoint on another origin that
   * knows the user by them.
   *
   * @default {"same-origin"}
   */
  readonly credentials?: "omit" | "same-origin" | "include";
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
  const { input, signal, now = Date.now, fetch: ask = fetch } = options;
  const { credentials = "same-origin" } = options;
  const askedAt = now();
  let response: Response;
  let text = "";
  try {
    response = await ask(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(defined({ input })),
      credentials,
      cache: "no-store",
      redirect: "error",
      ...defined({ signal }),
    });
    if (response.ok) text = await response.text();
    else await response.body?.cancel();
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw noSession("network", "could not be reached", { cause });
  }
  const { ok, status } = response;
  if (!ok) throw noSession("refused", `answered ${status}`, { status });
  const answer = jsonRecord(text) ?? {};
  const sessionId = textOf(answer.session_id);
  if (sessionId === null) {
    throw noSession("bad_answer", "answered without a session_id", { status });
  }
  const clickId = textOf(answer.click_id);
  return new SessionTicket({ sessionId, clickId, askedAt });
}

function noSession(
  code: SessionErrorCode,
  problem: string,
  more: { readonly status?: number; readonly cause?: unknown },
): SessionError {
  const message = `Cannot get a session: the endpoint ${problem}`;
  return new SessionError(code, message, more);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** What the opener needs of a widget; the official SDK's class has it. */
export interface WidgetHandle {
  /** Shows the widget. */
  open(): void;
  /** Removes the widget. */
  close(): void;
}

/** Options of {@linkcode WidgetOpener}. */
export interface WidgetOpenerOptions<Widget extends WidgetHandle> {
  /** The official SDK's class. */
  readonly Widget: new (options: WidgetOptions) => Widget;
  /** Checked options that lack their session. */
  readonly draft: WidgetDraft;
  /** Asks for a session, for example with {@linkcode fetchSession}. */
  readonly askSession: (
    options: { readonly signal: AbortSignal },
  ) => Promise<SessionTicket>;
  /**
   * Clock, in milliseconds.
   *
   * @default {Date.now}
   */
  readonly now?: () => number;
}

/**
 * Opens the widget when the user clicks: asks for a session, opens at once,
 * and never uses a session twice.
 *
 * A second click while one is being asked for, or while the widget is open,
 * gives the same widget. A session that expired in the meantime is renewed
 * once. After the widget is closed the next click asks for a new session.
 *
 * @example A button
 * ```ts
 * import {
 *   draftOptions,
 *   SessionTicket,
 *   WidgetOpener,
 * } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const addresses: string[] = [];
 * class Widget { // stands in for the official SDK's class
 *   #session: string;
 *   constructor(options: { session_id: string }) {
 *     this.#session = options.session_id;
 *   }
 *   open() {
 *     addresses.push(this.#session);
 *   }
 *   close() {}
 * }
 * const opener = new WidgetOpener({
 *   Widget,
 *   draft: draftOptions({ partner_id: "01ABC" }, { environment: "sandbox" }),
 *   askSession: () =>
 *     Promise.resolve(
 *       new SessionTicket({ sessionId: "s-1", askedAt: Date.now() }),
 *     ),
 * });
 * await Promise.all([opener.open(), opener.open()]); // a double click
 * assert.deepEqual(addresses, ["s-1"]);
 * ```
 */
export class WidgetOpener<Widget extends WidgetHandle> {
  readonly #options: WidgetOpenerOptions<Widget>;
  readonly #now: () => number;
  #opening: Promise<Widget> | null = null;
  #widget: Widget | null = null;
  #stop = new AbortController();

  /**
   * Creates an opener for one button.
   *
   * @param options The SDK's class, checked options, and where sessions come
   * from.
   */
  constructor(options: WidgetOpenerOptions<Widget>) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** `asking` for a session, `open`, or `closed`. */
  get state(): "asking" | "open" | "closed" {
    if (this.#widget !== null) return "open";
    return this.#opening === null ? "closed" : "asking";
  }

  /**
   * Opens the widget, or gives the one that is open.
   *
   * @returns The SDK's widget.
   * @throws {SessionError} When there is no session to open it with.
   * @throws {DOMException} `AbortError` when {@linkcode close} came first.
   */
  open(): Promise<Widget> {
    if (this.#widget !== null) return Promise.resolve(this.#widget);
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  /** Closes the widget if it is open, and stops asking for a session. */
  close(): void {
    this.#stop.abort();
    this.#widget?.close();
  }

  async #open(): Promise<Widget> {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    const ticket = await this.#freshTicket(signal);
    signal.throwIfAborted();
    const { Widget, draft } = this.#options;
    const session_id = ticket.take(this.#now());
    const widget = new Widget({
      ...draft,
      session_id,
      ...(ticket.clickId !== null && { click_id: ticket.clickId }),
    });
    // A listener would not do: the SDK lets the page remove or replace them.
    const close = widget.close.bind(widget);
    widget.close = () => {
      if (this.#widget === widget) this.#widget = null;
      close();
    };
    this.#widget = widget;
    try {
      widget.open();
    } catch (error) {
      this.#widget = null;
      throw error;
    }
    return widget;
  }

  async #freshTicket(signal: AbortSignal): Promise<SessionTicket> {
    const { askSession } = this.#options;
    const first = await askSession({ signal });
    if (first.state(this.#now()) === "fresh") return first;
    signal.throwIfAborted();
    const second = await askSession({ signal });
    const state = second.state(this.#now());
    if (state === "fresh") return second;
    throw new SessionError(
      state,
      `Cannot open the widget: two sessions in a row were ${state}; ask for ` +
        "a new one at each click",
    );
  }
}

// The widget's own page needs time to load and present the session.
const marginMs = 2_000;

/**
 * A session that opens one widget, once, while it is fresh.
 *
 * Its age counts from before the request, so it is renewed a little early
 * rather than late.
 *
 * @example Use it once
 * ```ts
 * import { SessionTicket } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const ticket = new SessionTicket({ sessionId: "s-1", askedAt: 0 });
 * assert.equal(ticket.take(1_000), "s-1");
 * assert.throws(() => ticket.take(1_001), { code: "used" });
 * ```
 */
export class SessionTicket {
  /** Click id that goes with the session; null when there is none. */
  readonly clickId: string | null;
  /** When it was asked for, in milliseconds since 1970. */
  readonly askedAt: number;
  readonly #sessionId: string;
  #isUsed = false;

  /**
   * Makes a ticket.
   *
   * @param session The session, and when it was asked for (milliseconds).
   */
  constructor(
    session: {
      readonly sessionId: string;
      readonly clickId?: string | null;
      readonly askedAt: number;
    },
  ) {
    this.#sessionId = session.sessionId;
    this.clickId = session.clickId ?? null;
    this.askedAt = session.askedAt;
  }

  /**
   * Says whether it can still open a widget.
   *
   * @param now Milliseconds since 1970.
   * @returns `fresh`, `stale` (too old) or `used`.
   */
  state(now: number): "fresh" | "stale" | "used" {
    if (this.#isUsed) return "used";
    const age = now - this.askedAt;
    // After the clock is set back the age is unknown, so ask again.
    const isFresh = age >= 0 && age < sessionValidityMs - marginMs;
    return isFresh ? "fresh" : "stale";
  }

  /**
   * Returns the session id, and marks the ticket as used.
   *
   * @param now Milliseconds since 1970.
   * @returns The session id.
   * @throws {SessionError} `used` or `stale`.
   */
  take(now: number): string {
    const state = this.state(now);
    if (state !== "fresh") {
      const problem = state === "used"
        ? "has opened one already"
        : "is older than its 30 seconds";
      throw new SessionError(
        state,
        `Cannot open the widget: the session ${problem}; ask for another`,
      );
    }
    this.#isUsed = true;
    return this.#sessionId;
  }
}

/**
 * Why there is no session to open the widget with.
 *
 * - `refused`: your endpoint refused; `status` says how.
 * - `network`: the endpoint could not be reached.
 * - `bad_answer`: it answered, but not with a session.
 * - `stale`: the session is older than its 30 seconds.
 * - `used`: the session has opened a widget already.
 */
export type SessionErrorCode =
  | "refused"
  | "network"
  | "bad_answer"
  | "stale"
  | "used";

/** Thrown when the widget has no session to open with. */
export class SessionError extends Error {
  /** Literal name. */
  override readonly name = "SessionError";
  /** Why. */
  readonly code: SessionErrorCode;
  /** HTTP status of the answer; null where there was none. */
  readonly status: number | null;

  /**
   * Creates the error.
   *
   * @param code Why.
   * @param message For people; never holds a session id.
   * @param options HTTP status and cause, where there are any.
   */
  constructor(
    code: SessionErrorCode,
    message: string,
    options: { readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : {});
    this.code = code;
    this.status = options.status ?? null;
  }
}
