import assert from "node:assert/strict";
import { Columns, type ColumnsOf, flag, json, plain } from "./columns.ts";

interface Lamp {
  readonly name: string;
  readonly isOn: boolean;
  readonly colours: readonly string[];
  readonly room: string | null;
}

const LAMPS: ColumnsOf<Lamp> = {
  name: ["lamp_name", plain()],
  isOn: ["is_on", flag],
  colours: ["colours", json()],
  room: ["room", plain()],
};

Deno.test("Columns reads what it wrote, also behind other columns of a row", () => {
  const lamps = new Columns(LAMPS);
  const lamp = { name: "A", isOn: false, colours: ["red"], room: null };
  const row = lamps.write(lamp);
  assert.deepEqual(row, ["A", 0, '["red"]', null]);
  assert.deepEqual(lamps.read(row), lamp);
  assert.deepEqual(lamps.read([1, 2, ...row, 3], 2), lamp);
  assert.equal(lamps.count, row.length);
  assert.equal(row[lamps.at.colours], '["red"]');
});

Deno.test("Columns.list() names the table, and takes SQL in the place of a column", () => {
  const lamps = new Columns(LAMPS);
  assert.equal(lamps.list(), "lamp_name, is_on, colours, room");
  assert.equal(
    lamps.list("l", { isOn: "1" }),
    "l.lamp_name, 1, l.colours, l.room",
  );
  assert.equal(
    lamps.values,
    "value ->> 0, value ->> 1, value ->> 2, value ->> 3",
  );
});
