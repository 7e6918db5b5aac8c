import assert from "node:assert/strict";
import type { Io } from "./io.ts";
import { openOutput } from "./output.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";

const TEXT = "line\n".repeat(40_000);

function memoryIo(): Io & { readonly text: () => string } {
  let text = "";
  return {
    out: (part) => text += part,
    err: () => {},
    env: () => undefined,
    columns: null,
    colour: false,
    now: () => 0,
    signal: new AbortController().signal,
    text: () => text,
  };
}

async function inFolder(work: (file: string) => void): Promise<string[]> {
  await using folder = await temporaryFolder();
  work(`${folder.path}/out.csv`);
  return [...Deno.readDirSync(folder.path)].map(({ name }) => name);
}

Deno.test("openOutput() gives a file its name only when it is whole", async () => {
  const names = await inFolder((file) => {
    using output = openOutput(memoryIo(), file);
    output.write(TEXT);
    assert.throws(() => Deno.statSync(file), Deno.errors.NotFound);
    output.finish();
    assert.equal(Deno.readTextFileSync(file), TEXT);
  });
  assert.deepEqual(names, ["out.csv"]);
});

Deno.test("openOutput() leaves what was there when the work fails, and nothing else", async () => {
  const names = await inFolder((file) => {
    Deno.writeTextFileSync(file, "of yesterday");
    assert.throws(() => {
      using output = openOutput(memoryIo(), file);
      output.write(TEXT);
      throw new Error("the disk is on fire");
    });
    assert.equal(Deno.readTextFileSync(file), "of yesterday");
  });
  assert.deepEqual(names, ["out.csv"]);
});

Deno.test("openOutput() leaves nothing beside a folder of that name", async () => {
  const names = await inFolder((file) => {
    Deno.mkdirSync(file);
    assert.throws(() => {
      using output = openOutput(memoryIo(), file);
      output.write(TEXT);
      output.finish();
    }, /^CommandError: Cannot write .*out\.csv: /);
  });
  assert.deepEqual(names, ["out.csv"]);
});

Deno.test("openOutput() marks standard output that was begun and is not whole", () => {
  for (
    const [finish, text, expected] of [
      [true, "a\n", "a\n"],
      [false, "a\n", "a\nNOT WHOLE\n"],
      [false, null, ""],
    ] as const
  ) {
    const io = memoryIo();
    {
      using output = openOutput(io, undefined, () => "NOT WHOLE");
      if (text !== null) output.write(text);
      if (finish) output.finish();
    }
    assert.equal(io.text(), expected);
  }
});

Deno.test("openOutput() names a file that cannot be written", () => {
  assert.throws(
    () => openOutput(memoryIo(), "/nonexistent/out.csv"),
    /^CommandError: Cannot write \/nonexistent\/out\.csv: /,
  );
});

Deno.test("openOutput() lets only its owner read the file, whatever was left there", async () => {
  await inFolder((file) => {
    Deno.writeTextFileSync(`${file}.partial`, "left", { mode: 0o644 });
    using output = openOutput(memoryIo(), file);
    output.write(TEXT);
    output.finish();
    assert.equal((Deno.statSync(file).mode ?? 0) & 0o777, 0o600);
  });
});
