import assert from "node:assert/strict";
import { type CardInput, checkCardInput } from "./cards.ts";

const address = {
  country: "DE",
  postal_code: "10115",
  city: "Berlin 2",
  street: "Unter den Linden 5",
};
const card = {
  card_number: "4111111111111111",
  exp_month: "01",
  exp_year: "2030",
  user_id: "01HZX",
};

function fields(change: object, changeAddress: object = {}): string[] {
  return checkCardInput(
    {
      ...card,
      billing_address: { ...address, ...changeAddress },
      ...change,
    } as CardInput,
  ).map((fault) => fault.field);
}

Deno.test("checkCardInput() accepts a card that follows the table", () => {
  assert.deepEqual(fields({}), []);
  assert.deepEqual(fields({ card_number: "4".repeat(12) }), []);
  assert.deepEqual(fields({ card_number: "4".repeat(19) }), []);
  assert.deepEqual(fields({}, { postal_code: "SW1A 1-A" }), []);
});

const wrong: Readonly<Record<string, readonly unknown[]>> = {
  card_number: [undefined, "4".repeat(11), "4".repeat(20), 4111111111111111],
  exp_month: [undefined, "1", "012", "1a", 1],
  exp_year: [undefined, "30", "20300", "203x", 2030],
  user_id: [undefined, "", " ", 5],
  billing_address: [undefined, "Berlin", null],
};

for (const [field, values] of Object.entries(wrong)) {
  Deno.test(`checkCardInput() refuses a wrong ${field}, by its name`, () => {
    for (const value of values) {
      assert.deepEqual(fields({ [field]: value }), [field], String(value));
    }
  });
}

const wrongAddress: Readonly<Record<string, readonly unknown[]>> = {
  country: [undefined, "DEU", "de", "XX"],
  postal_code: [undefined, "1", "1".repeat(11), "10.115", "  "],
  city: [
    undefined,
    "B",
    "B".repeat(26),
    "K\u00f6ln",
    "St. Gallen",
    "12345",
    "1 2",
  ],
  street: [
    undefined,
    "S",
    "S".repeat(36),
    "Main St.",
    "\u0423\u043b\u0438\u0446\u0430",
    "12 34",
  ],
  state: ["Berlin", 5],
};

for (const [field, values] of Object.entries(wrongAddress)) {
  Deno.test(`checkCardInput() refuses a wrong billing_address.${field}, by its name`, () => {
    for (const value of values) {
      assert.deepEqual(
        fields({}, { [field]: value }),
        [`billing_address.${field}`],
        String(value),
      );
    }
  });
}

Deno.test("checkCardInput() asks for a state in the USA and Canada only", () => {
  const state = ["billing_address.state"];
  for (
    const [country, right, other] of [["US", "CA", "ON"], ["CA", "ON", "TX"]]
  ) {
    assert.deepEqual(fields({}, { country }), state);
    assert.deepEqual(fields({}, { country, state: right }), []);
    assert.deepEqual(fields({}, { country, state: other }), state);
  }
  assert.deepEqual(fields({}, { country: "MX" }), []);
});

Deno.test("checkCardInput() quotes neither values nor unknown names", () => {
  const number = "4111111111111111";
  const faults = checkCardInput({
    [number]: "x",
    card_number: [number],
    exp_month: number,
    exp_year: number,
    billing_address: { [number]: 1, country: number, state: number },
  } as unknown as CardInput);
  assert.doesNotMatch(JSON.stringify(faults), /4111/);
  assert.ok(faults.some((fault) => fault.field === "card"));
});
