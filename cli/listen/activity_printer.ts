import type { OrderState, Transition, UserState } from "../../ledger/mod.ts";
import type { AnsweredRequest } from "../../webhooks/mod.ts";
import { bodyValue, classify } from "../../core/webhook_event/classify_body.ts";
import { isOrderEvent } from "../../core/webhook_event/webhook_event.ts";
import { parseWebhook } from "../../core/webhook_event/parse_webhook.ts";
import { transitionType } from "../../server/forwarding/transition_message.ts";
import { printable, printableJson } from "../../core/text.ts";
import { type Io, paint, type Style } from "../program/io.ts";

/** Something that happened: a delivery, a transition, a forwarded webhook. */
export interface Activity {
  /**
   * `in`: a delivery came and was answered. `now`: an order or user entered a
   * status. `out`: a webhook was sent on.
   */
  readonly kind: "in" | "now" | "out";
  /** When it happened, UTC ISO 8601 with milliseconds. */
  readonly time: string;
  /** Type of the webhook, or of the transition. */
  readonly type: string;
  /** What it is about; null where that is not known. */
  readonly entity: "order" | "user" | null;
  /** Order or user identifier. */
  readonly id: string | null;
  /** What the customer pays, a decimal string. */
  readonly currencyAmount: string | null;
  /** In which currency. */
  readonly currency: string | null;
  /** What the customer gets, a decimal string. */
  readonly cryptoAmount: string | null;
  /** Of which asset. */
  readonly commodity: string | null;
  /** Status of the answer, ours or the target's. */
  readonly answer: number | null;
  /** Time until the answer, in ms. */
  readonly tookMs: number | null;
  /** Of `out`: where it was sent. */
  readonly target: string | null;
  /** What else there is to say: why it was refused, or whether to release. */
  readonly detail: string | null;
}

/** An activity of which only kind and time are known yet. */
function begin(kind: Activity["kind"], nowMs: number): Activity {
  return {
    kind,
    time: new Date(nowMs).toISOString(),
    type: "",
    entity: null,
    id: null,
    currencyAmount: null,
    currency: null,
    cryptoAmount: null,
    commodity: null,
    answer: null,
    tookMs: null,
    target: null,
    detail: null,
  };
}

/** Most characters of a detail that came from outside. */
const LONGEST_DETAIL = 200;
/** Longer than any id or amount of the service; a forged one has no limit. */
const LONGEST_VALUE = 120;

/** A request that the endpoint answered. Never throws, whatever the body. */
export function answeredActivity(
  { delivery, status, refusal, durationMs }: AnsweredRequest,
  nowMs: number,
): Activity {
  return {
    ...begin("in", nowMs),
    ...(delivery === null ? { type: "refused" } : contentOf(delivery.body)),
    ...(refusal === null ? {} : { detail: refusal }),
    answer: status,
    tookMs: Math.round(durationMs),
  };
}

function contentOf(body: Uint8Array): Partial<Activity> {
  const { type, why } = classify(bodyValue(body));
  if (why !== null) return { type, detail: why.slice(0, LONGEST_DETAIL) };
  const event = parseWebhook(body);
  if (isOrderEvent(event)) {
    const { id, quote, quote_amount, base, base_amount } = event.order;
    return {
      type,
      entity: "order",
      id: value(id),
      currency: value(quote),
      currencyAmount: value(quote_amount),
      commodity: value(base),
      cryptoAmount: value(base_amount),
    };
  }
  const id = event.type === "otp_status"
    ? event.user_id
    : "user" in event
    ? event.user?.user_id
    : undefined;
  return { type, entity: id === undefined ? null : "user", id: value(id) };
}

function value(text: string | undefined): string | null {
  return text?.slice(0, LONGEST_VALUE) || null;
}

/** A transition, with the order or user as it is now. */
export function transitionActivity(
  transition: Transition,
  state: OrderState | UserState | null,
  nowMs: number,
): Activity {
  const { entity, id } = transition;
  return {
    ...begin("now", nowMs),
    type: transitionType(transition),
    entity,
    id,
    ...(state !== null && "release" in state && {
      currency: state.currency,
      currencyAmount: state.currencyAmount,
      commodity: state.commodity,
      cryptoAmount: state.cryptoAmount,
      detail: transition.trust === "confirmed"
        ? `release: ${state.release}`
        : null,
    }),
  };
}

/** A webhook that was sent on, or could not be. */
export function forwardedActivity(
  sent: Partial<Activity>,
  nowMs: number,
): Activity {
  return { ...begin("out", nowMs), ...sent };
}

/** Prints what happens, one line each, without delaying it. */
export class ActivityPrinter {
  readonly #io: Io;
  readonly #json: boolean;
  readonly #lines: LineQueue;

  /** Prints nothing yet. */
  constructor(io: Io, json: boolean) {
    this.#io = io;
    this.#json = json;
    this.#lines = new LineQueue({
      write: (text) => io.outLater?.(text) ?? Promise.resolve(io.out(text)),
      skipped: (lines) =>
        json
          ? printableJson({ skipped: lines })
          : printable(`${lines} lines were left out: nobody took them`),
    });
  }

  /** Prints something that happened. */
  print(make: () => Activity): void {
    this.#lines.add(() => {
      const activity = make();
      return this.#json
        ? printableJson(activity)
        : activityLine(activity, this.#io);
    });
  }

  /** Prints a request that the endpoint answered. */
  readonly answered = (request: AnsweredRequest): void => {
    const nowMs = this.#io.now();
    this.print(() => answeredActivity(request, nowMs));
  };

  /** Waits a moment for what is not written yet. */
  drain(): Promise<void> {
    return this.#lines.drain(1000);
  }
}

