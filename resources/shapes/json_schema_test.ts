import assert from "node:assert/strict";
import type { Same } from "./same.ts";
import { FIELD_NOTES } from "./field_notes.ts";
import { componentSchemas, jsonSchemaOf } from "./json_schema.ts";
import { SHAPES } from "./shapes.ts";

Deno.test("jsonSchemaOf() writes schemas that are whole in themselves, and open for fields added later", () => {
  for (const [name, shape] of Object.entries(SHAPES)) {
    const schema = jsonSchemaOf(name, shape);
    assert.equal(
      schema.$schema,
      "https://json-schema.org/draft/2020-12/schema",
    );
    assert.equal(schema.title, name);
    const made = JSON.stringify(schema);
    assert.ok(!made.includes(`"additionalProperties":false`), name);
    for (const [, id = ""] of made.matchAll(/"\$ref":"([^"]*)"/g)) {
      assert.match(id, /^#\/\$defs\/[A-Z]\w+$/);
      assert.ok(Object(schema.$defs)[id.slice("#/$defs/".length)], id);
    }
  }
});

Deno.test("componentSchemas() refer to each other as components, with their descriptions", () => {
  const components = componentSchemas();
  const made = JSON.stringify(components);
  for (const [, id = ""] of made.matchAll(/"\$ref":"([^"]*)"/g)) {
    assert.ok(components[id.replace("#/components/schemas/", "")], id);
  }
  assert.ok(components.Order?.description);
  const { recordedAt } = Object(components.Transition?.properties);
  assert.deepEqual([recordedAt.type, recordedAt.format], [
    "string",
    "date-time",
  ]);
});

Deno.test("jsonSchemaOf() leaves the statuses of the service open, and its own lists closed", () => {
  const { Order = {}, OrderStatus = {}, Release = {} } = componentSchemas();
  assert.deepEqual(Object(OrderStatus.anyOf)[1], { type: "string" });
  assert.deepEqual(Release.enum, ["yes", "no", "wait", "unchecked"]);
  assert.ok((Order.required as string[]).includes("anomalies"));
});

Deno.test("JSON Schema says what each field is of what partners work with most", () => {
  const components = componentSchemas();
  for (const [id, notes] of Object.entries(FIELD_NOTES)) {
    const fields = Object.entries(Object(components[id]?.properties));
    assert.ok(fields.length > 0, id);
    for (const [field, schema] of fields) {
      assert.equal(Object(schema).description, notes[field], `${id}.${field}`);
      assert.ok(notes[field], `${id}.${field} has no note`);
    }
  }
  const order = Object(jsonSchemaOf("order", SHAPES.order ?? never()));
  assert.match(order.$defs.Order.properties.release.description, /released/);
});

function never(): never {
  throw new Error("There is no such shape");
}

Deno.test("Same is false for a field, an option or a case that one side lacks", () => {
  type Whole = { readonly a: string; readonly b?: number | null };
  true satisfies Same<{ a: string; b?: number | null }, Whole>;
  false satisfies Same<{ a: string }, Whole>;
  false satisfies Same<{ a: string; b: number | null }, Whole>;
  false satisfies Same<{ a: string; b?: number }, Whole>;
  false satisfies Same<Whole & { c: string }, Whole>;
  type Cases = { code: "a"; x: string } | { code: "b" };
  true satisfies Same<{ code: "b" } | { code: "a"; x: string }, Cases>;
  false satisfies Same<{ code: "b" }, Cases>;
  false satisfies Same<Cases | { code: "c" }, Cases>;
  false satisfies Same<{ list: Cases[] }, { list: readonly { code: "b" }[] }>;
});
