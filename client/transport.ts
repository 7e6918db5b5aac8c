import type { output, ZodMiniType } from "zod/mini";
import type { Environment } from "../core/assets/environment.ts";
import {
  NetworkError,
  OnrampError,
  ResponseError,
  type ResponseErrorCode,
} from "./errors.ts";
import { textWithin } from "../core/bytes.ts";
import { isRecord } from "../core/guards.ts";
import { parseExact } from "../core/json/json.ts";
import type { Operation } from "./call_options.ts";
import { errorOf } from "./refusals.ts";

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
  /** Removes secrets from texts that were written elsewhere. */
  readonly redact: (text: string) => string;
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

/** What an attempt needs from outside. */
export interface TransportOptions {
  readonly fetch: typeof fetch;
  readonly headers: Readonly<Record<string, string>>;
  readonly now: () => number;
}

/** Progress of an attempt, for the hooks. */
export interface Seen {
  status: number | null;
  text: string | null;
}

/** The largest answer that is accepted. */
interface AnswerLimit {
  /** Bytes of its body. */
  readonly bytes: number;
  /** Values in it, each field and each item counted. */
  readonly values: number;
}

/**
 * A page has at most twenty rows. A row has about thirty fields, and a user with
 * a hundred cards five hundred; a customer may choose long texts. A value takes
 * hundreds of bytes of memory, so values are counted apart from bytes.
 */
const pageLimit: AnswerLimit = { bytes: 4 * 1024 * 1024, values: 20_000 };
/** An answer about one thing, or an error, has a few fields. */
const singleLimit: AnswerLimit = { bytes: 64 * 1024, values: 1000 };

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
      `${call.action}: the connection to ${new URL(call.url).origin} failed${
        certificateFault(error)
      }; try again later`,
      { status: seen.status, cause: cleanCause(error, call.redact) },
    );
  }
}

/** What is wrong with the certificate; nothing where that is not why it failed. */
function certificateFault(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const said = `${error} ${cause}`;
  if (!/certificate|\bCERT_|self.signed/i.test(said)) return "";
  const [, what = "is not accepted"] =
    CERTIFICATE_FAULTS.find(([pattern]) => pattern.test(said)) ?? [];
  return `: its certificate ${what}`;
}

const CERTIFICATE_FAULTS: readonly (readonly [RegExp, string])[] = [
  [/expired/i, "has expired"],
  [/not.?(?:yet.?valid|valid.?yet)/i, "is not valid yet"],
  [/NotValidForName|altname|not valid for name/i, "is another host's"],
  [
    /UnknownIssuer|self.signed|unable to verify|local issuer/i,
    "is signed by nobody that this machine knows",
  ],
];

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
  const limit = response.ok && call.operation.endsWith(".page")
    ? pageLimit
    : singleLimit;
  const text = await readText(response, limit.bytes, signal);
  if (text === null && response.ok) {
    throw broken("too_large", `with more than ${limit.bytes} bytes`);
  }
  seen.text = text;
  const body = text === null ? undefined : parse(text, limit.values);
  if (text === null || !response.ok) {
    throw errorOf({
      operation: call.operation,
      action: call.action,
      status,
      body: body instanceof RangeError ? undefined : body,
      requestId,
      retryAfter: headers.get("retry-after"),
      nowMs: now(),
      redact: call.redact,
    });
  }
  if (body instanceof RangeError) {
    throw broken("too_large", `with more than ${limit.values} values`);
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

/**
 * The value of a JSON text; a `RangeError` where it holds more values, and
 * undefined for any other text.
 */
function parse(text: string, mostValues: number): unknown {
  try {
    return parseExact(text, mostValues);
  } catch (error) {
    return error instanceof RangeError ? error : undefined;
  }
}

function statedRequestId(body: unknown): string | null {
  const stated = isRecord(body) ? body.requestId ?? body.request_id : null;
  return typeof stated === "string" ? stated : null;
}

function readAtOf(header: string | null, askedAt: number): string {
  const stated = Date.parse(header ?? "");
  return new Date(Number.isNaN(stated) ? askedAt : stated).toISOString();
}

/** The body as text; null when it exceeds the limit. */
async function readText(
  response: Response,
  mostBytes: number,
  signal: AbortSignal,
): Promise<string | null> {
  const { headers } = response;
  const stated = headers.get("content-length");
  if (stated !== null && !headers.has("content-encoding")) {
    // Not looking at `body` lets the runtime read it in one piece.
    if (Number(stated) <= mostBytes) return await response.text();
    await response.body?.cancel();
    return null;
  }
  return await textWithin(response.body, mostBytes, signal);
}

const hidden = "[hidden]";

/** Makes a redactor for one call. */
export function redactor(
  secrets: readonly string[],
  cards: boolean,
): Call["redact"] {
  const forms = secrets.filter((secret) => secret !== "").flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ]);
  return (text) => {
    const clean = forms.reduce(
      (clean, form) => clean.replaceAll(form, hidden),
      text,
    );
    return cards ? clean.replace(/\d(?:[ -]?\d){11,18}/g, hidden) : clean;
  };
}

/** A copy of a caught error that holds no secret; its own cause is dropped. */
export function cleanCause(error: unknown, redact: Call["redact"]): Error {
  const { name, message } = error instanceof Error
    ? error
    : { name: "Error", message: String(error) };
  const copy = new Error(redact(message));
  copy.name = redact(name);
  delete copy.stack;
  return copy;
}

/** What the parts of a client ask for; the caller adds key, rate and retries. */
export type Ask =
  & Pick<Call, "operation" | "action" | "url" | "body" | "signal">
  & {
    /** Whether sending it twice does no harm. @default {true} */
    readonly repeatable?: boolean;
    /** A text that must not appear anywhere, beside the API key. */
    readonly secret?: string;
  };

/** What the parts of a client share. */
export interface Api {
  readonly environment: Environment;
  readonly allowUnlistedAssets: boolean;
  /** Clock, milliseconds since 1970. */
  readonly now: () => number;
  readonly ask: (ask: Ask) => Promise<Answer>;
}

/** Checks an answer against the documented form. */
export function promised<Schema extends ZodMiniType>(
  schema: Schema,
  answer: Answer,
  action: string,
): output<Schema> {
  const read = schema.safeParse(answer.body);
  if (read.success) return read.data;
  throw wrongShape(
    answer,
    action,
    read.error.issues.slice(0, 5).map(({ path }) =>
      path.length === 0 ? "the body" : path.map(String).join(".")
    ),
  );
}

/** The service answered something else than it promises. */
export function wrongShape(
  { status, requestId }: Answer,
  action: string,
  wrong: readonly string[],
): ResponseError {
  return new ResponseError(
    `${action}: the answer is not of the promised shape at ${
      wrong.join(", ")
    }; the service may have changed`,
    { code: "wrong_shape", status, field: wrong[0] ?? null, requestId },
  );
}
