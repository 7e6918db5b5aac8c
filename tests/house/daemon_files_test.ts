import assert from "node:assert/strict";
import { isInstalled } from "../kit/is_installed.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";
import { V8_FLAGS } from "../kit/program.ts";
import { unitCommand } from "../kit/unit_command.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const dockerfile = await Deno.readTextFile(`${root}/docs/deploy/Dockerfile`);

/** The words of an instruction in its JSON form. */
function words(instruction: string): readonly string[] {
  const [, json = "[]"] =
    new RegExp(`^${instruction} (\\[(?:.*\\\\\\n)*.*\\])$`, "m")
      .exec(dockerfile) ?? [];
  return JSON.parse(json.replaceAll("\\\n", ""));
}

Deno.test("the image runs the command line of the unit, in places of its own", async () => {
  const expected = (await unitCommand()).map((word) =>
    word.replaceAll("/usr/local/bin/deno", "deno")
      .replaceAll("/opt/rampkit-cache", "/app-cache")
      .replaceAll("/opt/rampkit", "/app")
      .replaceAll("/var/lib/rampkit", "/data")
      .replaceAll("127.0.0.1:8787", "0.0.0.0:8787")
  );
  const port = expected.indexOf("--port");
  assert.deepEqual([...words("ENTRYPOINT"), ...words("CMD")], [
    ...expected.slice(0, port),
    "--host",
    "0.0.0.0",
    ...expected.slice(port),
  ]);
});

/** Lines of a unit that say something. */
async function unitLines(name: string): Promise<readonly string[]> {
  const unit = await Deno.readTextFile(`${root}/docs/deploy/${name}`);
  return unit.split("\n").filter((line) =>
    line !== "" && !line.startsWith("#") && !line.startsWith("Description=")
  );
}

Deno.test("the unit for several accounts is the unit, with variables, port and folder of the account", async () => {
  const expected = (await unitLines("rampkit.service")).map((line) =>
    line.replace("/etc/rampkit/rampkit.env", "/etc/rampkit/%i.env")
      .replaceAll("/var/lib/rampkit", "/var/lib/rampkit/%i")
      .replace("StateDirectory=rampkit", "StateDirectory=rampkit/%i")
      .replace("127.0.0.1:8787", "127.0.0.1:${PORT}")
      .replace("--port 8787", "--port ${PORT}")
  );
  assert.deepEqual(await unitLines("rampkit@.service"), expected);
});

Deno.test("systemd takes both units, where it is installed", async (t) => {
  const installed = await isInstalled("systemd-analyze");
  for (const unit of ["rampkit.service", "rampkit@.service"]) {
    await t.step({
      name: unit,
      ignore: !installed,
      fn: async () => {
        await using folder = await temporaryFolder();
        const text = await Deno.readTextFile(`${root}/docs/deploy/${unit}`);
        const file = `${folder.path}/${unit.replace("@", "@shop")}`;
        // It looks whether the program is there.
        const program = Deno.execPath();
        await Deno.writeTextFile(
          file,
          text.replace("/usr/local/bin/deno", program),
        );
        const { success, stderr } = await new Deno.Command("systemd-analyze", {
          args: ["verify", file],
          stdout: "null",
          stderr: "piped",
        }).output();
        const said = new TextDecoder().decode(stderr);
        assert.equal(said, "");
        assert.ok(success);
      },
    });
  }
});

Deno.test("the image holds every module that the command line loads, no tests, and does not run as root", async () => {
  const copied = [...dockerfile.matchAll(/^COPY (.+) \S+$/gm)]
    .flatMap(([, what = ""]) => what.split(" "))
    .map((path) => path.replace(/\/$/, ""));
  for (const path of copied) await Deno.stat(`${root}/${path}`);
  const loaded = new Set<string>();
  const look = async (file: string): Promise<void> => {
    if (loaded.has(file)) return;
    loaded.add(file);
    const text = await Deno.readTextFile(new URL(`file://${root}/${file}`));
    const names = text.matchAll(
      /(?:from|import\(|new URL\(|^import)\s*"(\.\.?\/[^"]+\.ts)"/gm,
    );
    for (const [, name = ""] of names) {
      const path = new URL(name, `file://${root}/${file}`).pathname;
      await look(path.slice(root.length + 1)).catch((error) => {
        // Examples in comments name files of their own.
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      });
    }
  };
  await look("cli/main.ts");
  assert.ok(loaded.size > 200);
  const missing = [...loaded].map((file) => file.split("/")[0] ?? "")
    .filter((top) => !copied.includes(top));
  // Simulator and benchmark need a checkout, and say so.
  assert.deepEqual([...new Set(missing)].sort(), ["tests", "tools"]);
  const ignored = await Deno.readTextFile(
    `${root}/docs/deploy/Dockerfile.dockerignore`,
  );
  const sent = [...ignored.matchAll(/^!(.+)$/gm)].map(([, path]) => path);
  assert.deepEqual(sent.sort(), copied.sort());
  assert.match(ignored, /^\*$/m);
  assert.match(ignored, /^\*\*\/\*_test\.ts$/m);
  const user = /^USER (.+)$/m.exec(dockerfile)?.[1];
  assert.equal(user, "deno");
  assert.ok(dockerfile.indexOf("\nRUN ") < dockerfile.indexOf("\nUSER "));
});

Deno.test("the unit tells V8 what the task tells it, which bounds the memory of serve", async () => {
  assert.match(V8_FLAGS, /--max-semi-space-size=\d/);
  assert.ok((await unitCommand()).includes(V8_FLAGS));
});

Deno.test("image and README name one version of Deno", async () => {
  const readme = await Deno.readTextFile(`${root}/README.md`);
  const [, version = ""] = /deno@(\d+\.\d+\.\d+)/.exec(readme) ?? [];
  assert.match(dockerfile, new RegExp(`^FROM denoland/deno:${version}$`, "m"));
});
