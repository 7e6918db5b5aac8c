import assert from "node:assert/strict";
import { COMPONENTS, jsonSchemaOf } from "./json_schema.ts";
import { SHAPES } from "./shapes.ts";

Deno.test("jsonSchemaOf() writes schemas that are whole in themselves, and open for fields added later", () => {
  for (const [name, { component }] of Object.entries(SHAPES)) {
    const schema = jsonSchemaOf(name, component);
    assert.equal(
      schema.$schema,
      "https://json-schema.org/draft/2020-12/schema",
    );
    assert.equal(schema.title, name);
    const made = JSON.stringify(schema);
    // What a partner writes is read strictly; what is printed may grow.
    const isClosed = made.includes(`"additionalProperties":false`);
    assert.equal(isClosed, name === "chains-file", name);
    const refs = [...made.matchAll(/"\$ref":"([^"]*)"/g)];
    assert.ok(refs.length > 0, name);
    for (const [, id = ""] of refs) {
      assert.match(id, /^#\/\$defs\/[A-Z]\w+$/);
      assert.ok(Object(schema.$defs)[id.slice("#/$defs/".length)], id);
    }
  }
});

Deno.test("COMPONENTS refer to each other, and say what they and their fields are", () => {
  const refs = JSON.stringify(COMPONENTS).matchAll(/"\$ref":"([^"]*)"/g);
  for (const [, id = ""] of refs) {
    assert.ok(COMPONENTS[id.replace("#/components/schemas/", "")], id);
  }
  // The names of these fields are their own explanation.
  const plain = ["DailyTotal"];
  for (
    const [name, { description, properties }] of Object.entries(COMPONENTS)
  ) {
    assert.match(String(description), /^[A-Z]/, name);
    assert.doesNotMatch(String(description), /\.$|\{@/, name);
    if (plain.includes(name)) continue;
    for (const [field, schema] of Object.entries(Object(properties))) {
      assert.ok(Object(schema).description, `${name}.${field}`);
    }
  }
  const order = jsonSchemaOf("order", "Order");
  const { release } = Object(order.$defs).Order.properties;
  assert.match(release.description, /released/);
});

Deno.test("COMPONENTS leave the statuses of the service open, and our own lists closed", () => {
  const { Order = {}, OrderStatus = {}, Release = {}, EventLabel = {} } =
    COMPONENTS;
  assert.deepEqual(Object(OrderStatus.anyOf)[1], { type: "string" });
  assert.deepEqual(Release.enum, ["yes", "no", "wait", "unchecked", "settled"]);
  assert.ok((Order.required as string[]).includes("anomalies"));
  // An event is counted by the type of its webhook, never as one.
  assert.ok(!(EventLabel.enum as string[]).includes("webhook"));
});

Deno.test("COMPONENTS tell counts from durations, and times from other texts", () => {
  const field = (component: string, name: string) => {
    const { type, format, minimum } = Object(COMPONENTS[component]?.properties)[
      name
    ];
    return { type, format, minimum };
  };
  assert.deepEqual(field("Transition", "seq"), {
    type: "integer",
    format: undefined,
    minimum: 0,
  });
  assert.deepEqual(field("Sent", "tookMs"), {
    type: "number",
    format: undefined,
    minimum: undefined,
  });
  assert.deepEqual(field("Order", "createdAt"), {
    type: ["string", "null"],
    format: "date-time",
    minimum: undefined,
  });
  const { totals } = Object(COMPONENTS.MonthSummary?.properties);
  // A month can take back more orders than it books.
  assert.equal(totals.items.properties.orders.type, "integer");
  assert.equal(totals.items.properties.orders.minimum, undefined);
});
