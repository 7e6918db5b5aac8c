import assert from "node:assert/strict";
import { type Shape, SHAPES } from "../../resources/shapes/shapes.ts";

/**
 * Holds an answer against the schema of the shape that COMMANDS.md documents
 * under a heading: it is valid, and has no field that the schema lacks.
 */
export async function hasDocumentedShape(
  heading: string,
  answer: unknown,
): Promise<void> {
  const examples = await documentedShapes();
  assert.ok(examples.has(heading), `COMMANDS.md has no shape of ${heading}`);
  const shape = Object.values(SHAPES).find((one) => one.heading === heading);
  assert.ok(shape, `There is no schema of ${heading}`);
  hasShape(heading, shape, answer);
}

/** Holds an answer against a schema: valid, and nothing beside it. */
export function hasShape(
  name: string,
  { schema }: Shape,
  answer: unknown,
): void {
  const read = schema.safeParse(answer);
  if (!read.success) {
    assert.fail(`${name}: ${JSON.stringify(read.error.issues, null, 1)}`);
  }
  // A schema drops the fields that it does not know.
  assert.deepEqual(read.data, answer, name);
}

/**
 * The headings that have an example, and the examples. An empty object stands
 * for an order, which has an example of its own.
 */
export async function documentedShapes(): Promise<Map<string, unknown>> {
  const text = await Deno.readTextFile(
    new URL("../../COMMANDS.md", import.meta.url),
  );
  const shapes = new Map<string, unknown>();
  for (const section of text.split(/^### /m).slice(1)) {
    const heading = section.slice(0, section.indexOf("\n"));
    const example = /^```json\n([\s\S]*?)^```/m.exec(section)?.[1];
    if (example !== undefined) shapes.set(heading, JSON.parse(example));
  }
  const order = shapes.get(SHAPES.order?.heading ?? "");
  return new Map(
    [...shapes].map(([heading, example]) => [heading, filled(example, order)]),
  );
}

function filled(value: unknown, order: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => filled(one, order));
  const fields = Object.entries(value);
  return fields.length === 0
    ? order
    : Object.fromEntries(fields.map(([key, one]) => [key, filled(one, order)]));
}
