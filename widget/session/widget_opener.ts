import type { WidgetDraft, WidgetOptions } from "../options/sdk_options.ts";
import { SessionError } from "./session_error.ts";
import type { SessionTicket } from "./session_ticket.ts";

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
