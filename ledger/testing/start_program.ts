/** Starts a program beside this file, or at an address, in a process of its own. */
export function startProgram(
  program: string,
  ...args: readonly string[]
): Deno.ChildProcess {
  return new Deno.Command("deno", {
    args: [
      ...["run", "--no-check", "--no-prompt", "--quiet", "--allow-env"],
      ...["--allow-sys", "--allow-read", "--allow-write"],
      ...[new URL(program, import.meta.url).href, ...args],
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}
