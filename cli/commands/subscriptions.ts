import type { Command } from "commander";
import type { Ledger } from "../../ledger/mod.ts";
import type { Cli } from "../cli.ts";
import { CommandError } from "../exit_codes.ts";
import { type Io, jsonLine, line, lines } from "../io.ts";
import { jsonOption, ledgerOptions, type SharedFlags } from "../options.ts";
import { drawTable } from "../table.ts";
import { upToDate, withReadLedger } from "../with_ledger.ts";

/** `subscriptions list | retry | drop | fire`. */
export function addSubscriptions(program: Command, cli: Cli): void {
  const subscriptions = program.command("subscriptions").summary(
    "see to what your handlers were told",
  ).description(
    "what your handlers were told, and what they could not take",
  );
  addList(subscriptions, cli);
  addRetry(subscriptions, cli);
  addDrop(subscriptions, cli);
  addFire(subscriptions, cli);
}

function addList(subscriptions: Command, cli: Cli): void {
  const command = subscriptions.command("list").description(
    "how far each subscription is, and its dead letters",
  );
  jsonOption(ledgerOptions(command), "one object a line")
    .addHelpText("after", "\nExample:\n  rampkit subscriptions list")
    .action(cli.run((flags: SharedFlags) => list(cli.io, flags)));
}

async function list(io: Io, flags: SharedFlags): Promise<void> {
  await withReadLedger(io, flags, async (ledger) => {
    const all = await ledger.subscriptions.list();
    const dead = [];
    for (const { name } of all) {
      for (const letter of await ledger.subscriptions.deadLetters(name)) {
        dead.push({ name, ...letter });
      }
    }
    if (flags.json) {
      for (const one of all) {
        const letters = dead.filter(({ name }) => name === one.name);
        jsonLine(io, { ...one, deadLetters: letters });
      }
      return;
    }
    if (all.length === 0) return line(io, "No subscriptions");
    lines(io, [
      drawTable(
        [
          { title: "Subscription", whole: true },
          { title: "Takes", spare: 1 },
          { title: "Behind", align: "right" },
          { title: "Retrying", align: "right" },
          { title: "Waiting", align: "right" },
          { title: "Dead", align: "right" },
        ],
        all.map((one) => [
          one.name,
          one.on.join(" "),
          ...[one.behind, one.retrying, one.waiting, one.dead].map(String),
        ]),
        io.columns,
      ),
    ]);
    for (const { name, transition, attempts, error } of dead) {
      line(io);
      line(
        io,
        `${name}: ${transition.key} failed ${attempts} times: ${error}`,
        2,
      );
      line(io, "  mend what fails, then: rampkit subscriptions retry " + name);
    }
  });
}

const NAME = "name of the subscription, as `subscriptions list` shows it";

function addRetry(subscriptions: Command, cli: Cli): void {
  const command = subscriptions.command("retry").argument("<name>", NAME)
    .argument("[key]", "only this dead letter; without it all of them")
    .description("have dead letters delivered again");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText("after", "\nExample:\n  rampkit subscriptions retry goods")
    .action(
      cli.run(
        async (name: string, key: string | undefined, flags: SharedFlags) => {
          await withReadLedger(cli.io, flags, async (ledger) => {
            cli.io.signal.throwIfAborted();
            await known(ledger, name);
            const retried = await ledger.subscriptions.retry(name, key);
            if (flags.json) jsonLine(cli.io, { retried });
            else {
              line(
                cli.io,
                `${retried} dead letters will be tried again, by the process ` +
                  "that runs the subscription",
              );
            }
          });
        },
      ),
    );
}

async function known(ledger: Ledger, name: string): Promise<void> {
  const names = (await ledger.subscriptions.list()).map(({ name }) => name);
  if (names.includes(name)) return;
  throw new CommandError(
    `No such subscription: "${name}"; there ` +
      (names.length === 0 ? "is none yet" : `are ${names.join(", ")}`),
  );
}

function addDrop(subscriptions: Command, cli: Cli): void {
  const command = subscriptions.command("drop").argument("<name>", NAME)
    .argument("<key>", "the dead letter to give up")
    .description("give a dead letter up, so that what waits behind it goes on");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit subscriptions drop goods order:01KA:confirmed.success",
    )
    .action(
      cli.run(async (name: string, key: string, flags: SharedFlags) => {
        await withReadLedger(cli.io, flags, async (ledger) => {
          cli.io.signal.throwIfAborted();
          await known(ledger, name);
          const dropped = await ledger.subscriptions.drop(name, key);
          if (flags.json) jsonLine(cli.io, { dropped });
          else line(cli.io, `${dropped} dead letters were given up`);
        });
      }),
    );
}

function addFire(subscriptions: Command, cli: Cli): void {
  const command = subscriptions.command("fire").argument(
    "[keys...]",
    "keys of the states to tell of; without any, lists those never told",
  ).description(
    "tell subscriptions of states that a refold or an import made",
  );
  jsonOption(ledgerOptions(command), "one object a line")
    .option("--imported", "list what an import brought as well")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit subscriptions fire order:01KA:confirmed.success",
    )
    .action(
      cli.run(
        async (keys: string[], flags: SharedFlags & { imported?: boolean }) => {
          await withReadLedger(cli.io, flags, async (ledger) => {
            await upToDate(ledger, cli.io);
            if (keys.length > 0) {
              cli.io.signal.throwIfAborted();
              const fired = await ledger.subscriptions.fire(keys);
              if (flags.json) jsonLine(cli.io, { fired });
              else {
                line(
                  cli.io,
                  `${fired} states will be told, by the process that runs ` +
                    "the subscription",
                );
                const others = keys.length - fired;
                if (others > 0) {
                  line(
                    cli.io,
                    `${others} were told before, or are no state of this ` +
                      "ledger; those never told: rampkit subscriptions fire",
                  );
                }
              }
              return;
            }
            const unfired = await ledger.subscriptions.unfired({
              imported: flags.imported ?? false,
            });
            for (const one of unfired) {
              if (flags.json) jsonLine(cli.io, one);
              else line(cli.io, one.key);
            }
            if (!flags.json && unfired.length === 0) {
              line(cli.io, "Every state was told");
            }
          });
        },
      ),
    );
}
