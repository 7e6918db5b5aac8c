import { messageOf } from "../../core/guards.ts";
import type { Command } from "commander";
import { defined } from "../../core/defined.ts";
import { type Config, readConfig } from "../../settings/config.ts";
import { backupCheck } from "../doctor/backup_check.ts";
import { type Check, check } from "../../resources/health/check.ts";
import { fileChecks } from "../doctor/file_checks.ts";
import {
  deliveryChecks,
  endpointCheck,
} from "../../resources/health/delivery_checks.ts";
import {
  ledgerChecks,
  missingLedgerCheck,
  writeRefusal,
} from "../doctor/ledger_checks.ts";
import { serviceChecks } from "../doctor/service_checks.ts";
import { spoolChecks, waitingChecks } from "../doctor/spool_checks.ts";
import { settingsChecks } from "../doctor/settings_checks.ts";
import { EXIT } from "../../settings/errors.ts";
import { type Io, jsonLine, line } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  serviceOptions,
  settingOption,
  type SharedFlags,
} from "../program/options.ts";
import type { Cli } from "../program/cli.ts";
import { serviceClient } from "../../settings/service.ts";
import { redact } from "../../settings/redact.ts";
import { isStop, stoppable } from "../../settings/stoppable.ts";
import { isStored, openConfigured } from "../program/with_ledger.ts";

/** `doctor`: everything that can be wrong, in one look. */
export function addDoctor(program: Command, cli: Cli): void {
  const command = program.command("doctor").summary(
    "check settings, service, ledger and delivery",
  ).description(
    "check settings, service, ledger, delivery and clock",
  );
  jsonOption(
    settingOption(
      serviceOptions(ledgerOptions(command)),
      "--public-url <url>",
      "public address of the endpoint (RAMPKIT_PUBLIC_URL)",
    ),
    "one object",
  )
    .option(
      "--backup-to <dir>",
      "folder of backups; by default that of the running serve, or one beside the ledger",
    )
    .addHelpText(
      "after",
      "\nExit code 1 when a check fails.\n\nExample:\n  rampkit doctor",
    )
    .action(cli.run(async (flags: DoctorFlags) => {
      const { io } = cli;
      const checks: Check[] = [];
      await stoppable(
        io.signal,
        () => examine(io, flags, checks),
        () => `${checks.length} checks were made, the others were not`,
      );
      const ok = checks.every(({ status }) => status !== "fail");
      // No check holds a secret; this is for messages of libraries.
      const shown = checks.map((one) =>
        defined({
          ...one,
          detail: redact(one.detail, io.env),
          advice: one.advice && redact(one.advice, io.env),
        })
      );
      if (flags.json) jsonLine(io, { ok, checks: shown });
      else print(io, shown);
      return ok ? EXIT.fine : EXIT.failed;
    }));
}

interface DoctorFlags extends SharedFlags {
  readonly backupTo?: string;
}

async function examine(
  io: Io,
  flags: DoctorFlags,
  checks: Check[],
): Promise<void> {
  const config = readConfig(io.env, flags);
  checks.push(...settingsChecks(config));
  const environment = await examineLedger(io, config, checks);
  if (await isStored(config)) {
    const { now } = io;
    checks.push(await backupCheck({ config, directory: flags.backupTo, now }));
  }
  if (config.apiKey === null) {
    checks.push(check("Service", "skip", "It cannot be asked without a key"));
  } else {
    const client = serviceClient(config, environment);
    checks.push(...await serviceChecks(client, io.now, io.signal));
  }
}

/** Gives the environment of the ledger as well. */
async function examineLedger(
  io: Io,
  config: Config,
  checks: Check[],
): Promise<string> {
  const named = config.environment ?? "sandbox";
  checks.push(...await fileChecks(config), ...await spoolChecks(config));
  if (!await isStored(config)) {
    checks.push(
      await missingLedgerCheck(config),
      await endpointCheck(config, io),
    );
    return named;
  }
  try {
    const fileRefusal = await writeRefusal(config);
    await using ledger = await openConfigured(config, io, true);
    checks.push(
      ...await waitingChecks(ledger, io.now()),
      ...await ledgerChecks(ledger, { fileRefusal, signal: io.signal }),
      ...await deliveryChecks(ledger, config, io),
    );
    return ledger.environment;
  } catch (error) {
    if (isStop(error, io.signal)) throw error;
    checks.push(
      check("Ledger", "fail", messageOf(error)),
      await endpointCheck(config, io),
    );
    return named;
  }
}

const SIGN = { ok: "ok  ", warn: "WARN", fail: "FAIL", skip: "-   " } as const;

/** Columns of the sign and of the name, with what parts them. */
const SIGN_WIDTH = 6;
const NAME_WIDTH = 16;

function print(io: Io, checks: readonly Check[]): void {
  // On a narrow terminal the finding goes below its name.
  const narrow = io.columns !== null && io.columns < 60;
  const indent = narrow ? SIGN_WIDTH : SIGN_WIDTH + NAME_WIDTH;
  for (const { name, status, detail, advice } of checks) {
    const head = SIGN[status].padEnd(SIGN_WIDTH);
    if (narrow) {
      line(io, head + name);
      line(io, " ".repeat(indent) + detail);
    } else line(io, head + name.padEnd(NAME_WIDTH) + detail, indent);
    if (advice !== undefined && status !== "ok") {
      line(io, `${" ".repeat(indent)}> ${advice}`, indent + 2);
    }
  }
  const count = (wanted: Check["status"]) =>
    checks.filter(({ status }) => status === wanted).length;
  const parts = [
    [count("fail"), "failed"],
    [count("warn"), "to look at"],
    [count("skip"), "not made"],
  ].filter(([number]) => number !== 0).map((part) => part.join(" "));
  line(io);
  line(
    io,
    parts.length === 0
      ? `All ${checks.length} checks passed`
      : `${checks.length} checks: ${parts.join(", ")}`,
  );
}
