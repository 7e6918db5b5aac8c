import { textWithin } from "../../core/bytes.ts";
import { defined, isRecord } from "../../core/guards.ts";
import type { JsonSchema } from "../../resources/schemas/json_schema.ts";
import { ApiProblem, type Caller, type ProblemCode } from "./problem.ts";
import type { LookAtHealth } from "../../resources/health/finding.ts";
import {
  onlyReads,
  type Operation,
  type OperationParam,
  pagesOf,
  paramsOf,
  valuesOf,
  type WrittenText,
} from "../../resources/operations/operation.ts";
import type { TransitionsJson } from "../../resources/queries/deliveries.ts";
import { UsageError } from "../../core/settings/errors.ts";
import type { Params, ValuesOf } from "../../core/settings/params.ts";
import type { Ledger } from "../../ledger/mod.ts";
import type { Scope } from "../../core/settings/values.ts";
import { textStream } from "../http/http_app.ts";
import {
  EVENT_STREAM,
  feedAnswer,
  type ReadFeed,
  type TransitionFeed,
} from "./follow_feed.ts";
import type { Operations } from "./operations.ts";

/** The largest body that is read, in bytes. */
const MOST_BYTES = 65_536;

/** A field of a body: how it is described. */
interface BodyField {
  /** JSON Schema of its value, with a description. */
  readonly schema: JsonSchema;
  /** Whether it may not be left out. @default {false} */
  readonly required?: true;
}

/** The fields of a body, by name. */
type BodyFields = Readonly<Record<string, BodyField>>;

/** A body as it was read: only known fields, whatever their values. */
type Body = Readonly<Record<string, unknown>>;

/**
 * Reads the JSON object that a request holds. An unknown field is refused: a
 * mistyped amount would not be compared.
 *
 * @throws {ApiProblem} When it is not a JSON object, is too large, or has
 * another field.
 */
export async function readBody(
  request: Request,
  fields: BodyFields,
): Promise<Body> {
  const text = await textOf(request);
  const body = parsed(text);
  const names = Object.keys(fields).join(", ");
  for (const name of Object.keys(body)) {
    if (Object.hasOwn(fields, name)) continue;
    throw new ApiProblem(
      "bad_request",
      `Unknown field ${JSON.stringify(name)}: this takes ${names}`,
    );
  }
  return body;
}

/** JSON Schema of a body. */
export function bodySchema(fields: BodyFields): JsonSchema {
  return {
    type: "object",
    additionalProperties: false,
    required: Object.keys(fields).filter((name) => fields[name]?.required),
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, { schema }]) => [name, schema]),
    ),
  };
}

async function textOf({ body }: Request): Promise<string> {
  const text = await textWithin(body, MOST_BYTES);
  if (text !== null) return text;
  throw new ApiProblem(
    "bad_request",
    `The body is larger than ${MOST_BYTES} bytes`,
  );
}

function parsed(text: string): Body {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiProblem("bad_request", "The body is not JSON");
  }
  if (isRecord(value)) return value;
  throw new ApiProblem("bad_request", "The body is JSON, but not an object");
}

/** What the routes work with. */
export interface ApiParts {
  /** The ledger. */
  readonly ledger: Ledger;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Looks how everything is. @default {by what the ledger has} */
  readonly look?: LookAtHealth;
  /** Tells when transitions are added. */
  readonly feed: TransitionFeed;
  /** What can be operated. */
  readonly operations: Operations;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
}

/** A request whose parameters were read. */
interface ApiRequest<P extends Params> {
  /** Values of the placeholders in the path. */
  readonly path: Readonly<Record<string, string>>;
  /** Values of the query. */
  readonly query: ValuesOf<P>;
  /** The body; empty where the route takes none. */
  readonly body: Body;
  /** Who asks. */
  readonly caller: Caller;
  /** The headers. */
  readonly headers: Headers;
  /** Whether only the headers of the answer are asked for. */
  readonly isHead: boolean;
}

/** What a route answers when all goes well. */
interface Answer {
  /** Status. @default {200} */
  readonly status?: 200 | 202;
  /** What it is. */
  readonly description: string;
  /** JSON Schema of the body; null where it is no JSON of ours. */
  readonly schema: JsonSchema | null;
  /** Other media types of it, with what they hold. */
  readonly also?: Readonly<Record<string, string>>;
}

/** One method of one path: what the documentation says, and what it does. */
export interface Route<P extends Params = Params> {
  readonly method: "GET" | "POST";
  /** For example `/v1/orders/{ref}`. */
  readonly path: string;
  /** Unique name, for those who generate clients. */
  readonly operationId: string;
  /** What it does, in a few words. */
  readonly summary: string;
  /** More of it. */
  readonly description?: string;
  /** What a token must allow; null where none is needed. */
  readonly scope: Scope | null;
  /** Descriptions of the placeholders in the path. */
  readonly placeholders?: Readonly<Record<string, string>>;
  /** The query. */
  readonly params: P;
  /** Fields of the JSON object that it takes. @default {no body is taken} */
  readonly body?: BodyFields;
  readonly answer: Answer;
  /** Problems besides those of every route. */
  readonly problems?: readonly ProblemCode[];
  /** Gives the body, as a value to be written as JSON, or a whole answer. */
  readonly handle: (
    parts: ApiParts,
    request: ApiRequest<P>,
  ) => Promise<unknown> | unknown;
}