/** What a line is written on. */
interface Terminal {
  /** Width in columns; null where there is no terminal. */
  readonly columns: number | null;
  /** Whether it wants colours. */
  readonly colour: boolean;
}

/** From these widths on a line holds all, or all but the asset's amount; on a
 * narrower terminal amounts and milliseconds are left out, never the id. */
const WIDTHS = { all: 136, most: 98 };

const KINDS: Readonly<Record<Activity["kind"], Style>> = {
  in: "cyan",
  now: "bold",
  out: "magenta",
};

/**
 * What happened in one line: time, `in`, `now` or `out`, type, id, amounts, the
 * answer, and what else there is to say. Nothing from outside reaches a
 * terminal as anything but text.
 */
export function activityLine(
  activity: Activity,
  { columns, colour }: Terminal,
): string {
  const width = columns ?? Infinity;
  const [all, most] = [width >= WIDTHS.all, width >= WIDTHS.most];
  const written = (style: Style | null, text: string): string => {
    const shown = printable(text);
    return colour && style !== null ? paint(style, shown) : shown;
  };
  const { kind, time, type, id, answer, tookMs, detail } = activity;
  const paid = amount(activity.currencyAmount, activity.currency);
  const got = amount(activity.cryptoAmount, activity.commodity);
  const parts = [
    written("dim", time.slice(11, all ? 23 : 19)),
    written(KINDS[kind], kind.padEnd(3)),
    written(
      typeStyle(activity),
      shorten(type, LONGEST).padEnd(
        all ? TYPE_WIDTH.all : TYPE_WIDTH.most,
      ),
    ),
    written(null, shorten(id ?? "", LONGEST).padEnd(ID_WIDTH)),
    ...(most ? [written(null, paid.padStart(AMOUNT_WIDTH))] : []),
    ...(all ? [written("dim", got.padEnd(ASSET_WIDTH))] : []),
    ...(answer === null ? [] : [written(
      answer >= 200 && answer < 300 ? "green" : "red",
      tookMs === null || !most ? String(answer) : `${answer} in ${tookMs} ms`,
    )]),
    ...(detail === null ? [] : [written(detailStyle(activity), detail)]),
  ];
  return parts.join("  ").trimEnd();
}

/** As wide as `user.lkyc.confirmed.success`, and `…not initiated`. */
const TYPE_WIDTH = { most: 27, all: 33 };
/** As wide as a ULID. */
const ID_WIDTH = 26;
const AMOUNT_WIDTH = 12;
const ASSET_WIDTH = 24;
/** Longer than any real type or id, in characters. */
const LONGEST = 80;

/** What is only claimed stands back behind what is confirmed. */
function typeStyle({ kind, type }: Activity): Style | null {
  if (kind !== "now") return null;
  return type.includes(".confirmed.") ? "bold" : "dim";
}

function detailStyle({ kind, detail }: Activity): Style {
  if (kind !== "now") return "yellow";
  return detail === "release: yes" ? "green" : "dim";
}

function amount(value: string | null, unit: string | null): string {
  return value === null ? "" : `${shorten(value, 24)} ${unit ?? ""}`.trimEnd();
}

function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** What lines are written with. */
interface LineQueueOptions {
  /** Writes a text; resolves once it is written. */
  readonly write: (text: string) => Promise<void>;
  /** Makes the line that says how many were left out. */
  readonly skipped: (lines: number) => string;
  /** Lines that may wait. @default 2000 */
  readonly most?: number;
}

/**
 * Writes lines later, so that adding one never waits. A terminal that was
 * stopped, or a pipe whose reader pauses, must not make a delivery wait: lines
 * beyond a limit are left out and counted.
 */
export class LineQueue {
  readonly #options: LineQueueOptions;
  readonly #most: number;
  #added: (() => string)[] = [];
  #lines: string[] = [];
  #skipped = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #writing: Promise<void> | null = null;

  /** Nothing is written yet. */
  constructor(options: LineQueueOptions) {
    this.#options = options;
    this.#most = options.most ?? 2000;
  }

  /** Adds a line; it is made soon, after the work under way. */
  add(line: () => string): void {
    if (this.#added.length + this.#lines.length >= this.#most) {
      this.#skipped++;
      return;
    }
    this.#added.push(line);
    // The body behind a line must not be held in memory while a reader pauses.
    this.#timer ??= setTimeout(() => this.#make(), 0);
  }

  /** Resolves when nothing waits, or after `timeoutMs`. */
  async drain(timeoutMs: number): Promise<void> {
    this.#make();
    if (this.#writing === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([this.#writing, late]);
    clearTimeout(timer);
  }

  #make(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const line of this.#added.splice(0)) this.#lines.push(line());
    if (this.#lines.length > 0) this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    while (this.#lines.length > 0) {
      const lines = this.#lines.splice(0);
      if (this.#skipped > 0) {
        lines.push(this.#options.skipped(this.#skipped));
        this.#skipped = 0;
      }
      // The reader may be gone; the work that is reported goes on.
      await this.#options.write(`${lines.join("\n")}\n`).catch(() => {});
    }
    this.#writing = null;
  }
}
