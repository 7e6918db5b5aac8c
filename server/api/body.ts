import { textWithin } from "../../core/bytes.ts";
import { isRecord } from "../../core/guards.ts";
import type { JsonSchema } from "../../resources/schemas/json_schema.ts";
import { ApiProblem } from "./problem.ts";

/** The largest body that is read, in bytes. */
const MOST_BYTES = 65_536;

/** A field of a body: how it is described. */
export interface BodyField {
  /** JSON Schema of its value, with a description. */
  readonly schema: JsonSchema;
  /** Whether it may not be left out. @default {false} */
  readonly required?: true;
}

/** The fields of a body, by name. */
export type BodyFields = Readonly<Record<string, BodyField>>;

/** A body as it was read: only known fields, whatever their values. */
export type Body = Readonly<Record<string, unknown>>;

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
