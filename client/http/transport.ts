import { isRecord } from "../../core/guards.ts";
import type { ResponseErrorCode } from "../errors/error_codes.ts";
import { NetworkError } from "../errors/network_error.ts";
import { OnrampError } from "../errors/onramp_error.ts";
import { ResponseError } from "../errors/response_error.ts";
import { errorOf } from "./_error_map.ts";
import { parseExact } from "../../core/json/exact_json.ts";
import type { Operation } from "./hooks.ts";
import { cleanCause, type Redact } from "./redact.ts";

/** One request, ready to be sent any number of times. */
export interface Call {
  readonly operation: Operation;
  /** What could not be done, as the beginning of a sentence. */
  readonly action: string;
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body: string | null;
  /** Whether sending it twice does no harm. */
  readonly repeatable: boolean;
  readonly redact: Redact;
  readonly signal: AbortSignal | undefined;
}

/** A 2xx answer with a JSON body. */
export interface Answer {
  readonly status: number;
  /** The exact text received. */
  readonly text: string;
  /** The body; every number is a decimal string. */
  readonly body: unknown;
  readonly requestId: string | null;
  /** The `Date` header, else our clock when asking; UTC ISO 8601. */
  readonly readAt: string;
}

/** What an attempt needs of the world. */
export interface TransportOptions {
  readonly fetch: typeof fetch;
  readonly headers: Readonly<Record<string, string>>;
  readonly now: () => number;
}

/** Progress of an attempt, for those who watch it. */
export interface Seen {
  status: number | null;
  text: string | null;
}

/**
 * A hundred times the size of a large page. Reading an answer takes up to about
 * sixty times its size, whatever it holds.
 */
const maxBodyBytes = 4 * 1024 * 1024;

/** Sends a call once. Every failure is one of our errors, or the abort's reason. */
export async function sendOnce(
  call: Call,
  options: TransportOptions,
  signal: AbortSignal,
  seen: Seen,
): Promise<Answer> {
  const askedAt = options.now();
  try {
    const response = await options.fetch(call.url, {
      method: call.method,
      headers: call.body === null
        ? options.headers
        : { ...options.headers, "content-type": "application/json" },
      body: call.body,
      // The key must not follow a redirect to another place.
      redirect: "manual",
      signal,
    });
    seen.status = response.status;
    return await readAnswer(call, response, askedAt, options.now, signal, seen);
  } catch (error) {
    if (error instanceof OnrampError) throw error;
    signal.throwIfAborted();
    throw new NetworkError(
      `${call.action}: the connection to ${new URL(call.url).origin} failed; ` +
        "try again later",
      { status: seen.status, cause: cleanCause(error, call.redact) },
    );
  }
}

async function readAnswer(
  call: Call,
  response: Response,
  askedAt: number,
  now: () => number,
  signal: AbortSignal,
  seen: Seen,
): Promise<Answer> {
  const { status, headers } = response;
  const requestId = headers.get("x-request-id");
  const broken = (code: ResponseErrorCode, what: string): ResponseError =>
    new ResponseError(
      `${call.action}: the service answered ${status} ${what}`,
      {
        code,
        status: status === 0 ? null : status,
        requestId: requestId === null ? null : call.redact(requestId),
      },
    );
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    await response.body?.cancel();
    throw broken(
      "redirected",
      "with a redirect, which the API key does not follow; check the " +
        "addresses of the environment",
    );
  }
  const text = await readText(response, signal);
  if (text === null) {
    throw broken("too_large", `with more than ${maxBodyBytes} bytes`);
  }
  seen.text = text;
  const body = parse(text);
  if (!response.ok) {
    throw errorOf({
      operation: call.operation,
      action: call.action,
      status,
      body,
      requestId,
      retryAfter: headers.get("retry-after"),
      nowMs: now(),
      redact: call.redact,
    });
  }
  if (text.trim() === "") throw broken("empty_body", "with an empty body");
  if (body === undefined) {
    throw broken("not_json", "with a body that is not JSON");
  }
  if (isRecord(body) && body.success === false) {
    throw broken("not_successful", "with success: false");
  }
  return {
    status,
    text,
    body,
    requestId: requestId ?? statedRequestId(body),
    readAt: readAtOf(headers.get("date"), askedAt),
  };
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

function statedRequestId(body: unknown): string | null {
  const stated = isRecord(body) ? body.requestId ?? body.request_id : null;
  return typeof stated === "string" ? stated : null;
}

function readAtOf(header: string | null, askedAt: number): string {
  const stated = header === null ? Number.NaN : Date.parse(header);
  return new Date(Number.isNaN(stated) ? askedAt : stated).toISOString();
}

/** The body as text; null when it exceeds the limit. */
async function readText(
  response: Response,
  signal: AbortSignal,
): Promise<string | null> {
  const { headers } = response;
  const stated = headers.get("content-length");
  if (stated !== null && !headers.has("content-encoding")) {
    // Not looking at `body` lets the runtime read it in one piece.
    if (Number(stated) <= maxBodyBytes) return await response.text();
    await response.body?.cancel();
    return null;
  }
  if (response.body === null) return "";
  const reader = response.body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const decoder = new TextDecoder();
    let text = "";
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.byteLength;
      if (size > maxBodyBytes) {
        cancel();
        return null;
      }
      text += decoder.decode(value, { stream: true });
    }
    signal.throwIfAborted();
    return text + decoder.decode();
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
