import type { Command } from "commander";
import { type Config, readConfig } from "../config.ts";
import { type Check, check } from "../doctor/check.ts";
import { deliveryChecks } from "../doctor/delivery_checks.ts";
import { ledgerChecks } from "../doctor/ledger_checks.ts";
import { serviceChecks } from "../doctor/service_checks.ts";
import { settingsChecks } from "../doctor/settings_checks.ts";
import { EXIT } from "../exit_codes.ts";
import { type Io, jsonLine, line } from "../io.ts";
import { messageOf } from "../logger.ts";
import {
  jsonOption,
  ledgerOptions,
  serviceOptions,
  type SharedFlags,
} from "../options.ts";
import type { Cli } from "../cli.ts";
import { serviceClient } from "../service.ts";
import { openConfigured } from "../with_ledger.ts";

/** `doctor`: everything that can be wrong, in one look. */
export function addDoctor(program: Command, cli: Cli): void {
  const command = program.command("doctor").description(
    "check settings, service, ledger, delivery and clock, in one look",
  );
  jsonOption(serviceOptions(ledgerOptions(command)), "one JSON object")
    .option(
      "--public-url <url>",
      "where the endpoint is reached from outside (RAMPKIT_PUBLIC_URL)",
    )
    .addHelpText(
      "after",
      "\nExit code 1 when a check fails.\n\nExample:\n  rampkit doctor",
    )
    .action(cli.run(async (flags: SharedFlags) => {
      const checks = await examine(cli.io, readConfig(cli.io.env, flags));
      const ok = checks.every(({ status }) => status !== "fail");
      if (flags.json) jsonLine(cli.io, { ok, checks });
      else print(cli.io, checks);
      return ok ? EXIT.fine : EXIT.failed;
    }));
}

async function examine(io: Io, config: Config): Promise<Check[]> {
  const checks = settingsChecks(config);
  let environment = config.environment ?? "sandbox";
  try {
    await using ledger = await openConfigured(config, io);
    if (ledger.environment === "production") environment = "production";
    checks.push(
      ...await ledgerChecks(ledger),
      ...await deliveryChecks(ledger, config, io.now),
    );
  } catch (error) {
    checks.push(check("Ledger", "fail", messageOf(error)));
  }
  if (config.apiKey === null) {
    checks.push(check("Service", "skip", "It cannot be asked without a key"));
  } else {
    const client = serviceClient(config, environment);
    checks.push(...await serviceChecks(client, io.now, io.signal));
  }
  return checks;
}

const SIGN = { ok: "ok  ", warn: "WARN", fail: "FAIL", skip: "-   " } as const;

function print(io: Io, checks: readonly Check[]): void {
  for (const { name, status, detail, advice } of checks) {
    line(io, `${SIGN[status]}  ${name.padEnd(14)} ${detail}`);
    if (advice !== undefined && status !== "ok") {
      line(io, `${" ".repeat(21)}${advice}`);
    }
  }
  const failed = checks.filter(({ status }) => status === "fail").length;
  line(io);
  line(
    io,
    failed === 0
      ? "Nothing is wrong"
      : `${failed} ${failed === 1 ? "check" : "checks"} failed`,
  );
}
