import { retryDelayMs, within } from "../core/waiting/waiting.ts";
import type { RequestHook, ResponseHook } from "./call_options.ts";
import { OnrampError, TimeoutError } from "./errors.ts";
import type { RateLimiter } from "./rate_limiter.ts";
import {
  type Answer,
  type Call,
  type Seen,
  sendOnce,
  type TransportOptions,
} from "./transport.ts";

/** What every call of a client shares. */
export interface CallerOptions extends TransportOptions {
  readonly budget: RateLimiter;
  /** A clock that is never set back, ms. */
  readonly steadyNow: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly retries: number;
  readonly hookBodies: boolean;
  readonly onRequest: RequestHook | undefined;
  readonly onResponse: ResponseHook | undefined;
}

/** Makes a call: waits for its turn, sends it, and retries where allowed. */
export async function makeCall(
  call: Call,
  options: CallerOptions,
): Promise<Answer> {
  const { signal } = call;
  const endsAt = options.steadyNow() + options.deadlineMs;
  const late = () => deadlineError(call, options);
  for (let attempt = 1;; attempt++) {
    const place = await options.budget.take(endsAt, late, signal);
    let failure: OnrampError;
    try {
      return await watched(call, options, {
        attempt,
        sentAt: place.startedAt,
        endsAt,
      });
    } catch (error) {
      if (!(error instanceof OnrampError)) throw error;
      failure = error;
    } finally {
      place.release();
    }
    const { retryAfterMs } = failure;
    if (retryAfterMs !== null) {
      options.budget.pauseUntil(
        Math.min(options.steadyNow() + retryAfterMs, endsAt),
      );
    }
    if (!call.repeatable || !failure.retryable || attempt > options.retries) {
      throw failure;
    }
    const waitMs = retryDelayMs({
      attempt,
      random: options.random(),
      retryAfterMs,
    });
    // The last failure says more than a deadline that is yet to come.
    if (options.steadyNow() + waitMs >= endsAt) throw failure;
    await options.sleep(waitMs, signal);
  }
}

function nameOf(error: unknown): string {
  return error instanceof OnrampError || error instanceof DOMException
    ? error.name
    : "Error";
}

/** One attempt, within its own time limit, reported to the hooks. */
async function watched(
  call: Call,
  options: CallerOptions,
  { attempt, sentAt, endsAt }: {
    readonly attempt: number;
    readonly sentAt: number;
    readonly endsAt: number;
  },
): Promise<Answer> {
  const { operation, method, url } = call;
  const shown = options.hookBodies && operation !== "cards.register";
  const seen: Seen = { status: null, text: null };
  let error: string | null = null;
  notify(options.onRequest, () => ({
    operation,
    method,
    url,
    attempt,
    body: shown ? call.body : null,
  }));
  try {
    return await within(
      Math.max(1, Math.min(options.timeoutMs, endsAt - sentAt)),
      call.signal,
      () => timeoutError(call, options.timeoutMs, endsAt - sentAt),
      (attemptSignal) => sendOnce(call, options, attemptSignal, seen),
    );
  } catch (caught) {
    error = nameOf(caught);
    throw caught;
  } finally {
    notify(options.onResponse, () => ({
      operation,
      method,
      url,
      attempt,
      status: seen.status,
      durationMs: options.steadyNow() - sentAt,
      error,
      body: shown && seen.text !== null ? call.redact(seen.text) : null,
    }));
  }
}

/** A hook that fails must not fail the call. */
function notify<T>(
  hook: ((info: T) => unknown) | undefined,
  info: () => T,
): void {
  if (hook === undefined) return;
  const told = info();
  try {
    const result = hook(told);
    if (result instanceof Promise) result.catch(() => {});
  } catch {
    // Watching is not worth an order.
  }
}

function timeoutError(
  call: Call,
  timeoutMs: number,
  remainingMs: number,
): TimeoutError {
  const last = remainingMs <= timeoutMs;
  const limitMs = Math.round(last ? remainingMs : timeoutMs);
  return new TimeoutError(
    `${call.action}: no complete answer within ${limitMs} ms` +
      `${last ? ", which was left of the deadline" : ""}; try again later`,
    { code: last ? "deadline" : "timeout" },
  );
}

function deadlineError(call: Call, options: CallerOptions): TimeoutError {
  return new TimeoutError(
    `${call.action}: the deadline of ${options.deadlineMs} ms has passed; ` +
      "try again later, or raise deadlineMs",
    { code: "deadline" },
  );
}
