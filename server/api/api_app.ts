import { type Context, Hono } from "hono";
import { CommandError, UsageError } from "../../core/settings/errors.ts";
import type { Params, ValuesOf } from "../../core/settings/params.ts";
import { idOfPath } from "../../core/text.ts";
import { messageOf } from "../../core/guards.ts";
import { OnrampError, ValidationError } from "../../client/errors.ts";
import { ExpectationError, LedgerError } from "../../ledger/mod.ts";
import type { ApiAnswer } from "../monitoring/metrics.ts";
import { Alarm } from "../monitoring/alarm.ts";
import type { Log } from "../monitoring/logger.ts";
import { allows, type Scope } from "../../core/settings/values.ts";
import {
  type ApiParts,
  operationRoute,
  readBody,
  type Route,
} from "./route.ts";
import { ApiProblem, type Caller, problemResponse } from "./problem.ts";
import { isFromOtherSite, ownHeaders, shownHost } from "../http/http_app.ts";
import { OPERATIONS } from "../../resources/operations/mod.ts";
import { SeveralOrdersError } from "../../resources/operations/find_order.ts";

/**
 * Reads the parameters of a request. An unknown one is refused: a mistyped
 * filter would look like an answer.
 *
 * @throws {UsageError} When one is unknown, wrong, repeated or missing.
 */
function readParams<P extends Params>(
  params: P,
  query: URLSearchParams,
): ValuesOf<P> {
  const values: Record<string, unknown> = {};
  for (const [name, text] of query) {
    const param = Object.hasOwn(params, name) ? params[name] : undefined;
    if (param === undefined) {
      const names = Object.keys(params);
      throw new UsageError(
        `Unknown parameter "${name}": ` +
          (names.length === 0
            ? "this takes none"
            : `this takes ${names.join(", ")}`),
      );
    }
    if (Object.hasOwn(values, name)) {
      throw new UsageError(`Wrong ${name}: it is given twice`);
    }
    values[name] = param.read(name, text);
  }
  for (const [name, { required }] of Object.entries(params)) {
    if (required && !Object.hasOwn(values, name)) {
      throw new UsageError(`Missing ${name}: ${params[name]?.description}`);
    }
  }
  return values as ValuesOf<P>;
}

/** Every route of the API. */
export const API_ROUTES: readonly Route[] = OPERATIONS.flatMap((one) =>
  operationRoute(one) ?? []
);

/** Where the API describes itself. */
const OPENAPI_PATH = "/openapi.json";

/** What the API is made of. */
interface ApiAppOptions {
  /** What the routes work with. */
  readonly parts: ApiParts;
  /**
   * Identifies the caller; null for one without access. Called where a token is
   * needed. An app that mounts the API may know its callers otherwise.
   */
  readonly callerOf: (request: Request) => Caller | null;
  /** Whether the `Host` of a request names this server. */
  readonly isKnownHost: (request: Request) => boolean;
  /** Called when requests fail, and when they succeed again. */
  readonly log: Log;
  /** Version of the package. */
  readonly version: string;
  /** Called with each response. @default {none} */
  readonly onAnswer?: (answer: ApiAnswer) => void;
}

/**
 * The HTTP API over a ledger: `Request` in, `Response` out, to be served on a
 * port of its own or mounted in another app. No header allows other sites to
 * read it from a browser (CORS).
 */
export function apiApp(
  options: ApiAppOptions,
): (request: Request) => Promise<Response> {
  const { parts, isKnownHost, log } = options;
  const failing = new Alarm(log, "api_failing", parts.now);
  // One operation that fails must not be taken for mended by another.
  const failed = new Set<string>();
  const app = new Hono<{ Variables: { operation?: string } }>();
  app.use(async (c, next) => {
    const beganMs = performance.now();
    await next();
    options.onAnswer?.({
      operation: c.get("operation") ?? "none",
      status: c.res.status,
      ms: performance.now() - beganMs,
    });
  });
  app.use(ownHeaders);
  app.use(async (c, next) => {
    if (!isKnownHost(c.req.raw)) {
      throw new ApiProblem(
        "unknown_host",
        `The Host header ${shownHost(c.req.raw)} is neither an address nor a ` +
          "name of this server; name it with --api-allow-host",
      );
    }
    if (isFromOtherSite(c.req.raw)) {
      throw new ApiProblem(
        "other_site",
        "Browsers get no answer for pages of other sites; ask from a server",
      );
    }
    await next();
    c.header("cache-control", "no-store");
  });
  let document: string | null = null;
  app.get(OPENAPI_PATH, async () => {
    // The server starts faster without the schemas.
    const { openApi } = await import("./openapi.ts");
    document ??= jsonText(openApi(API_ROUTES, options.version));
    return jsonResponse(document, 200);
  });
  for (const route of API_ROUTES) {
    app.on(route.method, honoPath(route.path), async (c) => {
      c.set("operation", route.operationId);
      const answer = await handle(options, route, c);
      failed.delete(route.operationId);
      if (failed.size === 0) failing.clear();
      return answer;
    });
  }
  const methods = Map.groupBy(API_ROUTES, ({ path }) => path);
  for (const [path, routes] of methods) {
    const allow = routes.map(({ method }) => method).join(", ");
    app.all(honoPath(path), (c) => {
      throw new ApiProblem("method_not_allowed", {
        detail: `${c.req.method} is not taken here, but ${allow}`,
        headers: { allow },
      });
    });
  }
  app.notFound(() =>
    problemResponse(
      new ApiProblem(
        "not_found",
        `There is no such path; ${OPENAPI_PATH} lists all`,
      ),
    )
  );
  app.onError((error, c) => {
    const problem = problemOf(error);
    if (problem === null) {
      const operation = c.get("operation") ?? "none";
      failed.add(operation);
      failing.raise({ operation, message: messageOf(error) });
      return problemResponse(
        error instanceof LedgerError
          ? new ApiProblem("unavailable", {
            detail: "The ledger's database fails; the log says why",
            headers: { "retry-after": "10" },
          })
          : new ApiProblem(
            "failed",
            "The fault is in the server; its log says why",
          ),
      );
    }
    return problemResponse(problem);
  });
  return async (request) => await app.fetch(request);
}

