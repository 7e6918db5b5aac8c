import assert from "node:assert/strict";
import { checkUserInput, type UserInput } from "./users.ts";

const ann: UserInput = {
  has_accepted_terms_of_service: true,
  phone: "+15551234567",
  email: "ann.o'neill+tag@example.co.uk",
  first_name: "Ann",
  middle_name: "B2",
  last_name: "ONeill",
  date_of_birth: "1992-02-29",
  country_of_residence: "DEU",
};

function fields(change: object): string[] {
  return checkUserInput({ ...ann, ...change } as UserInput)
    .map((fault) => fault.field);
}

Deno.test("checkUserInput() accepts a user who follows the table", () => {
  assert.deepEqual(fields({}), []);
  assert.deepEqual(fields({ has_accepted_terms_of_service: false }), []);
  assert.deepEqual(
    fields({ country_of_residence: "USA", state_of_residence: "CA" }),
    [],
  );
  assert.deepEqual(fields({ middle_name: undefined }), []);
});

const wrong: Readonly<Record<string, readonly unknown[]>> = {
  has_accepted_terms_of_service: [undefined, "true", 1, null],
  phone: [
    undefined,
    "15551234567",
    "+1 555 1234567",
    "+",
    "+0123",
    "+1234567890123456",
    15551234567,
  ],
  email: [
    undefined,
    "ann",
    "ann@",
    "@example.com",
    "ann@example",
    "a n@example.com",
    "ann@example..com",
  ],
  first_name: [
    undefined,
    "A",
    "A".repeat(31),
    "12",
    "Ann Marie",
    "Jos\u00e9",
    "O'Neill",
    "Anne-Marie",
    "",
  ],
  middle_name: ["B", "B.", "99"],
  last_name: [undefined, "L", "M\u00fcller", "007"],
  date_of_birth: [
    undefined,
    "29/02/1992",
    "1991-02-29",
    "1992-2-9",
    "1992-02-29T00:00:00Z",
    "0000-00-00",
  ],
  country_of_residence: [undefined, "US", "usa", "XXX", "Germany"],
  state_of_residence: ["California", "ca", ""],
};

for (const [field, values] of Object.entries(wrong)) {
  Deno.test(`checkUserInput() refuses a wrong ${field}, by its name`, () => {
    for (const value of values) {
      assert.deepEqual(fields({ [field]: value }), [field], String(value));
    }
  });
}

Deno.test("checkUserInput() takes names of 2 and of 30 characters", () => {
  assert.deepEqual(fields({ first_name: "Al", last_name: "b".repeat(30) }), []);
});

Deno.test("checkUserInput() asks for a state in the USA only, and for a real one", () => {
  const field = ["state_of_residence"];
  assert.deepEqual(fields({ country_of_residence: "USA" }), field);
  assert.deepEqual(
    fields({ country_of_residence: "USA", state_of_residence: "ZZ" }),
    field,
  );
  assert.deepEqual(fields({ country_of_residence: "CAN" }), []);
});

Deno.test("checkUserInput() says every fault at once and quotes no value", () => {
  const faults = checkUserInput({
    phone: "secret-phone",
    email: "secret-mail",
    first_name: "secret-first",
    last_name: "secret-last",
    date_of_birth: "secret-date",
    country_of_residence: "secret-country",
    nickname: "secret-nick",
  } as unknown as UserInput);
  assert.deepEqual(faults.map((fault) => fault.field), [
    "nickname",
    "has_accepted_terms_of_service",
    "phone",
    "email",
    "first_name",
    "last_name",
    "date_of_birth",
    "country_of_residence",
  ]);
  assert.doesNotMatch(JSON.stringify(faults), /secret-/);
});
