import assert from "node:assert/strict";
import type { Command } from "commander";
import { everyCommand } from "../kit/commands.ts";
import { OPERATIONS } from "../../resources/operations/mod.ts";
import { paramsOf } from "../../resources/operations/operation.ts";
import { API_ROUTES } from "../../server/api/api_app.ts";

/**
 * Commands that do nothing to a ledger that exists and ask nothing of one alone,
 * each with what it is instead.
 */
const NO_OPERATIONS: Readonly<Record<string, string>> = {
  serve: "runs the service",
  console: "runs the pages",
  sandbox: "runs a simulation of the service",
  listen: "runs sandbox and endpoint together",
  trigger: "asks a running sandbox",
  demo: "makes a ledger of its own",
  sim: "makes ledgers of its own",
  bench: "makes ledgers of its own",
  conform: "asks the service about itself",
  doctor: "looks at settings, network and disk; the ledger may be missing",
  machine: "prints the tables of this version",
  schema: "prints the schemas of this version",
  assets: "prints the assets of this version",
  "webhook send": "asks an endpoint",
  "webhook parse": "reads a file, and opens no ledger",
  complete: "prints a script for a shell",
};

/** Every command that does something, as a person writes it. */
function leaves(command: Command, path: readonly string[] = []): string[] {
  const below = command.commands;
  return below.length === 0
    ? [path.join(" ")]
    : below.flatMap((one) => leaves(one, [...path, one.name()]));
}

Deno.test("every command has its row among the operations, or does nothing to a ledger", () => {
  const rows = OPERATIONS.flatMap(({ command }) => command ?? []);
  assert.deepEqual(
    leaves(everyCommand()).toSorted(),
    [...new Set([...rows, ...Object.keys(NO_OPERATIONS)])].toSorted(),
  );
  assert.deepEqual(rows.filter((one) => Object.hasOwn(NO_OPERATIONS, one)), []);
});

Deno.test("every flag and operand of an operation's command comes from its row, or from what all commands have", () => {
  const everywhere = ["json", "databaseUrl", "environment", "yes"];
  const asking = ["baseUrl", "rate"];
  const walk = (command: Command, path: readonly string[] = []): void => {
    for (const one of command.commands) walk(one, [...path, one.name()]);
    const rows = OPERATIONS.filter(({ command }) => command === path.join(" "));
    if (rows.length === 0) return;
    const params = rows.flatMap((row) => Object.entries(paramsOf(row)));
    const flags = params.flatMap(([name, { flag, words }]) =>
      words === undefined
        ? [
          (flag ?? name).replaceAll(/-[a-z]/g, (one) =>
            one.slice(1).toUpperCase()),
        ]
        : Object.keys(words)
    );
    const known = [
      ...everywhere,
      ...flags,
      ...(rows.some(({ asks }) => asks !== undefined) ? asking : []),
      ...(rows.some(({ result }) => typeof result.many === "object")
        ? ["limit"]
        : []),
    ];
    const unknown = command.options.map((option) => option.attributeName())
      .filter((name) => !known.includes(name));
    assert.deepEqual(unknown, [], path.join(" "));
    const places = params.flatMap(([, { place = [] }]) => place);
    assert.ok(
      command.registeredArguments.length <= places.length,
      path.join(" "),
    );
  };
  walk(everyCommand());
});

Deno.test("every route of the API is made of a row, and no two of one", () => {
  const ids = OPERATIONS.flatMap(({ path, operationId }) =>
    path === null ? [] : [operationId]
  );
  assert.deepEqual(API_ROUTES.map(({ operationId }) => operationId), ids);
  assert.deepEqual([...new Set(ids)], ids);
  const places = API_ROUTES.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual([...new Set(places)], places);
});

Deno.test("an operation that has no command or no path says why, and one that has them does not", () => {
  for (const row of OPERATIONS) {
    const { operationId, command, onlyRequest, path, onlyCommand } = row;
    assert.equal(command === null, onlyRequest !== undefined, operationId);
    assert.equal(path === null, onlyCommand !== undefined, operationId);
    assert.ok(command !== null || path !== null, operationId);
    for (const why of [onlyRequest, onlyCommand]) {
      if (why !== undefined) assert.match(why, /^[A-Z`].{15,}\.$/, operationId);
    }
  }
  const ids = OPERATIONS.map(({ operationId }) => operationId);
  assert.deepEqual([...new Set(ids)], ids);
});

Deno.test("an operation that needs files or a file's lock has no path", () => {
  for (const { operationId, path, params, holds, opens } of OPERATIONS) {
    const names = Object.keys(params).filter((name) =>
      Object.hasOwn(params[name] ?? {}, "isFile")
    );
    if (path === null) continue;
    assert.deepEqual(names, [], operationId);
    assert.equal(holds, undefined, operationId);
    assert.notEqual(opens, "closed", operationId);
  }
});
