/**
 * Publishes this checkout into a registry on loopback and uses it from a fresh
 * project, once with the registry and once frozen without it:
 * `deno task publish:run [VERSION...]`, each the version of a Deno from npm.
 *
 * @module
 */
import { messageOf } from "../../core/guards.ts";
import { freshProject, publish } from "./fresh_project.ts";
import { openRegistry } from "./registry.ts";
import { STEPS } from "./try_out.ts";

const ROUNDS = [
  { name: "with the registry", flags: [] },
  { name: "frozen, without it", flags: ["--frozen", "--cached-only"] },
];

let failed = 0;
for (const version of Deno.args.length > 0 ? Deno.args : [Deno.version.deno]) {
  console.log(`Deno ${version}`);
  await using registry = openRegistry();
  const { code, err } = await publish(registry);
  if (code !== 0) throw new Error(err);
  await using project = await freshProject(registry, {
    deno: await programOf(version),
    warm: version === Deno.version.deno,
  });
  for (const { name, flags } of ROUNDS) {
    if (flags.length > 0) await registry.close();
    for (const step of STEPS) {
      const problem = await step.run(project, flags).then(
        () => null,
        messageOf,
      );
      if (problem !== null) failed++;
      console.log(
        `  ${problem === null ? "ok    " : "FAILED"} ${step.name}, ${name}`,
      );
      if (problem !== null) console.log(problem);
    }
  }
}
Deno.exit(failed === 0 ? 0 : 1);

/** Path of that version's executable. */
async function programOf(version: string): Promise<string> {
  if (version === Deno.version.deno) return Deno.execPath();
  const { stdout } = await new Deno.Command("npx", {
    args: [
      ...["-y", "-p", `deno@${version}`, "deno"],
      ...["eval", "console.log(Deno.execPath())"],
    ],
  }).output();
  return new TextDecoder().decode(stdout).trim();
}
