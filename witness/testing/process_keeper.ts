/** Runs a program until standard input says how to end it, or just ends. */
const [program, ...args] = Deno.args;
if (program === undefined) throw new TypeError("Name the program to run");

const child = new Deno.Command(program, {
  args,
  stdin: "null",
  stdout: "null",
  stderr: "null",
}).spawn();

const ended = child.status.then(() => "ended");
const told = new Response(Deno.stdin.readable).text();
const first = await Promise.race([ended, told]);
if (first !== "ended") {
  child.kill(first === "TERM" ? "SIGTERM" : "SIGKILL");
  await child.status;
}
Deno.exit(0);