/** Asks who it is, reads the parameters, and writes the answer. */
async function handle(
  { parts, callerOf }: ApiAppOptions,
  route: Route,
  c: Context,
): Promise<Response> {
  const { raw } = c.req;
  const caller = route.scope === null
    ? NOBODY
    : allowed(route.scope, callerOf(raw));
  const takesBody = route.body !== undefined;
  if (route.method === "POST" && !takesBody && await hasBody(raw)) {
    throw new ApiProblem(
      "body_not_taken",
      "Send no body; parameters go in the URL",
    );
  }
  const answer = await route.handle(parts, {
    path: Object.fromEntries(
      Object.entries(c.req.param()).map(([name, id]) => [name, idOfPath(id)]),
    ),
    query: readParams(route.params, new URL(raw.url).searchParams),
    body: takesBody ? await readBody(raw, route.body) : {},
    caller,
    headers: raw.headers,
    isHead: raw.method === "HEAD",
  });
  return answer instanceof Response
    ? answer
    : jsonResponse(jsonText(answer), route.answer.status ?? 200);
}

/** JSON that ends its line, for callers in a terminal. */
function jsonText(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function jsonResponse(text: string, status: number): Response {
  return new Response(text, {
    status,
    headers: { "content-type": "application/json" },
  });
}

const NOBODY: Caller = { name: "", scope: "read" };

function allowed(scope: Scope, caller: Caller | null): Caller {
  if (caller === null) {
    throw new ApiProblem("unauthorized", {
      detail: "Send one of the tokens in RAMPKIT_API_TOKENS: " +
        "Authorization: Bearer TOKEN",
      headers: { "www-authenticate": 'Bearer realm="rampkit"' },
    });
  }
  if (!allows(caller.scope, scope)) {
    throw new ApiProblem("forbidden", {
      detail: `The token ${caller.name} begins with ${caller.scope}:; this ` +
        `needs one that begins with ${scope}: in RAMPKIT_API_TOKENS`,
      headers: {
        "www-authenticate":
          `Bearer realm="rampkit", error="insufficient_scope", scope="${scope}"`,
      },
    });
  }
  return caller;
}

/** Whether a request has a body with anything in it. */
async function hasBody({ headers, body }: Request): Promise<boolean> {
  if (body === null || headers.get("content-length") === "0") return false;
  const reader = body.getReader();
  try {
    const { done, value } = await reader.read();
    return !done && value.length > 0;
  } catch {
    return true; // It broke off.
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** The problem that an error stands for; null for an error of this server. */
function problemOf(error: unknown): ApiProblem | null {
  if (error instanceof ApiProblem) return error;
  if (error instanceof ExpectationError) {
    return new ApiProblem(
      error.code === "invalid" ? "bad_request" : "conflict",
      { detail: error.message, members: { errors: error.issues } },
    );
  }
  if (error instanceof SeveralOrdersError) {
    const { message, orderIds, foundBy } = error;
    return new ApiProblem("several", {
      detail: message,
      members: { orderIds, foundBy },
    });
  }
  if (error instanceof CommandError) {
    const code = error.code === "not_found" ? "not_found" : "conflict";
    return new ApiProblem(code, error.message);
  }
  if (error instanceof OnrampError) return serviceProblem(error);
  const isWrong = error instanceof UsageError ||
    // A query of the ledger that cannot be; other ones are faults of ours.
    (error instanceof RangeError && error.message.startsWith("Wrong "));
  return isWrong ? new ApiProblem("bad_request", error.message) : null;
}

/** What the service refused or did not answer, when it was asked for a caller. */
function serviceProblem(error: OnrampError): ApiProblem {
  if (!(error instanceof ValidationError)) {
    return new ApiProblem("service_failed", error.message);
  }
  const errors = error.faults.map(({ field, rule }) => ({
    field,
    message: rule,
  }));
  return new ApiProblem("bad_request", {
    detail: error.message,
    members: { errors },
  });
}

/** `/v1/orders/{ref}` as the router writes it. */
function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