/** Type-checks parameters against the handler, then erases types. */
function route<P extends Params>(route: Route<P>): Route {
  return route as unknown as Route;
}

/** JSON Schema of what has a name among the components. */
function named(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** JSON Schema of a part of a list. */
function partOf(items: JsonSchema, next: JsonSchema): JsonSchema {
  return {
    type: "object",
    required: ["items", "next"],
    properties: { items: { type: "array", items }, next },
  };
}

/** What leads to the next page of a list. */
const NEXT_PAGE: JsonSchema = {
  type: ["string", "null"],
  description: "`cursor` of the next page; null on the last one. A page may " +
    "have fewer rows than its limit, or none, and not be the last",
};

/** What leads on in a feed. */
const NEXT_PLACE: JsonSchema = {
  type: "integer",
  description: "`after` of the next request; the feed has no end",
};

/** JSON Schema of a list that has no pages. */
function listOf(items: JsonSchema): JsonSchema {
  return {
    type: "object",
    required: ["items"],
    properties: { items: { type: "array", items } },
  };
}

/** The route of an operation; null where no request does it. */
export function operationRoute(operation: Operation): Route | null {
  const { operationId, path, scope, summary, description, result } = operation;
  const { inBody = false } = operation;
  if (path === null) return null;
  const params = Object.entries(paramsOf(operation))
    .filter(([, { only }]) => only !== "command");
  const placed = params.filter(([name]) => path.includes(`{${name}}`));
  const others = params.filter(([name]) => !path.includes(`{${name}}`));
  const schema = schemaOf(operation);
  const isFeed = result.many === "feed";
  return route({
    method: onlyReads(operation) ? "GET" : "POST",
    path,
    operationId,
    summary,
    ...defined({ description }),
    scope,
    placeholders: Object.fromEntries(
      placed.map(([name, { description }]) => [name, description]),
    ),
    params: inBody ? {} : Object.fromEntries(others),
    ...(inBody ? { body: bodyOf(others) } : {}),
    answer: {
      description: result.description,
      schema,
      ...defined({
        status: result.status,
        also: isFeed ? STREAM_TYPE : result.text,
      }),
    },
    problems: [
      ...(placed.length === 0 ? [] : ["not_found" as const]),
      ...(path.includes("{ref}") ? ["several" as const] : []),
      ...(operation.conflicts ? ["conflict" as const] : []),
      ...(operation.asks === "sessions" ? ["service_failed" as const] : []),
      ...(isFeed ? ["too_many_streams" as const] : []),
    ],
    handle: async (parts, request) => {
      const { path, query, body, caller, isHead } = request;
      const { operations, look } = parts;
      const placedValues = valuesOf(
        Object.fromEntries(placed),
        (name, { read }) => read(name, path[name] ?? ""),
      );
      const values = inBody
        ? valuesOf(
          Object.fromEntries(others),
          (name, param) => jsonValue(name, param, body[name], caller.name),
        )
        : query;
      const all = { ...placedValues, ...values };
      if (!onlyReads(operation)) {
        return operations.operate(caller, operation, all);
      }
      const context = operations.context(look);
      operation.checks?.(all, context);
      if (isFeed) {
        const read: ReadFeed = async (place) =>
          await operation.run(context, { ...all, ...place }) as TransitionsJson;
        return feedAnswer(parts, read, { ...all, ...request });
      }
      const given = await operation.run(context, all);
      return result.text === undefined
        ? given
        : textAnswer(given as WrittenText, isHead);
    },
  });
}

/** How the answer of a feed may be sent as well. */
const STREAM_TYPE = {
  [EVENT_STREAM]: "Events named transition; data is one FeedEntry",
};

/** A text as an answer; where only headers are asked for, none of it is made. */
function textAnswer(
  { parts, mediaType }: WrittenText,
  isHead: boolean,
): Response {
  return new Response(isHead ? null : textStream(parts), {
    headers: { "content-type": `${mediaType}; charset=utf-8` },
  });
}

/** JSON Schema of what an operation answers; null of a text. */
function schemaOf(operation: Operation): JsonSchema | null {
  const { schema, many } = operation.result;
  if (schema === null) return null;
  if (many === "feed") return partOf(named(schema), NEXT_PLACE);
  if (pagesOf(operation) !== null) return partOf(named(schema), NEXT_PAGE);
  return many === "list" ? listOf(named(schema)) : named(schema);
}

/** The body of an operation: a request has a name, which may be left out. */
function bodyOf(
  params: readonly [string, OperationParam<unknown>][],
): BodyFields {
  return Object.fromEntries(
    params.map(([name, { schema, description, required, isCaller }]) => [name, {
      schema: {
        ...schema,
        description: isCaller
          ? `${description}; the name of the token by default`
          : description,
      },
      ...(required && !isCaller ? { required } : {}),
    }]),
  );
}

function jsonValue(
  name: string,
  { read, readJson, isCaller, schema }: OperationParam<unknown>,
  value: unknown,
  caller: string,
): unknown {
  if (value === undefined) return isCaller ? caller : undefined;
  if (readJson !== undefined) return readJson(name, value);
  if (schema.type === "boolean") {
    if (typeof value === "boolean") return value;
    throw new UsageError(`Wrong ${name}: it is neither true nor false`);
  }
  if (typeof value === "string") return read(name, value);
  throw new UsageError(`Wrong ${name}: it is not a text`);
}
