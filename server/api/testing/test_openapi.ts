/** What the OpenAPI document says of an answer, for tests. */
import assert from "node:assert/strict";
import * as z from "zod";
import type { JsonSchema } from "../../../resources/schemas/json_schema.ts";
import { closed } from "../../../tests/kit/shape.ts";
import type { TestApi } from "./test_api.ts";

/** The document as any client gets it. */
export async function documentOf(
  api: TestApi,
): Promise<Record<string, unknown>> {
  const answer = await api.get("/openapi.json", { authorization: "" });
  assert.equal(answer.status, 200);
  return await answer.json();
}

/** Values anywhere in a document that stand under a key. */
export function* under(key: string, value: unknown): Generator<unknown> {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === key) yield inner;
    yield* under(key, inner);
  }
}

/** What the document says that an operation answers. */
export function answerSchema(
  document: Record<string, unknown>,
  operationId: string,
  status: number,
): z.ZodType {
  const operation = [
    ...under("paths", document),
  ].flatMap((paths) =>
    Object.values(Object(paths)).flatMap((path) => Object.values(Object(path)))
  ).find((one) => Object(one).operationId === operationId);
  assert.ok(operation, operationId);
  const { content } = Object(operation).responses[status];
  const { schema }: { schema: JsonSchema } = Object(
    Object.values(Object(content))[0],
  );
  const whole = {
    ...schema,
    $defs: Object(document.components).schemas,
  };
  const text = JSON.stringify(closed(whole))
    .replaceAll("#/components/schemas/", "#/$defs/");
  return z.fromJSONSchema(JSON.parse(text));
}
