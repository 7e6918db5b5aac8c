import { messageOf } from "../../core/guards.ts";
import { matcher } from "../../ledger/for_server.ts";
import type { TransitionPattern } from "../../ledger/mod.ts";
import { VARIABLES } from "../../settings/variables.ts";
import { UsageError } from "../../settings/errors.ts";
import { readForwardSecrets } from "./signed_webhook.ts";
import { readTargetUrl, targetName } from "./target_address.ts";

/** Where transitions are sent, and which. */
export interface Target {
  /** Name of its subscription: a restart goes on where it was. */
  readonly name: string;
  /** Where it is sent. */
  readonly url: URL;
  /** What it is sent. */
  readonly on: readonly TransitionPattern[];
}

/** Targets, and what is sent to them is signed with. */
export interface Forwarding {
  readonly targets: readonly Target[];
  readonly secrets: readonly string[];
}

/**
 * Reads where to forward to, from flags or, without any, from the variable.
 *
 * @param flags One target each: an address, and patterns after it.
 * @param env Reads a variable.
 * @returns Undefined when nothing is forwarded.
 * @throws {UsageError} When a target, a pattern or a secret is wrong or missing.
 */
export function readForwarding(
  flags: readonly string[],
  env: (name: string) => string | undefined,
): Forwarding | undefined {
  const variable = env(VARIABLES.forwardTo)?.trim() ?? "";
  const texts = flags.length > 0 ? flags : split(variable);
  if (texts.length === 0) return undefined;
  const setting = flags.length > 0 ? "--forward-to" : VARIABLES.forwardTo;
  const targets = texts.map((text) => usage(() => readTarget(text, setting)));
  for (const [at, { name }] of targets.entries()) {
    if (targets.findIndex((one) => one.name === name) === at) continue;
    throw new UsageError(
      `Wrong ${setting}: ${name.slice(PREFIX.length)} is named twice; write ` +
        "its patterns behind one address",
    );
  }
  const secrets = usage(() =>
    readForwardSecrets(
      env(VARIABLES.forwardSecrets) ?? "",
      VARIABLES.forwardSecrets,
    )
  );
  if (secrets.length > 0) return { targets, secrets };
  throw new UsageError(
    "Missing setting: the secret that forwarded webhooks are signed with is " +
      `not known; set ${VARIABLES.forwardSecrets} (a fresh one: ` +
      'echo "whsec_$(openssl rand -base64 32)")',
  );
}

/** What names of targets begin with. */
const PREFIX = "forward:";

/** Targets are separated by commas or lines; a pattern holds neither. */
function split(text: string): string[] {
  return text.split(/[,\n]\s*(?=https?:)/i).map((one) =>
    one.replace(/,\s*$/, "").trim()
  ).filter((one) => one !== "");
}

function readTarget(text: string, setting: string): Target {
  const [address = "", ...patterns] = text.trim().split(/\s+/);
  const url = readTargetUrl(address, setting);
  const on = (patterns.length === 0 ? ["*"] : patterns) as TransitionPattern[];
  try {
    matcher(on);
  } catch (error) {
    // What it says of unlisted() is for programs.
    const [why = ""] = messageOf(error).split("; a status that");
    throw new UsageError(
      `Wrong ${setting}: ${why}; "order.confirmed.*" takes any status`,
    );
  }
  return { name: `${PREFIX}${targetName(url)}`, url, on };
}

function usage<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}
